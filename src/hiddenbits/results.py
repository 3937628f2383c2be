"""Types that functions and methods return; users seldom create them."""

from hiddenbits.display import Summary
from hiddenbits.families.tetrachoric import TetrachoricCorrelations
from hiddenbits.families.topographic_map.estimator import PositionSummary
from hiddenbits.maths.rotation import RotatedLoadings
from hiddenbits.reporting import Report

__all__ = ["PositionSummary", "Report", "RotatedLoadings", "Summary", "TetrachoricCorrelations"]
