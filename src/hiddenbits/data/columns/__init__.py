"""Tables with named columns: the type of each column, how its values become bits, and the options of the user."""

from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.data.columns.open import open_cells

__all__ = ["Choices", "Coding", "open_cells"]
