"""Tables as people have them: what each column is taken for, how its values become bits, and what the user said."""

from hiddenbits.data.coding.choices import Choices
from hiddenbits.data.coding.coded_columns import Coding
from hiddenbits.data.columns.open import open_cells
from hiddenbits.exceptions import AmbiguousColumnsError

__all__ = ["AmbiguousColumnsError", "Choices", "Coding", "open_cells"]
