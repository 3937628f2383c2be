"""How values of columns become bits, and back: what the user said, what was decided, what 1 means."""
