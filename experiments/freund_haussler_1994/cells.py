"""Cells of a table that were already measured, so that an interrupted run goes on where it was."""

import json
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

VERSIONS = {name: version(name) for name in ("hiddenbits", "numpy", "scipy", "scikit-learn")}


class Cells:
    """A file of measured cells. It is read if the same versions wrote it, and removed when the table is whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Any] = {}

    def __enter__(self) -> Self:
        if self._path.is_file():
            stored = json.loads(self._path.read_text())
            self._known = stored["cells"] if stored["versions"] == VERSIONS else {}
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        if failed is None:
            self._path.unlink(missing_ok=True)

    def get(self, name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return a cell, measured now with its processor seconds, or read."""
        if name not in self._known:
            begin = time.process_time()
            found = measure()
            self._known[name] = {**found, "seconds": time.process_time() - begin}
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside = self._path.with_suffix(".new")
            beside.write_text(json.dumps({"versions": VERSIONS, "cells": self._known}))
            beside.replace(self._path)
            print(f"  {name}: {self._known[name]['seconds']:.1f} s", flush=True)
        return self._known[name]
