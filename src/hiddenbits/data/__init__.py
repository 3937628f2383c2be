"""What a table of bits is: `Table`, `Block`, the algebra of `Bits`, readers and checks."""

from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Packed, Pattern
from hiddenbits.data.block import Block, Part
from hiddenbits.data.collapse import collapse
from hiddenbits.data.declared import Arrays
from hiddenbits.data.errors import TableError
from hiddenbits.data.open import open_table
from hiddenbits.data.table import Grid, MemorySource, Source, Table, memory_table

__all__ = [
    "AllOnes",
    "Arrays",
    "Bits",
    "Block",
    "Complement",
    "Dense",
    "Grid",
    "MemorySource",
    "Packed",
    "Part",
    "Pattern",
    "Source",
    "Table",
    "TableError",
    "collapse",
    "memory_table",
    "open_table",
]
