"""A tree of hidden states, one behind each column."""
