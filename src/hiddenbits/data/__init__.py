"""Tables of bits, and how they are opened: from named columns, an array of rows, or a list of items.

`open_table` (open.py) creates a Request; the first of `OPENERS` (openers.py) that accepts the data opens it: a function
of `named/`, `arrays/` or `items/` returns a `Table` over a `Source`. `Table.grid` cuts it into parts and blocks, as a
fit needs them: `Grid.load` reads the rows of a part, and `Part.blocks` (block.py) cuts them.
"""

from hiddenbits.data.bits import AllOnes, Bits, Complement, Dense, Packed, Pattern
from hiddenbits.data.block import Block, Part
from hiddenbits.data.collapse import collapse
from hiddenbits.data.declared import Arrays
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
    "collapse",
    "memory_table",
    "open_table",
]
