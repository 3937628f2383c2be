"""Synthetic tables of as many rows as the table has, and whether column means and pairwise correlations are kept."""

from typing import Any

import numpy as np
from common import NO_DATA, have_data
from pairs import correlations, empty_cells

from data import tables
from hiddenbits import ClippedPCA, IndependentBits, tetrachoric

SEEDS = {"model": 0, "draws": list(range(5))}
MEANS, PAIRS = 4.0, 3.0  # standard errors


def compare(X: np.ndarray, drawn: np.ndarray) -> dict[str, Any]:
    """Means and correlations of drawn rows beside those of the table, in standard errors of as many rows."""
    n = len(drawn)
    count = (~np.isnan(X)).sum(axis=0)
    p = (np.nansum(X, axis=0) + 0.5) / (count + 1.0)
    apart = np.abs(np.nanmean(drawn, axis=0) - np.nanmean(X, axis=0))
    off = np.maximum(0.0, apart - 1.0 / n) / np.sqrt(p * (1.0 - p) / n)  # less than a row is no error
    truth, ours, empty = correlations(X), correlations(drawn), empty_cells(X)
    pairs = np.triu(np.isfinite(truth) & np.isfinite(ours), 1)
    within = np.abs(ours - truth) <= PAIRS * (1.0 - truth**2) / np.sqrt(n)
    kinds = {"empty": pairs & empty, "full": pairs & ~empty}
    share = {kind: float(within[of].mean()) if of.any() else None for kind, of in kinds.items()}
    return {"worst_mean": float(off.max()), "pairs": float(within[pairs].mean()), "by_cell": share}


def averaged(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The worst mean of all draws, and the shares of pairs: their average and their smallest."""
    shares = [one["pairs"] for one in found]
    by_cell = {
        kind: float(np.mean([one["by_cell"][kind] for one in found])) if found[0]["by_cell"][kind] is not None else None
        for kind in ("empty", "full")
    }
    worst = max(one["worst_mean"] for one in found)
    return {"worst_mean": worst, "pairs": float(np.mean(shares)), "fewest_pairs": min(shares), "by_cell": by_cell}


def drawn_from(C: np.ndarray, thresholds: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Rows of a clipped Gaussian with these correlations."""
    hidden = np.random.default_rng(seed).standard_normal((n, len(C))) @ np.linalg.cholesky(C).T
    return np.asarray(hidden > thresholds, float)


def one(X: np.ndarray, seeds: list[int]) -> dict[str, Any]:
    n = len(X)
    two, parallel = ClippedPCA(2, random_state=0).fit(X), ClippedPCA("parallel", random_state=0).fit(X)
    independent, pairwise = IndependentBits().fit(X), tetrachoric(X)
    nearest = pairwise.nearest("higham")
    ways: dict[str, Any] = {
        "the table's own rows, drawn again": lambda s: X[np.random.default_rng(s).integers(n, size=n)],
        "full matrix": lambda s: two.sample(n, full=True, random_state=s).astype(float),
        "full matrix, Higham's correction": lambda s: drawn_from(nearest, pairwise.thresholds, n, s),
        "parallel analysis": lambda s: parallel.sample(n, random_state=s).astype(float),
        "2 dimensions": lambda s: two.sample(n, random_state=s).astype(float),
        "independent bits": lambda s: independent.sample(n, random_state=s).astype(float),
    }
    empty = empty_cells(X)
    return {
        "rows": n,
        "columns": X.shape[1],
        "blank": float(np.isnan(X).mean()),
        "dimensions": parallel.n_components_,
        "ones_a_row": [float(np.nansum(X, axis=1).min()), float(np.nansum(X, axis=1).max())],
        "pairs_with_an_empty_cell": float(empty[np.triu_indices(X.shape[1], 1)].mean()),
        "smallest_eigenvalue": float(two.spectrum_[-1]),
        "moved_by_correction": float(np.abs(two.corrected_correlation_ - two.correlation_).max()),
        "ways": {name: averaged([compare(X, draw(s)) for s in seeds]) for name, draw in ways.items()},
    }


def measure(*, full: bool) -> Any:
    if not have_data("tables drawn again"):
        return NO_DATA
    seeds = SEEDS["draws"] if full else SEEDS["draws"][:1]
    return {name: one(X, seeds) for name, X in tables().items()}
