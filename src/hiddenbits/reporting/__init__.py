"""A report about a table as one HTML file that works offline (``pip install 'hiddenbits[report]'``)."""

from hiddenbits.reporting.write import write

__all__ = ["write"]
