"""The paper's claim that the approximation improves with the number of columns, at 16, 64 and 256.

For each row, the Gaussian posterior of the variational fit is compared with the true one on a grid.
"""

from typing import Any

import numpy as np
from common import Run, have_data

import data
from hiddenbits import LogisticPCA, plots

SEEDS = {"data": 3, "start": 0, "rows": 0}
SIDES = (4, 8, 16)


def of_rows(model: LogisticPCA, X: np.ndarray, n_points: int) -> dict[str, float]:
    """Means over rows of how far the Gaussian is from the truth."""
    means, covariances = model.transform(X, return_cov=True)
    distances, widths, shapes, shifts = [], [], [], []
    for row, mean, covariance in zip(X, means, covariances, strict=True):
        x, y, density = plots.posterior_density(model, row, n_points=n_points)
        cell = (x[1] - x[0]) * (y[1] - y[0])
        points = np.stack(np.meshgrid(x, y), axis=-1)
        true_mean = np.einsum("yx,yxa->a", density, points) * cell
        away = points - true_mean
        true_covariance = np.einsum("yx,yxa,yxb->ab", density, away, away) * cell
        distances.append(0.5 * np.abs(density - gaussian(points, mean, covariance)).sum() * cell)
        widths.append((np.linalg.det(covariance) / np.linalg.det(true_covariance)) ** 0.25)
        shifts.append(np.sqrt((mean - true_mean) @ np.linalg.solve(true_covariance, mean - true_mean)))
        shapes.append(0.5 * np.abs(density - gaussian(points, true_mean, true_covariance)).sum() * cell)
    return {
        "total_variation": float(np.mean(distances)),
        "width": float(np.mean(widths)),
        "shift": float(np.mean(shifts)),  # of the mean, in true standard deviations
        "total_variation_of_the_best_gaussian": float(np.mean(shapes)),
        "gap": float(np.mean(model.score_samples(X) - model.bound_samples(X))),
    }


def gaussian(points: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    away = points - mean
    distance = np.einsum("yxa,ab,yxb->yx", away, np.linalg.inv(covariance), away)
    return np.exp(-0.5 * distance) / (2.0 * np.pi * np.sqrt(np.linalg.det(covariance)))


def one(X: np.ndarray, n_rows: int, n_points: int) -> dict[str, float]:
    model = LogisticPCA(2, refine=False, ridge=0.001, random_state=SEEDS["start"]).fit(X)
    polished = LogisticPCA(2, ridge=0.001, random_state=SEEDS["start"]).fit(X)
    rows = np.random.default_rng(SEEDS["rows"]).choice(len(X), n_rows, replace=False)
    error, best = -model.score(X), -polished.score(X)
    return {
        "error": error,
        "excess": error - best,
        "excess_percent": 100.0 * (error - best) / best,
        **of_rows(model, X[rows], n_points),
    }


def measure(run: Run) -> dict[str, Any]:
    """Prototypes of 16, 64 and 256 bits, and the digit 2 in images of as many pixels."""
    sides = SIDES if run.full else SIDES[:2]
    n_rows, n_points = (60, 121) if run.full else (8, 81)
    found: dict[str, Any] = {"rows_compared": n_rows}
    found["Synthetic"] = {
        str(s * s): one(data.synthetic(SEEDS["data"], 0.15, s * s).X, n_rows, n_points) for s in sides
    }
    found["Figure 4"] = one(data.synthetic(SEEDS["data"]).X, n_rows, n_points)  # the paper's own table of 16 columns
    if have_data("Digit 2 in the claim on columns"):
        some = sides if run.full else SIDES[:1]
        found["Digit 2"] = {str(s * s): one(data.twos(s), n_rows, n_points) for s in some}
    return found
