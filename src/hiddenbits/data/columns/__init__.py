"""Tables as people have them: what each column is taken for, how its values become bits, and what the user said."""

from hiddenbits.data.columns.open import open_raw_columns

__all__ = ["open_raw_columns"]
