"""Does a little Gibbs sampling suffice: in a network that has learned, while it learns, and for learning?"""

from types import SimpleNamespace
from typing import Any

import numpy as np
from feedback import drawn
from learning import blocks_of, learn
from lines import judged, lines_network

from hiddenbits.datasets import simulate_lines
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.params import NoisyOrParams

SEEDS = {"learned": 100, "as learning proceeds": "100 to 104 (quick: 100)", "learning": "100 to 111 (quick: 100)"}
LADDER = (1, 2, 4, 8, 15, 60)
LEARNED = (1, 4, 15, 60)
WATCHED = (0, 1, 2, 5, 10, 20)  # epochs
ROWS, CHAINS = 300, 50
MASS = 0.99


def as_model(params: NoisyOrParams) -> Any:
    """What `judged` looks at."""
    layers = [f[:-1] for f in params.layers]
    return SimpleNamespace(strengths_=layers[0], layers_=layers)


def accuracy(params: NoisyOrParams, X: Any, ladder: tuple[int, ...], rng: np.random.Generator) -> dict[str, Any]:
    """How near some sweeps come to the exact posterior of the lowest layer, and how many explanations a row has."""
    model, block = NoisyOr(list(params.n_causes)), blocks_of(X, len(X))[0]
    r = model._posterior(model.prepare(params), block, None)[0]
    K = params.n_causes[0]
    states = model.hidden_states(NoisyOrParams.of([params.layers[0]], np.full(K, 0.5), (0.0, 1.0, 0.0, 0.0)))
    marginals, best = r @ states, r.argmax(axis=1)
    falling = -np.sort(-r, axis=1)
    needed = (np.cumsum(falling, axis=1) < MASS).sum(axis=1) + 1
    found: dict[str, Any] = {
        "explanations": [float(np.median(needed)), float(np.quantile(needed, 0.95))],
        "exact": {
            "off": float(np.mean(np.abs(rng.binomial(CHAINS, np.clip(marginals, 0.0, 1.0)) / CHAINS - marginals))),
            "best": float(np.mean(r[np.arange(len(r)), best])),
        },
    }
    for sweeps in ladder:
        s = drawn(params, X, sweeps, CHAINS, rng)
        found[str(sweeps)] = {
            "off": float(np.mean(np.abs(s.mean(axis=0) - marginals))),
            "best": float(np.mean((s == states[best]).all(axis=2))),
        }
    return found


def over_time(seed: int, n_rows: int) -> dict[str, Any]:
    """Accuracy at some epochs of a fit by the paper's settings."""
    data, found = simulate_lines(n_rows, seed=seed), {}

    def watch(epoch: int, params: NoisyOrParams) -> None:
        if epoch in WATCHED:
            rng = np.random.default_rng([seed, 2])
            found[str(epoch)] = accuracy(params, data.X[: min(ROWS, n_rows // 4)].astype(float), (1, 15), rng)

    learn(data.X, (10, 5), seed=seed, watch=watch)
    return found


def learned(sweeps: int, seeds: range, n_rows: int) -> dict[str, int]:
    """How often lines and sets are found where sampling stops after so many sweeps."""
    found = []
    for seed in seeds:
        data = simulate_lines(n_rows, seed=seed)
        found.append(judged(as_model(learn(data.X, (10, 5), sweeps=sweeps, seed=seed)), data))
    return {"runs": len(found), "lines": sum(f[0] for f in found), "both": sum(f[0] and f[1] for f in found)}


def measure(*, full: bool) -> dict[str, Any]:
    params, n_rows = lines_network()[0].params_, 2000 if full else 400
    rows = simulate_lines(ROWS if full else 50, seed=1100).X.astype(float)
    hidden = np.where(np.random.default_rng([1100, 1]).random(rows.shape) < 0.6, np.nan, rows)
    several = [over_time(seed, n_rows) for seed in (range(100, 105) if full else range(100, 101))]
    return {
        "rows": ROWS,
        "chains": CHAINS,
        "mass": MASS,
        "learned": accuracy(params, rows, LADDER, np.random.default_rng([100, 2])),
        "learned, 60% of the pixels hidden": accuracy(params, hidden, LADDER, np.random.default_rng([100, 3])),
        "over time": several,
        "learning": {
            str(k): learned(k, range(100, 112) if full else range(100, 101), n_rows)
            for k in (LEARNED if full else LEARNED[:1])
        },
    }
