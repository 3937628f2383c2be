"""Negative eigenvalues of C^XX where the model is right: rows drawn from a model whose true C^XX has none."""

from typing import Any

import numpy as np
from common import NO_DATA, have_data

from data import recipe, twos

SEEDS = {"simulated loadings": 0, "draws": [1, 2, 3]}
COLUMNS, DIMENSIONS = 100, 4
LENGTHS = (250, 1000, 4000, 16_000, 64_000)


def simulated(n_rows: int, seed: int) -> np.ndarray:
    """Rows by the definition: 100 columns, 4 dimensions that explain .3 to .9 of each hidden variable."""
    rng = np.random.default_rng(SEEDS["simulated loadings"])
    W = rng.standard_normal((COLUMNS, DIMENSIONS))
    W *= np.sqrt(rng.uniform(0.3, 0.9, COLUMNS) / (W**2).sum(axis=1))[:, None]
    h = rng.normal(0.0, 1.0, COLUMNS)
    rng = np.random.default_rng([n_rows, seed])
    noise = np.sqrt(1.0 - (W**2).sum(axis=1)) * rng.standard_normal((n_rows, COLUMNS))
    return (rng.standard_normal((n_rows, DIMENSIONS)) @ W.T + noise + h > 0.0).astype(np.uint8)


def spectrum(rows: np.ndarray) -> dict[str, Any]:
    found = recipe(1).fit(rows).spectrum_
    return {"columns": len(found), "negative": int((found < 0.0).sum()), "smallest": float(found[-1])}


def measure(*, full: bool) -> dict[str, Any]:
    seeds = SEEDS["draws"] if full else SEEDS["draws"][:1]
    lengths = LENGTHS if full else LENGTHS[:3]
    found: dict[str, Any] = {"simulated": {str(n): [spectrum(simulated(n, s)) for s in seeds] for n in lengths}}
    if not have_data("negative eigenvalues of the twos"):
        return {**found, "twos": NO_DATA}
    train = twos().train
    model = recipe().fit(train)
    # Sixteen dimensions and noise of at least .05 of each variance: no eigenvalue of the truth is below .05.
    return {
        **found,
        "twos themselves": spectrum(train),
        "smallest_of_truth": float(np.linalg.eigvalsh(truth(model)).min()),
        "twos": {
            str(n): [spectrum(model.sample(n, random_state=s)) for s in (seeds if n < 10_000 else seeds[:1])]
            for n in ((len(train), 10 * len(train), 100 * len(train)) if full else (len(train),))
        },
    }


def truth(model: Any) -> np.ndarray:
    """C^XX of a fitted model."""
    return np.asarray(model.components_.T @ model.components_ + np.diag(model.noise_variances_))
