"""Cells of a table that take long: kept as they are made, so that an interrupted run goes on where it was."""

import json
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Self

EVERY = 20  # cells between two writes
VERSIONS = {name: version(name) for name in ("hiddenbits", "numpy", "scipy", "scikit-learn")}


class Cells:
    """A file of cells. It is read if the same versions wrote it, and removed when the step is done."""

    def __init__(self, path: Path, n_jobs: int | None = None) -> None:
        self._path, self._n_jobs = path, n_jobs or os.cpu_count() or 1
        self._known: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        if self._path.is_file():
            stored = json.loads(self._path.read_text())
            self._known = stored["cells"] if stored["versions"] == VERSIONS else {}
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        if failed is None:
            self._path.unlink(missing_ok=True)

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        """Return one cell, made here and now if it is not known."""
        mine = self._known.setdefault(name, {})
        if "" not in mine:
            mine[""] = make()
            self._write()
        return mine[""]

    def each(self, name: str, make: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Return a cell for each item; they are made in several processes, with one BLAS thread each."""
        mine, items = self._known.setdefault(name, {}), list(items)
        missing = [item for item in items if str(item) not in mine]
        if len(missing) == 1:  # not worth a process
            mine[str(missing[0])] = make(missing[0])
            self._write()
        elif missing:
            os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the processes begin with it
            with ProcessPoolExecutor(self._n_jobs, mp_context=get_context("spawn")) as pool:
                tasks = {pool.submit(make, item): item for item in missing}
                for number, task in enumerate(as_completed(tasks), start=1):
                    mine[str(tasks[task])] = task.result()
                    if number % EVERY == 0 or number == len(missing):
                        self._write()
        return [mine[str(item)] for item in items]

    def _write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps({"versions": VERSIONS, "cells": self._known}))
        beside.replace(self._path)
