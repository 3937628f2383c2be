"""Tables whose columns are of several kinds: bits, real numbers, categories."""
