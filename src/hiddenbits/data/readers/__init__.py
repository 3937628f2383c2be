"""Files as tables: a reader for each format. `hiddenbits.data.openers` finds the files and lists the readers.

Whatever is wrong with a file ends in one `TableError` that names the file, the place and the remedy.
"""

from hiddenbits.data.readers.items import DuplicateItemsWarning
from hiddenbits.data.readers.text.dialect import FoundDialectWarning

__all__ = ["DuplicateItemsWarning", "FoundDialectWarning"]
