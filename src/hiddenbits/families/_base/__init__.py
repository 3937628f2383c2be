"""What all estimators share, and nothing of any family."""
