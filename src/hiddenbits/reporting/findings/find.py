"""`find`: everything that a report says first."""

from __future__ import annotations

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.finding import Findings
from hiddenbits.reporting.findings.opening import about_picture, about_table


def find(context: Context) -> Findings:
    """Return the findings of a table."""
    table, numbers = about_table(context)
    picture, more = about_picture(context)
    return Findings(table, picture, numbers=numbers | more)
