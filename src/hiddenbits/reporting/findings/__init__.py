"""The findings of a report, in sentences for a reader who knows no statistics.

`find` summarizes the table, the model that fits and how certain that is, and returns up to six findings, each with its
numbers and a small drawing. It names an effect only if it rests on enough rows and exceeds two standard errors
(`effects.py`). It describes classes only if the chosen model has classes, and dimensions only if it has dimensions.
"""

from hiddenbits.reporting.findings.find import find
from hiddenbits.reporting.findings.finding import Finding, Findings

__all__ = ["Finding", "Findings", "find"]
