"""Claims of section 2, each on a small example: what a unit does, mixtures, orders of correlation, small weights."""

from typing import Any

import numpy as np
import peers
import synthetic
from cells import Cells
from largest_terms import bits_of
from scipy.signal import find_peaks
from scipy.special import expit
from scipy.stats import gaussian_kde

import data
from hiddenbits import BernoulliMixture, CombinationMachine, datasets, evaluate
from maths import kolmogorov

SEEDS = {"rows": 1000, "small examples": 0}
CLASSES = (10, 40, 160)


def log_loss(model: Any, X: np.ndarray) -> float:
    return float(evaluate.bits_per_cell(model, X).value)


def classes_for_units(table: str, classes: tuple[int, ...]) -> dict[str, Any]:
    """Section 2.3: test log-loss of mixtures of several sizes where ten influences combine, and the true machine's."""
    drawn = synthetic.rows(table, SEEDS["rows"])
    found: dict[str, Any] = {"truth": log_loss(data.told(drawn.weights, drawn.thresholds), drawn.test)}
    for n in classes:
        model = BernoulliMixture(n, n_init=1, max_iter=100, random_state=0).fit(drawn.train)
        found[str(n)] = log_loss(model, drawn.test)
    return found


def units_for_classes() -> dict[str, Any]:
    """Section 2.3: rows of ten classes and no product structure; test log-loss of ten classes and of ten units."""
    X = datasets.simulate_mixture(8000, 64, 10, seed=SEEDS["small examples"]).X
    train, test = X[:4000], X[4000:]
    models = {"classes": BernoulliMixture(10, random_state=0), "units": CombinationMachine(10, random_state=0)}
    return {name: log_loss(model.fit(train), test) for name, model in models.items()}


def third_order() -> dict[str, Any]:
    """Section 2.4: x3 = x1 x2 in 95 of 100 rows: no two bits are correlated. Single-bit error on new rows.

    And the coefficient of x1 x2 x3 in ln(1 + e^(x1 + x2 + x3 - 1)), the factor of one unit.
    """
    rng = np.random.default_rng(SEEDS["small examples"])
    x = np.where(rng.random((4000, 3)) < 0.5, 1, -1)
    x[:, 2] = x[:, 0] * x[:, 1] * np.where(rng.random(4000) < 0.95, 1, -1)
    X = (x > 0).astype(np.uint8)
    train, test = X[:2000], X[2000:]
    machine = CombinationMachine(4, random_state=0).fit(train)
    kept = peers.precision(train.astype(float), 2)
    corners = 2.0 * bits_of(np.arange(8), 3) - 1.0
    factor = np.logaddexp(0.0, corners.sum(axis=1) - 1.0)
    return {
        "of one unit": float(np.mean(corners.prod(axis=1) * factor)),
        "largest correlation": float(np.abs(np.corrcoef(train.T) - np.eye(3)).max()),
        "machine": float(evaluate.single_bit_error(machine, test).value),
        "components": peers.single_bit(test.astype(float), *kept),
    }


def one_active() -> dict[str, Any]:
    """Section 3: states with at most one active unit are a mixture of m + 1 classes, one of fair coins."""
    rng = np.random.default_rng(SEEDS["small examples"])
    W, th = rng.standard_normal((4, 6)), rng.standard_normal(4)
    x = 2.0 * bits_of(np.arange(64), 6) - 1.0
    machine = np.exp(np.column_stack([np.zeros(64), x @ W.T + th])).sum(axis=1)
    pull = np.vstack([np.zeros(6), W])
    shares = np.exp(np.r_[0.0, th] + np.log(np.cosh(pull)).sum(axis=1))
    classes = np.exp(-np.logaddexp(0.0, -2.0 * x[:, None, :] * pull).sum(axis=2)) @ (shares / shares.sum())
    return {"largest difference": float(np.abs(machine / machine.sum() - classes).max())}


def gaussians() -> dict[str, Any]:
    """Section 2.3, figure 2.2: eq 2.6 as a mixture of 2^m Gaussians; shares of states, weights not orthogonal."""
    weights = np.array([[3.0, 0.0], [0.0, 3.0], [1.06, 1.06]])
    states = bits_of(np.arange(8), 3)
    means, th = states @ weights, -0.5 * (weights @ weights.T).sum(axis=1)
    log_share = states @ th + 0.5 * (means**2).sum(axis=1)
    share = np.exp(log_share) / np.exp(log_share).sum()
    x = 3.0 * np.random.default_rng(SEEDS["small examples"]).standard_normal((50, 2))
    product = np.exp(-0.5 * (x**2).sum(axis=1)) * np.prod(1.0 + np.exp(x @ weights.T + th), axis=1)
    product /= 2.0 * np.pi * np.exp(log_share).sum()
    mixture = np.exp(-0.5 * ((x[:, None] - means) ** 2).sum(axis=2)) @ share / (2.0 * np.pi)
    return {
        "largest difference": float(np.abs(product / mixture - 1.0).max()),
        "shares": [float(share.min()), float(share.max())],
    }


def influence() -> dict[str, Any]:
    """Section 2.3: share of the 2^16 rows towards one unit, weights c everywhere, and how many of them are on."""
    ones = np.arange(17)
    counts = np.array([float(np.prod(np.arange(16, 16 - k, -1)) / np.prod(np.arange(1.0, k + 1))) for k in ones])
    pull = 2.0 * ones - 16.0

    def rows_of(c: float, th: float) -> dict[str, float]:
        on = expit(c * pull + th)
        return {"rows towards it": float(counts @ on / counts.sum()), "on": float(expit(th + 16 * np.log(np.cosh(c))))}

    settings = {"as it is": (0.5, -3.0), "longer": (0.6, -3.0), "higher": (0.5, -2.0), "longer, lower": (1.0, -6.0)}
    settings["longer, much lower"] = (1.0, -10.0)
    return {name: rows_of(*one) for name, one in settings.items()}


def fourth_power() -> dict[str, Any]:
    """Section 2.6: ln Z of reals less that of bits, less the constant, as the weights of A are halved."""
    weights, thresholds = datasets.influences_truth("A")
    states = bits_of(np.arange(1 << 10), 10)
    found = {}
    for shrink in (14, 28, 56):
        pull = states @ weights / shrink
        tilt = states @ np.minimum(thresholds, 0.0) / shrink**2
        real = np.logaddexp.reduce(tilt + 0.5 * (pull**2).sum(axis=1))
        found[str(shrink)] = float(real - np.logaddexp.reduce(tilt + np.log(np.cosh(pull)).sum(axis=1)))
    return found


def interesting(table: str) -> dict[str, Any]:
    """Sections 3.3, 3.4, figure 4.1(d): distance from normal of the rows along weights and along random directions."""
    drawn = synthetic.rows(table, SEEDS["rows"])
    X = 2.0 * drawn.train - 1.0
    random = np.random.default_rng(SEEDS["small examples"]).standard_normal((40, X.shape[1]))

    def apart(directions: np.ndarray) -> float:
        values = X @ directions.T
        return float(np.mean([kolmogorov((one - one.mean()) / one.std()) for one in values.T]))

    def two_humps(directions: np.ndarray) -> int:
        return sum(humps(one) > 1 for one in (X @ directions.T).T)

    learned = CombinationMachine.paper(10, max_iter=100, random_state=0).fit(drawn.train)
    ways = {"true": drawn.weights, "learned": learned.weights_, "random": random}
    return {
        **{name: apart(directions) for name, directions in ways.items()},
        "humps": {name: [two_humps(directions), len(directions)] for name, directions in ways.items()},
    }


def means_in_the_span() -> dict[str, Any]:
    """Figure 4.1(c), for comparison: how many means of 50 random rows of A lie near the span of the true weights."""
    drawn = synthetic.rows("A", SEEDS["rows"])
    rng, X = np.random.default_rng(SEEDS["small examples"]), 2.0 * drawn.train - 1.0
    means = np.array([X[rng.integers(len(X), size=50)].mean(axis=0) for _ in range(100)])
    inside = means @ np.linalg.qr(drawn.weights.T)[0]
    cosines = np.linalg.norm(inside, axis=1) / np.linalg.norm(means, axis=1)
    return {"near": int((cosines >= 0.9).sum()), "of": len(cosines)}


def humps(values: np.ndarray) -> int:
    """Maxima of a kernel density (Scott's width) that stand out by a twentieth of the highest."""
    grid = np.linspace(values.min() - values.std(), values.max() + values.std(), 200)
    density = gaussian_kde(values)(grid)
    return len(find_peaks(density, prominence=0.05 * density.max())[0])


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "third order": cells.get("third order", third_order),
        "one active": cells.get("one active", one_active),
        "gaussians": cells.get("gaussians", gaussians),
        "influence": cells.get("influence", influence),
        "fourth power": cells.get("fourth power", fourth_power),
        "means in the span": cells.get("means in the span", means_in_the_span),
        "units for classes": cells.get("units for classes", units_for_classes) if full else None,
    }
    for table in ("A", "B") if full else ("A",):
        classes = CLASSES if full else CLASSES[:1]
        found[f"classes for units, {table}"] = cells.get(
            f"classes for units, {table}",
            lambda t=table, c=classes: classes_for_units(t, c),  # type: ignore[misc]
        )
        found[f"interesting, {table}"] = cells.get(f"interesting, {table}", lambda t=table: interesting(t))  # type: ignore[misc]
    return found
