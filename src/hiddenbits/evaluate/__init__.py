"""Measures of a fitted model, with standard errors: likelihood, bits per cell, errors, code length, hidden cells.

`compare` finds the family that fits a table best, `select` the size of one family. `look` summarizes a table before any
model; `count_patterns` and `pattern_entropy` concern the number of distinct rows.
"""

from hiddenbits.evaluate.catalogue import Family, known_families
from hiddenbits.evaluate.compare import compare
from hiddenbits.evaluate.comparison import Comparison, Entry, Tried
from hiddenbits.evaluate.describe import Look, look
from hiddenbits.evaluate.hidden_cells import Calibration, hidden_cells
from hiddenbits.evaluate.measures import Figure, bits_per_cell, code_length, mean_log_likelihood, single_bit_error
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
