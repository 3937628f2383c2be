"""The findings of a report: what was found, in sentences for a reader who knows no statistics.

`find` says what the table is, which model fits and how sure that is, and up to six findings, each with its numbers and
a small drawing. It names an effect only if it rests on enough rows and lies outside two standard errors
(`effects.py`), and only what the chosen model supports: kinds of rows if kinds won, directions if scales did.
"""

from hiddenbits.reporting.findings.find import find
from hiddenbits.reporting.findings.finding import Finding, Findings

__all__ = ["Finding", "Findings", "find"]
