"""Versions of packages and type of processor: the last bits of a result depend on them, apart from the data."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import scipy
from threadpoolctl import threadpool_info


@cache
def environment() -> dict[str, str]:
    """Return the versions of the packages and the type of processor."""
    kernels = sorted({str(lib.get("architecture")) for lib in threadpool_info() if lib["user_api"] == "blas"})
    return {
        "hiddenbits": version("hiddenbits"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "blas": ",".join(kernels),
        "numba": version("numba") if find_spec("numba") else "none",
        "machine": platform.machine(),
    }


def differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Return the differences between two environments, as in ``numpy 2.0.0 instead of 2.1.0``."""
    return ", ".join(
        f"{name} {theirs.get(name, 'none')} instead of {mine}"
        for name, mine in ours.items()
        if theirs.get(name) != mine
    )
