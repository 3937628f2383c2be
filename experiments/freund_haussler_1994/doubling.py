"""Figures 4.6 and 4.7, left: a mixture by EM that is doubled every 20 passes, its two errors after each pass."""

from typing import Any

import numpy as np

import data

SIZES, PASSES = (1, 2, 4, 8, 16, 32, 45), 20
NOISE = 0.1  # of the probabilities of a class that is split
FLOOR = 0.02


def errors(T: np.ndarray, p: np.ndarray, pi: np.ndarray) -> tuple[float, float]:
    """Reconstruction, in bits a pixel, and single-bit error: r_k, divided by the bit's own factor, sums to its odds."""
    log_p = T @ np.log(p).T + (1.0 - T) @ np.log(1.0 - p).T + np.log(pi)
    own = p[log_p.argmax(axis=1)]
    r = np.exp(log_p - np.logaddexp.reduce(log_p, axis=1, keepdims=True))
    other = np.where(T > 0.5, r @ ((1.0 - p) / p), r @ (p / (1.0 - p)))  # P(turned bit) / P(bit), given the rest
    return float(-np.log2(np.where(T > 0.5, own, 1.0 - own)).mean()), float((other > 1.0).mean())


def doubled(seed_of_rows: int, seed: int, noise: float = NOISE) -> dict[str, Any]:
    """Curves of both errors, and at how many splits each of them jumps on the training rows."""
    rows, rng = data.digits(seed_of_rows), np.random.default_rng(seed)
    X, p, pi = rows.train.astype(float), np.full((1, 256), 0.5), np.ones(1)
    curves: dict[str, dict[str, list[float]]] = {m: {"train": [], "test": []} for m in ("reconstruction", "bit")}
    for size in SIZES:
        first = size - len(p)
        p, pi = np.vstack([p, p[:first]]), np.concatenate([pi, pi[:first]])
        p, pi = np.clip(p + noise * rng.standard_normal(p.shape), FLOOR, 1.0 - FLOOR), pi / pi.sum()
        for _ in range(PASSES):
            for part, T in (("train", X), ("test", rows.test.astype(float))):
                for measure, value in zip(curves, errors(T, p, pi), strict=True):
                    curves[measure][part].append(value)
            log_p = X @ np.log(p).T + (1.0 - X) @ np.log(1.0 - p).T + np.log(pi)
            r = np.exp(log_p - np.logaddexp.reduce(log_p, axis=1, keepdims=True))
            p, pi = (r.T @ X + 0.5) / (r.sum(axis=0)[:, None] + 1.0), (r.sum(axis=0) + 1e-9) / len(X)
    splits = range(PASSES, PASSES * len(SIZES), PASSES)
    jumps = {m: [curve["train"][k] - curve["train"][k - 1] for k in splits] for m, curve in curves.items()}
    return {"curves": curves, "jumps": jumps}


def measure(seed_of_rows: int, seed: int) -> dict[str, Any]:
    """The curves, and the jumps of the reconstruction with less noise: is it the cause?"""
    found = doubled(seed_of_rows, seed)
    quieter = {str(n): doubled(seed_of_rows, seed, n)["jumps"] for n in (0.03, 0.01)}
    return {**found, "splits": len(SIZES) - 1, "noise": NOISE, "quieter": quieter}
