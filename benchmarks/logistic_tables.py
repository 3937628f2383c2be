"""Six real tables for logistic PCA."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.datasets import data_folder, load_debd

SEED = 0
Rows = NDArray[np.uint8]


def split(X: Rows) -> tuple[Rows, Rows]:
    """Four fifths to fit on."""
    order = np.random.default_rng(SEED).permutation(len(X))
    cut = len(X) * 4 // 5
    return X[order[:cut]], X[order[cut:]]


def tables() -> dict[str, tuple[Any, Any]]:
    """The six tables, as rows to fit on and rows held out."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in ("nltcs", "kdd", "audio"):
        splits = load_debd(name)
        found[name] = splits.train[:20_000], splits.test[:5_000]
    sat = np.genfromtxt(data_folder() / "survey" / "sat12_binary.csv", delimiter=",", skip_header=1).astype(np.uint8)
    found["SAT12"] = split(sat)
    with np.load(data_folder() / "digits" / "usps.npz") as usps:
        twos = [(usps[part][usps[f"{part}_label"] == 2] > 127).astype(np.uint8) for part in ("train", "test")]
    found["USPS twos"] = twos[0], twos[1]
    with np.load(data_folder() / "tables" / "news100.npz", allow_pickle=True) as news:
        found["news100"] = split(news["X"].astype(np.uint8))
    return found
