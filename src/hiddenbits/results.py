"""Types of what functions and methods return; users seldom make them."""

from hiddenbits.families.tetrachoric import TetrachoricCorrelations
from hiddenbits.families.topographic_map.estimator import PositionSummary
from hiddenbits.maths.rotation import RotatedLoadings
from hiddenbits.reporting import Report
from hiddenbits.shown import Summary

__all__ = ["PositionSummary", "Report", "RotatedLoadings", "Summary", "TetrachoricCorrelations"]
