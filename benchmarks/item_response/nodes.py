"""Whether the default number of nodes is enough: fits with it beside fits with many more, on the same simulated tables.

    python -m benchmarks.item_response.nodes --quick    (500 rows; nothing is written)
    python -m benchmarks.item_response.nodes --full     (minutes)

- one dimension: the same fit with 1,001 nodes on [-8, 8] in all its iterations, once with the default tolerance and once with 1e-11.
  Goal: log-likelihoods within 1e-3 nats a row, slopes within .5%. Slopes of continuous columns and noise variances count as slopes.
- two and three dimensions: the log-likelihood of each row at the fitted items, on a grid with half the spacing that reaches 6 on all
  axes, in NumPy. Goal: the means of the rows within 1e-3 nats.
"""

import warnings
from dataclasses import fields
from typing import Any

import numpy as np
from benchmarks.item_response.simulated import Items, even_grid, items, log_likelihoods
from benchmarks.record import asked_quick, record

from hiddenbits import ItemResponseModel
from hiddenbits.families.item_response.grid import spacing_of
from hiddenbits.families.item_response.model import ItemResponse
from hiddenbits.model_api import Stage

SEED, ROWS, NODES, RADIUS = 0, 2_000, 1_001, 8.0
STEEP, TIGHT = (1.0, 3.0), 1e-11  # slopes from .. to ..; a tolerance at which only the nodes count
TABLES = {
    "20 binary items, slopes 1 to 3": items(SEED, 20, slopes=np.linspace(*STEEP, 20)),
    "100 binary items, slopes 1 to 3": items(SEED, 100, slopes=np.linspace(*STEEP, 100)),
    "100 binary items, slopes around 1.2": items(SEED, 100),
    "10 binary, 9 graded items, a continuous column with noise .05": items(SEED, 10, 9, (0.05,)),
}


class ManyNodes(ItemResponse):
    """The same model with one stage and 1,001 nodes."""

    def first_points(self) -> np.ndarray:
        return even_grid(RADIUS, NODES)

    def stages(self) -> tuple[Stage[Any, Any], ...]:
        return (Stage(self),)


class ManyNodesModel(ItemResponseModel):
    def _model(self) -> ManyNodes:
        model = super()._model()
        return ManyNodes(**{field.name: getattr(model, field.name) for field in fields(model)})


def compared(model: ItemResponseModel, many: int, apart: np.ndarray, slopes: float | None = None) -> dict[str, Any]:
    """Return what the nodes change: the mean of the rows' log-likelihoods, that of one row, the worst slope."""
    return {
        "nodes": model.n_nodes_,
        "many": many,
        "log_likelihood": float(f"{abs(apart.mean()):.1g}"),
        "worst_row": float(f"{np.abs(apart).max():.1g}"),
        "slopes": slopes and float(f"{slopes:.2g}"),
    }


def one_dimension(truth: Items, rows: int, **settings: Any) -> dict[str, Any]:
    X, _ = truth.table(np.random.default_rng([SEED, len(truth.names)]), rows)
    models = [
        of(column_types=truth.types, random_state=SEED, **settings).fit(X) for of in (ItemResponseModel, ManyNodesModel)
    ]
    ours, fine = (np.concatenate([model.components_[0], model.noise_variances_]) for model in models)
    apart = models[0].score_samples(X) - models[1].score_samples(X)
    return compared(models[0], NODES, apart, np.abs(ours / fine - 1.0).max())


def some_dimensions(q: int, columns: int, rows: int) -> dict[str, Any]:
    rng = np.random.default_rng([SEED, q])
    slopes = 0.4 * rng.standard_normal((columns, q))
    slopes[np.arange(columns), np.arange(columns) % q] += 1.5
    X = Items(slopes, tuple(rng.standard_normal((columns, 1)))).table(rng, rows)[0].to_numpy()
    model = ItemResponseModel(q, random_state=SEED).fit(X)
    found, finer = Items(model.slopes_, tuple(model.intercepts_[:, None])), spacing_of(model._params.points) / 2.0
    n = int(np.ceil(6.0 / finer))
    points = even_grid(n * finer, 2 * n + 1, q)
    return compared(model, len(points), model.score_samples(X) - log_likelihoods(X, found, points))


def main() -> None:
    quick = asked_quick(str(__doc__))
    warnings.simplefilter("ignore")
    rows, figures = 500 if quick else ROWS, dict[str, Any]()
    for name, truth in TABLES.items():
        figures[f"{name}; default tolerance"] = one_dimension(truth, rows)
        figures[f"{name}; tolerance {TIGHT:g}"] = one_dimension(truth, rows, tol=TIGHT)
    for q, columns in ((2, 20), (3, 30)):
        figures[f"{q} dimensions, {columns} binary items; evaluated only"] = some_dimensions(q, columns, rows)
    print(*figures.items(), sep="\n")
    if not quick:
        record("item_response/nodes", figures, seeds=SEED, aloud=False, rows=rows, goals=[1e-3, 0.005])


if __name__ == "__main__":
    main()
