"""How good a fitted model is: likelihood, bits per cell, errors, code length, hidden cells, with standard errors.

Which family fits a table (`compare`) and how large it should be (`select`). What is in a table before any model
(`look`), and how many different rows there are, and can be.
"""

from hiddenbits.evaluate.calibration import Calibration
from hiddenbits.evaluate.catalogue import Family, known_families
from hiddenbits.evaluate.compare import compare
from hiddenbits.evaluate.comparison import Comparison, Entry, Tried
from hiddenbits.evaluate.describe import Look, look
from hiddenbits.evaluate.estimates import Figure
from hiddenbits.evaluate.hidden_cells import hidden_cells
from hiddenbits.evaluate.measures import bits_per_cell, code_length, mean_log_likelihood, single_bit_error
from hiddenbits.evaluate.patterns import count_patterns, pattern_entropy
from hiddenbits.evaluate.select import Selection, select

__all__ = [
    "Calibration",
    "Comparison",
    "Entry",
    "Family",
    "Figure",
    "Look",
    "Selection",
    "Tried",
    "bits_per_cell",
    "code_length",
    "compare",
    "count_patterns",
    "hidden_cells",
    "known_families",
    "look",
    "mean_log_likelihood",
    "pattern_entropy",
    "select",
    "single_bit_error",
]
