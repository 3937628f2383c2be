"""A folder of files that appears when all of them are complete, or not at all."""

from __future__ import annotations

import contextlib
import glob
import shutil
from collections.abc import Iterator
from pathlib import Path

from hiddenbits.store.files import PREFIX, SUFFIX, make_folder, open_temporary, owner_is_dead, writing

UNFINISHED = ".unfinished"


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to write files to, which is renamed to `folder` at the end.

    It is removed if anything fails; unfinished folders of the same name whose process was killed are removed first. The
    lock on a temporary file next to it shows whether its process is alive.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hiddenbits.store import whole_folder
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with whole_folder(Path(parent) / "results") as folder:
    ...         _ = (folder / "rows0.txt").write_text("all of it")
    ...     print((Path(parent) / "results" / "rows0.txt").read_text())
    all of it
    """
    make_folder(folder.parent)
    _remove_leftovers(folder)
    with writing(folder):
        owner, owner_file = open_temporary(folder.parent)
    unfinished = folder.with_name(f".{folder.name}.{owner.name.removeprefix(PREFIX).removesuffix(SUFFIX)}{UNFINISHED}")
    with owner_file:
        try:
            with writing(folder):
                unfinished.mkdir()
            yield unfinished
            for leftover in unfinished.glob(f"{PREFIX}*{SUFFIX}"):  # of workers that died
                leftover.unlink()
            with writing(folder):
                unfinished.rename(folder)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        finally:
            with contextlib.suppress(OSError):
                owner.unlink()


def _remove_leftovers(folder: Path) -> None:
    """Remove the unfinished folders of this name whose owner is dead."""
    start = f".{folder.name}."
    for leftover in folder.parent.glob(f"{glob.escape(start)}*{UNFINISHED}"):
        owner = folder.parent / f"{PREFIX}{leftover.name.removeprefix(start).removesuffix(UNFINISHED)}{SUFFIX}"
        with contextlib.suppress(OSError):
            if not owner.exists() or owner_is_dead(owner, remove=True):
                shutil.rmtree(leftover, ignore_errors=True)
