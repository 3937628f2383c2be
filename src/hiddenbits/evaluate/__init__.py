"""Measures of a fitted model, with standard errors: likelihood, bits per cell, errors, code length, held-out cells.

`compare` chooses the family that fits a table best, `select` the size of one family. `describe` summarizes a table
without a model; `count_patterns` and `pattern_entropy` count distinct rows.
"""

from hiddenbits.evaluate.catalog import Family, known_families
from hiddenbits.evaluate.compare import compare
from hiddenbits.evaluate.comparison import Comparison, ComparisonEntry, TriedSize
from hiddenbits.evaluate.held_out_cells import Calibration, held_out_cells
from hiddenbits.evaluate.measures import Estimate, bits_per_cell, code_length, leave_one_out_error, mean_log_likelihood
from hiddenbits.evaluate.patterns import count_patterns, pattern_entropy
from hiddenbits.evaluate.select import ClassesFit, Selection, select
from hiddenbits.evaluate.table_description import TableDescription, describe

__all__ = [
    "Calibration",
    "ClassesFit",
    "Comparison",
    "ComparisonEntry",
    "Estimate",
    "Family",
    "Selection",
    "TableDescription",
    "TriedSize",
    "bits_per_cell",
    "code_length",
    "compare",
    "count_patterns",
    "describe",
    "held_out_cells",
    "known_families",
    "leave_one_out_error",
    "mean_log_likelihood",
    "pattern_entropy",
    "select",
]
