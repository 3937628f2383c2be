"""Mathematics that several families share. It knows no model and no engine."""
