"""How values of columns become bits, and back: the user's options, the coding of a table, the meaning of 1."""
