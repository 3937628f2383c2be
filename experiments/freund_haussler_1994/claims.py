"""What the paper claims beside its tables: universality, projections close to normal, few active units, features."""

from typing import Any

import features
import numpy as np
import truncation
from cells import Cells
from common import NO_DATA, have_data

import data
from hiddenbits import datasets
from maths import kolmogorov, machine_for

SEEDS = {
    "distributions": list(range(20)),
    "projections": 0,
    "digits": [0, 1, 2],
    "starts": 0,
}
CLOSENESS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)  # epsilon of section 2.5
SIZES = (16, 64, 256, 1024)
DIRECTIONS, DRAWS = 40, 20_000


def universality(closeness: float, seeds: list[int]) -> dict[str, Any]:
    """Random distributions of 4 bits: distance and divergence from the machine that section 2.5 builds for them."""
    distances, divergences = [], []
    for seed in seeds:
        p = np.random.default_rng(seed).dirichlet(np.ones(16))
        weights, thresholds, x = machine_for(p, closeness)
        log_q = data.told(weights, thresholds).score_samples(((x + 1.0) / 2.0).astype(np.uint8))
        distances.append(0.5 * float(np.abs(p - np.exp(log_q)).sum()))
        divergences.append(float(p @ (np.log(p) - log_q)))
    return {"total_variation": max(distances), "divergence": max(divergences), "units": len(weights)}


def from_normal(means: np.ndarray, rng: np.random.Generator, *, directions: np.ndarray | None = None) -> float:
    """Mean Kolmogorov distance between projections of independent bits with these means and their normals."""
    n = len(means)
    bits = np.where(rng.random((DRAWS, n), dtype=np.float32) < (1.0 + means) / 2.0, 1.0, -1.0) - means
    if directions is None:
        directions = rng.standard_normal((DIRECTIONS, n))
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    spread = np.sqrt(np.maximum(directions**2 @ (1.0 - means**2), 1e-300))
    return float(np.mean([kolmogorov(bits @ w / s) for w, s in zip(directions, spread, strict=True)]))


def projections(*, full: bool) -> dict[str, Any]:
    """Appendix A: means drawn evenly from -1 to 1; the paper's own exception; the states of targets A and B."""
    rng = np.random.default_rng(SEEDS["projections"])
    sizes = SIZES if full else SIZES[:2]
    found: dict[str, Any] = {
        "normal numbers themselves": float(np.mean([kolmogorov(rng.standard_normal(DRAWS)) for _ in range(20)])),
        "means even in [-1, 1]": {str(n): from_normal(rng.uniform(-1.0, 1.0, n), rng) for n in sizes},
        "mean 0, then all 1": {str(n): from_normal(np.r_[0.0, np.ones(n - 1)], rng) for n in sizes},
    }
    for name in ("A", "B", "A/7") if full else ("A",):
        drawn = datasets.simulate_influences(name[0], n_rows=12, shrink=7.0 if "/" in name else 1.0)
        means = np.tanh(drawn.train_states @ drawn.weights)
        found[f"states of {name}"] = {
            "64": float(np.mean([from_normal(mean, rng) for mean in means])),
            "64, along the weights": float(np.mean([from_normal(m, rng, directions=drawn.weights) for m in means])),
        }
    return found


def real_against_binary() -> dict[str, Any]:
    """Section 2.6: ln Z of the real-valued machine less that of the binary one, less the constant (n/2) ln(pi/2)."""
    found = {}
    for name in ("A", "B", "A/7", "B/7"):
        drawn = datasets.simulate_influences(name[0], n_rows=1, shrink=7.0 if "/" in name else 1.0)
        states = (np.arange(1 << 10)[:, None] >> np.arange(10)) & 1
        pull = states @ drawn.weights
        tilt = states @ drawn.thresholds
        real = np.logaddexp.reduce(tilt + 0.5 * (pull**2).sum(axis=1)) + 32.0 * np.log(2.0 * np.pi)
        binary = data.told(drawn.weights, drawn.thresholds).log_partition_
        found[name] = {
            "apart": float(real - binary - 32.0 * np.log(np.pi / 2.0)),
            "longest": float(np.linalg.norm(drawn.weights, axis=1).max()),
        }
    return found


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    seeds = SEEDS["distributions"] if full else SEEDS["distributions"][:5]
    found: dict[str, Any] = {
        "universality": {
            f"{e:g}": cells.get(f"universality {e:g}", lambda e=e: universality(e, seeds)) for e in CLOSENESS
        },  # type: ignore[misc]
        "projections": cells.get("projections", lambda: projections(full=full)),
        "real": cells.get("real against binary", real_against_binary),
        "truncation": truncation.measure(cells),
        "features": features.measure(cells, full=full) if have_data("features of digits") else NO_DATA,
    }
    return found
