"""Where files are written: what cannot be written to is known beforehand, full disks are named, leftovers go."""

import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import pytest

from hiddenbits.exceptions import FileError
from hiddenbits.store import check_target, whole_file, whole_folder
from hiddenbits.store.files import LOCKS

pytestmark = pytest.mark.core
posix = pytest.mark.skipif(not LOCKS, reason="the system has no locks that end with a process")


def run(code, *words, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, words)],
        capture_output=True, text=True, timeout=120, check=False, **options,
    )  # fmt: skip


# What cannot be written to ---------------------------------------------------------------------------------------


def test_targets_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "to nowhere").symlink_to(tmp_path / "no" / "file")
    for name in ("new", "file", "folder/new"):
        check_target(tmp_path / name)
    for name, error, why in [
        ("no/new", FileNotFoundError, "there is no folder .*no. Create it first"),
        ("to nowhere", FileNotFoundError, "there is no folder"),
        ("file/new", FileError, "is not a folder"),
        ("folder", FileError, "it is a folder"),
        ("nul\0l", FileError, "check the path"),
    ]:
        for act in (check_target, lambda path: whole_file(path).__enter__()):
            with pytest.raises(error, match=why) as caught:
                act(tmp_path / name)
            assert name.split("/")[0].replace("\0", r"\x00") in str(caught.value)
    with pytest.raises(FileError, match="not a regular file"):
        check_target(os.devnull)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "to nowhere"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="the system has other permissions")
def test_folders_that_are_read_only(tmp_path, monkeypatch):
    if os.geteuid() == 0:  # who may write anywhere
        monkeypatch.setattr(os, "access", lambda *_: False)
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="the folder cannot be written to"):
        check_target(tmp_path / "new")


# Full disks ------------------------------------------------------------------------------------------------------

WRITES = """
    import sys
    from pathlib import Path
    import numpy as np
    from hiddenbits.store import whole_file, write
    from hiddenbits.exceptions import FileError
    folder = Path(sys.argv[1])

    def plainly():
        with whole_file(folder / "plain.csv") as file:
            for _ in range(100):
                file.write(bytes(10000))

    def as_results():
        from hiddenbits import IndependentColumns
        from hiddenbits.tables import write_results
        X = np.random.default_rng(0).integers(0, 2, (30000, 24))
        write_results(IndependentColumns().fit(X[:100]), "score_samples", X, folder / "big")

    acts = {
        "plain.csv": plainly,
        "store.hb": lambda: write(folder / "store.hb", "test", {}, {"a": np.zeros(10**5)}),
        "big/rows0000000000000.parquet": as_results,
    }
    for name in sys.argv[2:]:
        try:
            acts[name]()
        except FileError as error:
            assert name in str(error) and ".unfinished" not in str(error), error
            print(error)
        else:
            raise AssertionError(name)
    assert not list(folder.iterdir()), list(folder.iterdir())
"""


@posix
def test_a_limit_on_files_is_named(tmp_path):
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))\n"
    files = ["plain.csv", "store.hb", *(["big/rows0000000000000.parquet"] if find_spec("pyarrow") else [])]
    done = run(limited + textwrap.dedent(WRITES), tmp_path, *files)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("File too large") == len(files)


def test_errors_about_something_else_pass(tmp_path):
    for error in (OSError(28, "No space left on device", "another"), OSError("nothing of ours"), KeyError("x")):
        with pytest.raises(type(error)) as caught, whole_file(tmp_path / "x"):
            raise error
        assert caught.value is error
    assert not list(tmp_path.iterdir())


# Leftovers -------------------------------------------------------------------------------------------------------

KILLED = """
    import os, signal, sys
    from pathlib import Path
    from hiddenbits.store import whole_file, whole_folder
    with whole_file(sys.argv[1]) as file, whole_folder(Path(sys.argv[2])) as folder:
        file.write(b"half")
        file.flush()
        (folder / "part").write_text("half")
        with whole_file(folder / "more") as more:
            os.kill(os.getpid(), signal.SIGKILL)
"""


def kinds(folder):
    """Return the names in a folder, those of temporary files and folders by their kind alone."""
    return sorted("." + path.name.rpartition(".")[2] if path.name[0] == "." else path.name for path in folder.iterdir())


@posix
def test_leftovers_of_a_killed_process_are_removed(tmp_path):
    done = run(KILLED, tmp_path / "x.hb", tmp_path / "results")
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert kinds(tmp_path) == [".tmp", ".tmp", ".unfinished"]
    mine = {"notes.tmp", ".hiddenbits.tmp", ".hiddenbits-notes"}  # not ours, whatever they are called
    for name in mine | {".hiddenbits-0badc0de-0123456789abcdef.tmp"}:  # the last of another machine
        (tmp_path / name).write_text("keep")
    with whole_file(tmp_path / "x.hb") as file:
        file.write(b"whole")
    assert (tmp_path / "x.hb").read_bytes() == b"whole"
    with whole_folder(tmp_path / "results") as folder:
        (folder / "part").write_text("whole")
    assert {path.name for path in (tmp_path / "results").iterdir()} == {"part"}
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"x.hb", "results", ".hiddenbits-0badc0de-0123456789abcdef.tmp", *mine}


@posix
def test_the_living_are_left_alone(tmp_path):
    with whole_file(tmp_path / "x.hb") as slow, whole_folder(tmp_path / "results") as folder:
        with whole_file(folder / "part") as part:
            for _ in range(2):
                code = """
                    import sys
                    from pathlib import Path
                    from hiddenbits.store import whole_file, whole_folder
                    with whole_file(sys.argv[1] + "/y.hb") as file:
                        file.write(b"other")
                    with whole_folder(Path(sys.argv[1]) / "results") as folder:
                        pass
                    (Path(sys.argv[1]) / "results").rmdir()
                """
                done = run(code, tmp_path)
                assert done.returncode == 0, done.stderr
            part.write(b"part")
        slow.write(b"slow")
    assert (tmp_path / "x.hb").read_bytes() == b"slow"
    assert (tmp_path / "results" / "part").read_bytes() == b"part"
    assert kinds(tmp_path) == ["results", "x.hb", "y.hb"]


def test_many_writers_in_one_folder(tmp_path):
    """Nobody takes the file of another for a leftover, at whatever moment it looks."""

    def write(number):
        for again in range(25):
            with whole_file(tmp_path / f"{number % 4}") as file:
                file.write(b"%d.%d" % (number, again))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2", "3"]
