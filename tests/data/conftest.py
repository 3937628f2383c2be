"""Files in every format, and a server of them on loopback."""

import pytest

from tests.data import tables
from tests.data.locations.remote_tables import write_files
from tests.data.locations.servers import FileServer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of the files."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def cases(folder):
    """What is in the folder: {name or pattern: (options, what it holds)}."""
    return write_files(folder)


@pytest.fixture
def contents(folder, cases):
    """The bytes of all files, by the paths under which servers have them."""
    return {f"t/{path.name}": path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def server(contents):
    """A server of the files."""
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    with FileServer(contents) as server:
        yield server


@pytest.fixture(autouse=True, scope="session")
def all_ranges(request):
    """With --full every table is read in more runs of rows."""
    if request.config.getoption("--full"):
        tables.RANGES = 25
