"""Docstrings as Sphinx wants them: what looks like its markup and is not, and what scikit-learn documents itself."""

from __future__ import annotations

import re
from typing import Any


def escape(_app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Keep ``shape (n_iter_,)`` from being a link, and ``|w|`` from being a substitution."""
    for number, line in enumerate(lines):
        safe = re.sub(r"\([^()`]*\)", lambda found: re.sub(r"_(?=[,)])", r"\\_", found[0]), line)
        if "`" not in safe and ">>>" not in safe:
            safe = re.sub(r"\|(\w[^|]*)\|", r"\|\1\|", safe)
        lines[number] = safe


def skip_foreign(_app: Any, _what: str, _name: str, obj: Any, skip: bool, _options: Any) -> bool:
    """Leave out the methods that scikit-learn gives every estimator."""
    home = getattr(obj, "__module__", None) or ""
    return home.split(".")[0] == "sklearn" or skip


def setup(app: Any) -> dict[str, bool]:
    """Register both; the first after numpydoc."""
    app.connect("autodoc-process-docstring", escape, priority=900)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
