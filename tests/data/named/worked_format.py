"""How a format is added: ORC files, as Spark and Hive write them. This is all of it, but for its line in `FORMATS`.

pyarrow decodes the files into an Arrow table, and `open_frame` does the rest: a look at the columns, what the user said
of them, rows of bits. The keyword arguments of the function become options of `open_table`.
"""

from typing import Any

from hiddenbits.data.cell_checks import MAX_BYTES
from hiddenbits.data.file_request import FileRequest, naming, reading
from hiddenbits.data.locations.places import open_file
from hiddenbits.data.named.frames import open_frame
from hiddenbits.data.openers import Format
from hiddenbits.data.table import Table
from hiddenbits.exceptions import TableError

ORC = Format("orc", (".orc",), "named.worked_format:open_orc")  # its line in `FORMATS`, if it lay in data/named


def open_orc(request: FileRequest, *, max_bytes: int = MAX_BYTES) -> Table:
    """Open ``.orc`` files, one below the other."""
    import pyarrow as pa  # here, not above: whoever reads no such file may not have it
    from pyarrow import orc

    tables: list[Any] = []
    for path in request.files:  # paths, or files at an address
        with reading(path), open_file(path) as file:  # whatever is wrong becomes a TableError that names the file
            table = orc.read_table(pa.PythonFile(file, mode="r"))
            if sum(one.nbytes for one in tables) + table.nbytes > max_bytes:
                raise TableError(f"the table takes more than max_bytes={max_bytes}. Write it as Parquet.")
            tables.append(table)
    with naming(request.files[0]):
        return open_frame(pa.concat_tables(tables), request, from_file=True)
