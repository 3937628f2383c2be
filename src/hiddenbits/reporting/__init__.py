"""A report about a table: its findings, and a page that works offline (``pip install 'hiddenbits[report]'``)."""

from hiddenbits.reporting.entry import report as report
from hiddenbits.reporting.result import Report

__all__ = ["Report"]
