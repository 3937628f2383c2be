"""The machine over bits and the machine over reals with the same parameters (sections 2.3, 2.6, 3, appendix A).

Both are mixtures over the states h: of products of bits with means tanh(om), and of Gaussians with means om. What is
said of either is checked against enumeration, quadrature or a numerical maximum; how close they are, on target A with
its weights divided.
"""

from typing import Any

import numpy as np
from cells import Cells
from largest_terms import bits_of
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import ks_2samp
from stopping import Way, lncosh

from hiddenbits import datasets
from maths import kolmogorov

SEEDS = {"small examples": 0, "rows": 1000, "projections": 0}
DIVIDED = (1, 7, 14, 28)
DIRECTIONS, DRAWS, REPEATS = 40, 20_000, 20
SIZES = (16, 64, 256, 1024)
FAR = 0.1  # epsilon of conditions A.1 and A.2


def target(shrink: float) -> datasets.SimulatedInfluences:
    return datasets.simulate_influences("A", shrink=shrink, seed=SEEDS["rows"])


def states_of(W: np.ndarray, th: np.ndarray, way: Way) -> tuple[np.ndarray, np.ndarray, float]:
    """Combined weights of all states, their probabilities (eqs 3.4, 3.7), and ln Z but for the constant."""
    states = bits_of(np.arange(1 << len(th)), len(th))
    pull = states @ W
    score = states @ th + (0.5 * pull**2 if way == "reals" else lncosh(pull)).sum(axis=1)
    log_z = float(np.logaddexp.reduce(score))
    return pull, np.exp(score - log_z), log_z


def drawn_rows(W: np.ndarray, th: np.ndarray, way: Way, rng: np.random.Generator) -> np.ndarray:
    pull, share, _ = states_of(W, th, way)
    pull = pull[rng.choice(len(share), DRAWS, p=share / share.sum())]
    if way == "reals":
        return np.asarray(pull + rng.standard_normal(pull.shape))
    return np.where(rng.random(pull.shape) < expit(2.0 * pull), 1.0, -1.0)


def projections(shrink: float) -> dict[str, Any]:
    """Section 2.6, appendix A: Kolmogorov distance between projections of rows of one model and of the other."""
    rng = np.random.default_rng(SEEDS["projections"])
    one = target(shrink)
    machine = one.weights, one.thresholds
    bits, again, reals = (drawn_rows(*machine, way, rng) for way in ("bits", "bits", "reals"))
    random = rng.standard_normal((DIRECTIONS, bits.shape[1]))

    def apart(X: np.ndarray, Y: np.ndarray, directions: np.ndarray) -> float:
        return float(np.mean([ks_2samp(X @ w, Y @ w).statistic for w in directions]))

    return {
        "longest": float(np.linalg.norm(one.weights, axis=1).max()),
        "random directions": apart(bits, reals, random),
        "along the weights": apart(bits, reals, one.weights),
        "the same model twice": apart(bits, again, random),
    }


def components(W: np.ndarray, th: np.ndarray) -> dict[str, Any]:
    """End of section 2.6: how far coefficients and means of the two mixtures are apart, over all states.

    Coefficients by total variation; means tanh(om) and om by |tanh(om) - om| / |om|, on average over the states of the
    model of bits in which some unit is on.
    """
    (pull, share, _), (_, of_reals, _) = (states_of(W, th, way) for way in ("bits", "reals"))
    off = np.linalg.norm(np.tanh(pull) - pull, axis=1)[1:] / np.linalg.norm(pull, axis=1)[1:]
    return {
        "coefficients": 0.5 * float(np.abs(share - of_reals).sum()),
        "means": float(off @ share[1:] / share[1:].sum()),
    }


def bits_as_mixture() -> dict[str, Any]:
    """Section 2.3: eq 2.4 next to a mixture of 2^m products with means tanh(om(h)), all rows of 6 bits, 4 units."""
    rng = np.random.default_rng(SEEDS["small examples"])
    W, th = rng.standard_normal((4, 6)), rng.standard_normal(4)
    x = 2.0 * bits_of(np.arange(64), 6) - 1.0
    product = np.prod(1.0 + np.exp(x @ W.T + th), axis=1)
    pull, share, _ = states_of(W, th, "bits")
    mixture = np.prod(0.5 * (1.0 + x[:, None, :] * np.tanh(pull)), axis=2) @ share
    return {"largest difference": float(np.abs(product / product.sum() / mixture - 1.0).max())}


def height(W: np.ndarray, th: np.ndarray, X: np.ndarray, way: Way) -> float:
    """Log-likelihood a row, less that of no unit."""
    return float(np.logaddexp(0.0, X @ W.T + th).sum() / len(X) - states_of(W, th, way)[2])


def slopes(W: np.ndarray, th: np.ndarray, X: np.ndarray, way: Way) -> tuple[np.ndarray, np.ndarray]:
    """Its gradient: eqs 3.5 and 3.6, or 3.8 and 3.9."""
    on = expit(X @ W.T + th)
    pull, share, _ = states_of(W, th, way)
    states = bits_of(np.arange(len(share)), len(th))
    mean = np.tanh(pull) if way == "bits" else pull
    return on.T @ X / len(X) - (states * share[:, None]).T @ mean, on.mean(axis=0) - share @ states


def equations() -> dict[str, Any]:
    """Eqs 2.7, 2.8, 3.7 to 3.9, 3.14, 3.15, for 3 units over the plane: against quadrature and numerical maxima."""
    rng = np.random.default_rng(SEEDS["small examples"])
    W, th, X = rng.standard_normal((3, 2)), rng.standard_normal(3), rng.standard_normal((20, 2))
    line = np.arange(-12.0, 12.0, 0.1)
    plane = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)

    def log_z(point: np.ndarray) -> float:
        V, a = point[:6].reshape(3, 2), point[6:]
        inside = np.exp(np.logaddexp(0.0, plane @ V.T + a).sum(axis=1) - 0.5 * (plane**2).sum(axis=1))
        return float(np.log(inside.sum() * 0.01))

    def numerical(point: np.ndarray) -> float:
        return float(np.logaddexp(0.0, X @ point[:6].reshape(3, 2).T + point[6:]).sum() / len(X) - log_z(point))

    here = np.concatenate([W.ravel(), th])
    steps = 1e-4 * np.eye(len(here))
    slope = np.array([(numerical(here + s) - numerical(here - s)) / 2e-4 for s in steps])
    ours = np.concatenate([part.ravel() for part in slopes(W, th, X, "reals")])
    _, share, closed = states_of(W, th, "reals")
    states = bits_of(np.arange(8), 3)
    printed = np.exp(states @ th) / np.exp(states @ th).sum()  # om(h) in both: it cancels
    on = rng.random(200) < 0.3
    x = rng.standard_normal((200, 2)) + on[:, None] * np.array([1.0, -0.5])

    def complete(point: np.ndarray) -> float:
        return float(
            np.logaddexp(0.0, point[2] + 0.5 * point[:2] @ point[:2]) - np.mean(on * (x @ point[:2] + point[2]))
        )

    w = x[on].mean(axis=0)  # eq 3.14
    step = np.append(w, np.log(on.mean() / (1.0 - on.mean())) - 0.5 * w @ w)  # eq 3.15
    best = minimize(complete, np.zeros(3), options={"gtol": 1e-9}).x
    return {
        "ln Z": abs(log_z(here) - closed - np.log(2.0 * np.pi)),
        "gradient": float(np.abs(slope - ours).max()),
        "M-step": float(np.abs(best - step).max()),
        "eq 3.7 as printed, total variation": 0.5 * float(np.abs(printed - share).sum()),
    }


def fitted(W: np.ndarray, th: np.ndarray, X: np.ndarray, way: Way, n_steps: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest maximum of the likelihood, by L-BFGS."""

    def fall(point: np.ndarray) -> tuple[float, np.ndarray]:
        V, a = point[: W.size].reshape(W.shape), point[W.size :]
        return -height(V, a, X, way), -np.concatenate([part.ravel() for part in slopes(V, a, X, way)])

    options: Any = {"maxiter": n_steps, "ftol": 1e-9, "gtol": 1e-6}
    x = minimize(fall, np.concatenate([W.ravel(), th]), jac=True, method="L-BFGS-B", options=options).x
    return x[: W.size].reshape(W.shape), x[W.size :]


def solutions(shrink: float, n_steps: int) -> dict[str, Any]:
    """Section 3: either model's maximum, from the truth, under the other: nats a row that it lacks, and the gain."""
    one = target(shrink)
    X = 2.0 * one.train - 1.0
    ways: tuple[Way, ...] = ("bits", "reals")
    best = {way: fitted(one.weights, one.thresholds, X, way, n_steps) for way in ways}
    found = {}
    for way, other in (("bits", "reals"), ("reals", "bits")):
        own = height(*best[way], X, way)  # type: ignore[arg-type, index]
        found[way] = {"gain": own, "lacks": own - height(*best[other], X, way)}  # type: ignore[arg-type, index]
    return found


def conditions(kind: str) -> dict[str, Any]:
    """Appendix A: n rows of n independent bits, less their means: shares that break A.1 and A.2; their projections."""
    rng = np.random.default_rng(SEEDS["projections"])

    def means(n: int) -> np.ndarray:
        if kind == "even in [-1, 1]":
            return rng.uniform(-1.0, 1.0, n)
        if kind == "random weights":  # five of ten units on, weights standard normal
            return np.tanh(rng.standard_normal((5, n)).sum(axis=0))
        return np.r_[0.0, np.ones(n - 1)]

    limit = float(np.mean(1.0 - means(1_000_000) ** 2))  # the theorem's variance
    found: dict[str, Any] = {"variance": limit, "sizes": {}}
    for n in SIZES:
        lengths, pairs, variances, distances = [], [], [], []
        for _ in range(REPEATS):
            mu = means(n)
            X = np.where(rng.random((n, n)) < 0.5 * (1.0 + mu), 1.0, -1.0) - mu
            inner = X @ X.T
            lengths.append(np.mean(np.abs(np.diag(inner) - limit * n) > FAR * n))
            pairs.append((np.abs(inner) > FAR * n).mean())
            values = X @ (w := rng.standard_normal(n)) / np.linalg.norm(w)
            variances.append(values.var())
            distances.append(kolmogorov(values / np.sqrt(max(limit, 1e-300))))
        found["sizes"][str(n)] = {
            "A.1": float(np.mean(lengths)),
            "A.2": float(np.mean(pairs)),
            "variance": float(np.mean(variances)),
            "distance": float(np.mean(distances)),
            "normal numbers": float(np.mean([kolmogorov(rng.standard_normal(n)) for _ in range(REPEATS)])),
        }
    return found


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "bits as mixture": cells.get("bits as mixture", bits_as_mixture),
        "equations": cells.get("equations", equations),
        "projections": {
            f"A/{s}": cells.get(f"projections, A/{s}", lambda s=s: projections(s))  # type: ignore[misc]
            for s in (DIVIDED if full else DIVIDED[1:2])
        },
    }
    machines = {s: target(s) for s in DIVIDED}
    found["components"] = {
        f"A/{s}": cells.get(f"components, A/{s}", lambda one=one: components(one.weights, one.thresholds))  # type: ignore[misc]
        for s, one in machines.items()
    }
    if full:
        found["solutions"] = {f"A/{s}": cells.get(f"solutions, A/{s}", lambda s=s: solutions(s, 300)) for s in DIVIDED}  # type: ignore[misc]
        kinds = ("even in [-1, 1]", "random weights", "mean 0, then all 1")
        found["conditions"] = {k: cells.get(f"conditions, {k}", lambda k=k: conditions(k)) for k in kinds}  # type: ignore[misc]
    return found
