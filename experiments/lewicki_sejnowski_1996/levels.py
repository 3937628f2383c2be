"""Three levels, simulated: does a network of three layers find them?"""

from typing import Any

import numpy as np
from networks import Low

from hiddenbits import NoisyOrNetwork
from hiddenbits.families.noisy_or.model import draw
from hiddenbits.families.noisy_or.params import NoisyOrParams

SEEDS = {"data and start": "0 to 3 (quick: 0)"}
SIZES, ROWS = (18, 6, 2), 3000
COUPLINGS = {"top .6": 0.6, "top .75": 0.75}  # strengths of the top level
LEAKS = {"top .6": 0.1, "top .75": 0.05}
FITS = {"library": NoisyOrNetwork, "upper leaks begin low": Low}
TOP, MIDDLE, LOW = 0.3, (0.7, 0.05), (0.9, 0.01)  # P(top unit on); strengths and leaks of the other levels


def truth(coupling: str) -> tuple[list[Any], NoisyOrParams]:
    """Which children each unit has, and the network: 54 bits, four to a cause, one shared with the next cause."""
    low, middle, top = np.zeros((18, 54)), np.zeros((6, 18)), np.zeros((2, 6))
    for i in range(18):
        low[i, [(3 * i + k) % 54 for k in range(4)]] = 1.0
    for units in (middle, top):
        for i, row in enumerate(units):
            row[3 * i : 3 * i + 3] = 1.0
    children, said = [low, middle, top], (LOW, MIDDLE, (COUPLINGS[coupling], LEAKS[coupling]))
    layers = [
        np.vstack([np.where(sets == 1, strength, 1e-3), np.full((1, sets.shape[1]), leak)])
        for sets, (strength, leak) in zip(children, said, strict=True)
    ]
    return children, NoisyOrParams.of(layers, np.full(2, TOP), (2.0, 2.0, 0.0, 0.0))


def found_units(children: list[Any], layers: Any) -> list[int]:
    """How many true units each level has: their children are exactly those above half of a found unit's strongest.

    A unit of an upper level is looked for among the units below by what those stand for.
    """
    names: list[frozenset[Any]] = [frozenset([column]) for column in range(children[0].shape[1])]
    true_names, counts = list(names), []
    for sets, f in zip(children, layers, strict=True):
        names = [frozenset(names[j] for j in np.flatnonzero(row > row.max() / 2)) for row in f]
        true_names = [frozenset(true_names[j] for j in np.flatnonzero(row)) for row in sets]
        counts.append(len(set(names) & set(true_names)))
    return counts


def one(make: Any, coupling: str, seed: int, n_rows: int) -> dict[str, Any]:
    children, params = truth(coupling)
    X = draw(params, n_rows, np.random.default_rng(seed))[0]
    model = make(SIZES, n_init=1, random_state=seed).fit(X)
    leaks = [float(np.mean(leak)) for leak in model.leaks_[1:]]
    return {
        "found": found_units(children, model.layers_),
        "leaks above": leaks,
        "P(top on)": float(np.mean(model.priors_)),
        "strengths of the top": float(np.mean(model.layers_[2].max(axis=0))),
    }


def measure(*, full: bool) -> dict[str, Any]:
    seeds, n_rows = (range(4), ROWS) if full else (range(1), 300)
    found: dict[str, Any] = {"rows": n_rows, "sizes": SIZES, "couplings": COUPLINGS, "leaks": LEAKS, "P(top on)": TOP}
    for coupling in COUPLINGS if full else list(COUPLINGS)[:1]:
        for name, make in FITS.items() if full else list(FITS.items())[:1]:
            found[f"{coupling}, {name}"] = [one(make, coupling, seed, n_rows) for seed in seeds]
    return found
