"""How often 95% intervals contain the truth, on simulated tables.

    python -m benchmarks.inference.coverage --quick      # 20 tables: a look
    python -m benchmarks.inference.coverage --full       # 400 tables: recorded, design by design; hours
    python -m benchmarks.inference.coverage --full --only mixture clusters --method information   # what is cheap

- mixture: 3 classes, 1000 x 10; shares and profiles; by information (robust) and by bootstrap (99 replicates). Once
  with profiles drawn at random, whose smallest class overlaps with the others (some tables have estimates at 0 or 1; an
  interval that does not exist counts as a miss), and once ("apart") with classes that lie apart. The second was added
  after the first run of the first, to tell what the overlap does, and so was the first with 8000 rows.
  "away" is the same over the tables in which no profile is at the border: there the information is that of an interior
  maximum.
- map: 2 dimensions, 800 x 10, varimax loadings in the standardized metric; by information through the rotation.
  "small_map" is the same with 500 x 8, for the bootstrap. It was made smaller before its first run.
- clusters: 2 classes, 100 clusters of 10 rows that share their class shares; by information with and without clusters=,
  and by bootstrap of clusters.
- causes: NoisyOrNetwork(3), 600 x 9, P(cause alone switches the bit on), causes in the order of the fitted model's; by
  bootstrap alone, since its rows have no scores. The default prior pulls strengths a little.
- trees: TreeMixture(2), 600 x 8, a chain and a star; shares and profiles, and the same with P(bit | parent) over the
  tables where the fit has found both trees ("found"); by bootstrap alone, whose replicates keep the trees of the fit.
  "large_trees" is the same with 2400 rows, where fits seldom miss a link. It was added after the first run of the first,
  and so was the count of shares and profiles over tables with both trees found.

Coverage is over all numbers of all tables; the first run counts. --full --method information writes results of its own.
A full run that was stopped continues with the table after the last one: it keeps count in the folder for temporary
files.
"""

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir

import numpy as np
from benchmarks.record import asking, record
from scipy.optimize import linear_sum_assignment

from hiddenbits import ItemResponseModel, LatentClassAnalysis, NoisyOrNetwork, TreeMixture, inference
from hiddenbits.maths.rotation import rotate

REPLICATES, TOL = 99, 1e-7  # within 0.01 standard errors (root mean square) of replicates with a tolerance of 1e-9
LINK = 0.4  # what a parent adds to the probability of a bit, in trees
DESIGNS = ["mixture", "apart", "map", "small_map", "clusters", "causes", "trees", "large_trees"]
METHODS = ("information", "bootstrap")
SHARES = np.array([0.5, 0.3, 0.2])  # of the classes of a mixture
OVERLAPPING = np.random.default_rng(7).uniform(0.15, 0.85, (3, 10))  # their profiles
BORDER = 1e-4  # a profile this close to 0 or 1 is at the border
CHUNK = 10  # tables after which a full run keeps count


def inside(found: inference.Uncertainty, name: str, truth: np.ndarray) -> np.ndarray:
    low, high = found.interval[name]
    return (low <= truth) & (truth <= high)


def matched(model: LatentClassAnalysis, truth: np.ndarray) -> np.ndarray:
    """Return the true class of each fitted one."""
    apart = ((model.probabilities_[:, None, :] - truth[None]) ** 2).sum(axis=2)
    return linear_sum_assignment(apart)[1]


def apart() -> np.ndarray:
    high = np.stack([np.arange(10) < 5, np.arange(10) >= 5, np.arange(10) % 2 == 0])
    return np.where(high, 0.8, 0.2)


def three_classes(seed: int, theta: np.ndarray, n_rows: int) -> np.ndarray:
    rng = np.random.default_rng([1, seed])
    return (rng.random((n_rows, 10)) < theta[rng.choice(3, n_rows, p=SHARES)]).astype(int)


def mixture(seed: int, methods: tuple[str, ...], name: str, theta: np.ndarray) -> dict[str, np.ndarray]:
    X = three_classes(seed, theta, 1000)
    model = LatentClassAnalysis(3, prior_strength=0, tol=1e-9, max_iter=5000, random_state=0).fit(X)
    order, shares = matched(model, theta), SHARES
    at_border = np.minimum(model.probabilities_, 1.0 - model.probabilities_).min() < BORDER
    out = {}
    for method in methods:
        try:
            found = (
                inference.standard_errors(model, X)
                if method == "information"
                else inference.bootstrap(model, X, n_replicates=REPLICATES, random_state=seed, tol=TOL)
            )
        except ValueError:  # the information has no inverse
            hits = np.zeros((3, 10), bool), np.zeros(3, bool)
        else:
            hits = inside(found, "probabilities", theta[order]), inside(found, "weights", shares[order])
        for what, contained in zip(("profiles", "shares"), hits, strict=True):
            out[f"{name}, {what}, {method}"] = contained
            if not at_border:
                out[f"{name}, {what}, {method}, away"] = contained
    return out


def plane(seed: int, methods: tuple[str, ...], n_rows: int, n_columns: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([2, seed])
    half = n_columns // 2
    slopes = np.zeros((n_columns, 2))
    slopes[:half, 0], slopes[half:, 1] = np.linspace(1.0, 2.0, half), np.linspace(2.0, 1.0, half)
    slopes[[2, half + 2], [1, 0]] = 0.6
    b = np.linspace(-1.0, 1.0, n_columns)
    codes = rng.standard_normal((n_rows, 2))
    X = (rng.random((n_rows, n_columns)) < 1 / (1 + np.exp(-(codes @ slopes.T + b)))).astype(int)
    truth = rotate(
        slopes / np.sqrt(1.702**2 + (slopes**2).sum(axis=1, keepdims=True)), "varimax", kaiser=False
    ).loadings
    model = ItemResponseModel(2, tol=1e-8, max_iter=5000, random_state=0).fit(X)

    def loadings(fitted: ItemResponseModel) -> dict[str, np.ndarray]:
        return {"loadings": fitted.rotate("varimax").aligned(truth).loadings}

    out = {}
    if "information" in methods:
        found = inference.standard_errors(model, X, statistic=loadings)
        out["map, varimax loadings, information"] = inside(found, "loadings", truth)
    if "bootstrap" in methods:
        found = inference.bootstrap(model, X, n_replicates=REPLICATES, random_state=seed, statistic=loadings, tol=TOL)
        out["map, varimax loadings, bootstrap"] = inside(found, "loadings", truth)
    return out


def clustered(seed: int, methods: tuple[str, ...]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([3, seed])
    theta = np.stack([np.full(8, 0.8), np.full(8, 0.25)])
    share = rng.beta(1.0, 1.0, 100)  # of the first class in each cluster, 1/2 on average
    labels = np.repeat(np.arange(100), 10)
    X = (rng.random((1000, 8)) < theta[(rng.random(1000) > share[labels]).astype(int)]).astype(int)
    model = LatentClassAnalysis(2, prior_strength=0, tol=1e-9, max_iter=5000, random_state=0).fit(X)
    found = {}
    if "information" in methods:
        found["with clusters="] = inference.standard_errors(model, X, clusters=labels)
        found["ignored"] = inference.standard_errors(model, X)
    if "bootstrap" in methods:
        found["bootstrap of clusters"] = inference.bootstrap(
            model, X, n_replicates=REPLICATES, random_state=seed, clusters=labels, tol=TOL
        )
    return {f"clusters, shares, {how}": inside(one, "weights", np.full(2, 0.5)) for how, one in found.items()}


def causes(seed: int, methods: tuple[str, ...]) -> dict[str, np.ndarray]:
    if "bootstrap" not in methods:
        return {}
    rng = np.random.default_rng([7, seed])
    truth = np.where(np.arange(9) // 3 == np.arange(3)[:, None], 0.7, 0.15)
    on = rng.random((600, 3)) < 0.3
    X = (rng.random((600, 9)) > 0.95 * np.where(on[:, :, None], 1.0 - truth, 1.0).prod(axis=1)).astype(int)
    model = NoisyOrNetwork(3, tol=1e-8, max_iter=5000, random_state=0).fit(X)

    def in_order(fitted: NoisyOrNetwork) -> dict[str, np.ndarray]:
        found = fitted.strengths_
        apart = ((model.strengths_[:, None, :] - found[None]) ** 2).sum(axis=2)
        return {"strengths": found[linear_sum_assignment(apart)[1]]}

    order = linear_sum_assignment(((model.strengths_[:, None, :] - truth[None]) ** 2).sum(axis=2))[1]
    found = inference.bootstrap(model, X, n_replicates=REPLICATES, random_state=seed, statistic=in_order, tol=TOL)
    return {"causes, strengths, bootstrap": inside(found, "strengths", truth[order])}


def trees(seed: int, methods: tuple[str, ...], n_rows: int) -> dict[str, np.ndarray]:
    if "bootstrap" not in methods:
        return {}
    rng = np.random.default_rng([8, seed])
    above = np.array([[-1, 0, 1, 2, 3, 4, 5, 6], [-1, 0, 0, 0, 0, 0, 0, 0]])  # a chain and a star
    if_zero = np.where((np.arange(8) < 4) == np.array([[True], [False]]), 0.5, 0.1)
    if_zero[:, 0] = 0.7, 0.5
    shares, classes = np.array([0.6, 0.4]), (rng.random(n_rows) > 0.6).astype(int)
    X, profiles = np.zeros((n_rows, 8), int), np.zeros((2, 8))
    for j in range(8):
        parents = above[:, j]
        on = X[np.arange(n_rows), parents[classes]] * (parents[classes] >= 0)
        X[:, j] = rng.random(n_rows) < if_zero[classes, j] + LINK * on
        profiles[:, j] = if_zero[:, j] + LINK * profiles[[0, 1], parents] * (parents >= 0)
    model = TreeMixture(2, smoothing=0, sharing=0, tol=1e-9, n_init=2, max_iter=5000, random_state=0).fit(X)
    order = linear_sum_assignment(((model.probabilities_[:, None, :] - profiles[None]) ** 2).sum(axis=2))[1]
    found = inference.bootstrap(model, X, n_replicates=REPLICATES, random_state=seed, tol=TOL)
    out = {
        "trees, shares, bootstrap": inside(found, "weights", shares[order]),
        "trees, profiles, bootstrap": inside(found, "probabilities", profiles[order]),
    }
    truth = np.stack([given_parent(*one) for one in zip(model.parents_, above[order], profiles[order], strict=True)])
    if not np.isnan(truth).any():
        out |= {f"{what}, found": contained for what, contained in out.items()}
        out["trees, given the parent, bootstrap, found"] = inside(found, "conditionals", truth)
    return out


def given_parent(parents: np.ndarray, above: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return P(bit = 1 | parent = 0, 1) of a fitted tree in the true one, (d, 2); NaN for links that are not there."""
    out = np.full((len(p), 2), np.nan)
    for j, parent in enumerate(parents):
        child, top = (j, parent) if above[j] == parent else (parent, j)
        if parent < 0:
            out[j] = p[j]
        elif above[child] == top:
            both = p[top] * (p[child] + LINK * (1.0 - p[top]))
            out[j] = (p[j] - both) / (1.0 - p[parent]), both / p[parent]
    return out


def counted(path: Path, tables: int, one: Callable[[int], dict[str, np.ndarray]]) -> tuple[dict, float]:
    """Return what intervals contain the truth, by name and table, and the processor time; continue what was stopped."""
    hits, done, seconds = {}, 0, 0.0
    if path.is_file():
        hits, done, seconds = json.loads(path.read_text())
    for start in range(done, tables, CHUNK):
        begin = time.process_time()
        for seed in range(start, min(start + CHUNK, tables)):
            for name, contained in one(seed).items():
                hits.setdefault(name, []).append(contained.tolist())
        seconds += time.process_time() - begin
        path.write_text(json.dumps([hits, start + CHUNK, seconds]))
    return hits, round(seconds, 1)


if __name__ == "__main__":
    parser = asking(__doc__)
    parser.add_argument("--only", nargs="+", choices=DESIGNS, default=DESIGNS)
    parser.add_argument("--method", choices=METHODS, help="by default both")
    parser.add_argument("--tables", type=int, help="another number of tables")
    asked = parser.parse_args()
    tables = asked.tables or (20 if asked.quick else 400)
    methods = METHODS if asked.method is None else (asked.method,)
    warnings.simplefilter("ignore")  # of single tables: what counts is the coverage over all
    designs = {
        "mixture": lambda seed: mixture(seed, methods, "mixture", OVERLAPPING),
        "apart": lambda seed: mixture(seed, methods, "mixture, classes apart", apart()),
        "map": lambda seed: plane(seed, methods, 800, 10),
        "small_map": lambda seed: plane(seed, methods, 500, 8),
        "clusters": lambda seed: clustered(seed, methods),
        "causes": lambda seed: causes(seed, methods),
        "trees": lambda seed: trees(seed, methods, 600),
        "large_trees": lambda seed: trees(seed, methods, 2400),
    }
    for design in asked.only:
        name = f"coverage_{design}" + ("" if asked.method is None else f"_{asked.method}")
        path = Path(gettempdir()) / f"hiddenbits_{name}_{'quick' if asked.quick else 'full'}.json"
        hits, seconds = counted(path, tables, designs[design])
        figures = {
            what: {"coverage": round(float(np.mean(some)), 4), "intervals": int(np.size(some)), "tables": len(some)}
            for what, some in hits.items()
        }
        if asked.quick:
            for what, figure in figures.items():
                print(f"{what}: {figure['coverage']:.3f} of {figure['intervals']}")
            print(f"{design}: {seconds} s of processor time")
        elif figures:
            record(f"inference/{name}", figures, seeds=tables, level=0.95, replicates=REPLICATES, seconds=seconds)
        path.unlink()
