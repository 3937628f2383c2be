"""The types of columns: which bits they have, and what is special about each type."""
