"""How good a fitted model is: likelihood, bits per cell, errors, code length, hidden cells, with standard errors."""

from hiddenbits.evaluate.cells import hidden_cells
from hiddenbits.evaluate.figures import Figure
from hiddenbits.evaluate.measures import bits_per_cell, code_length, mean_log_likelihood, single_bit_error

__all__ = ["Figure", "bits_per_cell", "code_length", "hidden_cells", "mean_log_likelihood", "single_bit_error"]
