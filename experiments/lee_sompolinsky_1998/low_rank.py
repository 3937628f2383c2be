"""What sections 2 and 3 say of C^SS next to C^XX: rank, scale, Fourier modes, the number of modes, temperature."""

from typing import Any

import numpy as np
from common import Run
from geometry import planes
from scipy.special import expit

from data import bumps
from hiddenbits import evaluate

SEEDS = {"planes": 0, "draws": 1, "scales": 2}
COLUMNS, DIMENSIONS = 64, 3  # of the random planes
RING, LONG_RING = 256, 4096
ZERO = 1e-9  # an eigenvalue above it is not rounding
TEMPERATURES = (1.0, 0.1, 0.01, 0.001)
SCALES = (1.1, 2.0)  # of the hidden variables: from 1 / scale to scale


def arcsine(hidden: np.ndarray) -> np.ndarray:
    """Return C^SS of C^XX (eq. 7)."""
    root = np.sqrt(np.diag(hidden))
    return np.asarray(2.0 / np.pi * np.arcsin(np.clip(hidden / np.outer(root, root), -1.0, 1.0)))


def rank(matrix: np.ndarray) -> int:
    return int((np.linalg.eigvalsh(matrix) > ZERO).sum())


def ranks() -> dict[str, Any]:
    """Ranks of C^XX and of C^SS, for random planes."""
    W, _ = planes(COLUMNS, DIMENSIONS, biases=False, seed=SEEDS["planes"])
    return {"columns": COLUMNS, "dimensions": DIMENSIONS, "hidden": rank(W @ W.T), "bits": rank(arcsine(W @ W.T))}


def closed_form(n: int) -> np.ndarray:
    """Return the positive eigenvalues of the ring's C^SS, largest first."""
    odd = np.arange(1, n, 2)
    return np.sort(4.0 / (n * np.sin(np.pi * odd / n) ** 2))[::-1]


def scaled(draws: int) -> dict[str, Any]:
    """What other scales of the hidden variables change: no bit, no C^SS, eigenvalues of C^XX but not their number."""
    rng = np.random.default_rng(SEEDS["scales"])
    W, _ = planes(COLUMNS, DIMENSIONS, biases=False, seed=SEEDS["planes"])
    hidden = np.random.default_rng(SEEDS["draws"]).standard_normal((draws, DIMENSIONS)) @ W.T
    scale = SCALES[-1] ** rng.uniform(-1.0, 1.0, COLUMNS)
    ring = np.sin(0.5 * np.pi * ring_of_bits(RING))
    found: dict[str, Any] = {
        "draws": draws,
        "bits_changed": int(((hidden > 0.0) != (hidden * scale > 0.0)).sum()),
        # Off the diagonal: the arcsine is steep at 1, where rounding would show.
        "change_of_bits": float(
            np.abs(np.triu(arcsine(W @ W.T) - arcsine((W @ W.T) * np.outer(scale, scale)), 1)).max()
        ),
        "ring": {},
    }
    for most in SCALES:
        s = most ** rng.uniform(-1.0, 1.0, RING)
        matrix = ring * np.outer(s, s)
        found["ring"][str(most)] = {"rank": rank(matrix), "largest": np.linalg.eigvalsh(matrix)[:-3:-1].tolist()}
    return found


def ring_of_bits(n: int) -> np.ndarray:
    """Return <s_i s_j> of all bumps on a ring."""
    signs = 2.0 * bumps(n) - 1.0
    return np.asarray(signs.T @ signs / n)


def fourier() -> dict[str, float]:
    """Whether the ring's C^SS is a function of the distance, a triangle wave, with Fourier modes as eigenvectors."""
    C, place = ring_of_bits(RING), np.arange(RING)
    apart = np.abs(place[:, None] - place)
    triangle = 1.0 - 4.0 * np.minimum(place, RING - place) / RING
    modes = np.exp(2j * np.pi * np.outer(place, place) / RING) / np.sqrt(RING)
    turned = modes.conj().T @ C @ modes
    overlaps = (modes.conj().T @ triangle).real * np.sqrt(RING)
    return {
        "from_triangle": float(np.abs(C - triangle[apart]).max()),
        "off_diagonal": float(np.abs(turned - np.diag(np.diag(turned))).max()),
        "from_overlaps": float(np.abs(np.diag(turned).real - overlaps).max()),
    }


def rules(values: np.ndarray) -> dict[str, int]:
    """Numbers of modes by usual rules: values above 1, shares of the trace, the steepest drop."""
    values = np.sort(values[values > ZERO])[::-1]
    share = np.cumsum(values) / values.sum()
    drops = values[:-1] / values[1:]
    return {
        "above 1": int((values > 1.0).sum()),
        "95% of the trace": int((share < 0.95 - ZERO).sum()) + 1,
        "99% of the trace": int((share < 0.99 - ZERO).sum()) + 1,
        # Where only equal values are left there is no drop but the last, to zero.
        "steepest drop": int(drops.argmax()) + 1 if drops.max() > 1.0 + 1e-6 else len(values),
    }


def temperature(draws: int) -> dict[str, float]:
    """Expected share of bits in which sigmoid units of a temperature differ from signs."""
    W, _ = planes(COLUMNS, DIMENSIONS, biases=False, seed=SEEDS["planes"])
    x = np.random.default_rng(SEEDS["draws"]).standard_normal((draws, DIMENSIONS)) @ W.T
    return {str(t): float(expit(-np.abs(x) / t).mean()) for t in TEMPERATURES}


def angles(n: int, draws: int) -> dict[str, Any]:
    """With P = 2 the probability of a row is an angle over 2 pi: the entropy in closed form, and of draws."""
    W, _ = planes(n, 2, biases=False, seed=SEEDS["planes"])
    line = np.sort(np.arctan2(W[:, 1], W[:, 0]) % np.pi)
    p = np.repeat(np.diff(np.r_[line, line[0] + np.pi]) / (2.0 * np.pi), 2)
    y = np.random.default_rng(SEEDS["draws"]).standard_normal((draws, 2))
    drawn = evaluate.pattern_entropy((y @ W.T > 0.0).astype(np.uint8))
    return {"columns": n, "entropy": float(-(p * np.log(p)).sum()), "entropy_of_draws": drawn}


def same_plane(bits: np.ndarray) -> float:
    """Mean squared cosine between the planes of the two leading eigenvectors of the ring's C^SS and C^XX."""
    first, second = (np.linalg.eigh(matrix)[1][:, -2:] for matrix in (bits, np.sin(0.5 * np.pi * bits)))
    return float(((first.T @ second) ** 2).sum() / 2.0)


def measure(run: Run) -> dict[str, Any]:
    draws = 100_000 if run.full else 10_000
    bits = ring_of_bits(RING)
    return {
        "ranks": ranks(),
        "scaled": scaled(draws),
        "fourier": fourier(),
        "rules": {
            "bits": rules(np.linalg.eigvalsh(bits)),
            "hidden": rules(np.linalg.eigvalsh(np.sin(0.5 * np.pi * bits))),
        },
        "overlap_of_two": same_plane(bits),
        "different_eigenvalues": len(np.unique(closed_form(RING).round(9))),
        "share_of_first": {str(n): (closed_form(n)[:6:2] / closed_form(n)[0]).tolist() for n in (RING, LONG_RING)},
        "temperature": temperature(draws),
        "angles": angles(16, 2 * draws),
    }
