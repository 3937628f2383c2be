"""How good a fitted model is: likelihood, bits per cell, single-bit error, code length, with standard errors."""

from hiddenbits.evaluate.figures import Figure
from hiddenbits.evaluate.measures import bits_per_cell, code_length, mean_log_likelihood, single_bit_error

__all__ = ["Figure", "bits_per_cell", "code_length", "mean_log_likelihood", "single_bit_error"]
