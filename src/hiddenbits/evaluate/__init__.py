"""How good a fitted model is: likelihood, bits per cell, errors, code length, hidden cells, with standard errors.

And how many different rows there are, and can be.
"""

from hiddenbits.evaluate.cells import hidden_cells
from hiddenbits.evaluate.figures import Figure
from hiddenbits.evaluate.measures import bits_per_cell, code_length, mean_log_likelihood, single_bit_error
from hiddenbits.evaluate.patterns import count_patterns, pattern_entropy

__all__ = [
    "Figure",
    "bits_per_cell",
    "code_length",
    "count_patterns",
    "hidden_cells",
    "mean_log_likelihood",
    "pattern_entropy",
    "single_bit_error",
]
