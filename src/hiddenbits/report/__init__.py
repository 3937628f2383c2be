"""A report of a table as one HTML file that opens offline (``pip install 'hiddenbits[report]'``)."""

from hiddenbits.report.write import write

__all__ = ["write"]
