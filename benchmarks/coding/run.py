"""What a pass of binary sparse coding costs beside the two matrix products that nothing can spare.

    python -m benchmarks.coding.run --full | --quick

The size of the paper's images: 700 causes, rows of 26 x 26 numbers, 10 candidates of which 8 may be on. The products are
Y W and Y' <s>, block by block, one BLAS thread, with nothing else done. A pass is `expect` over all blocks, in one
thread, and the update; `benchmarks/bare` counts the products over states as bare, too. Products, pass and pass with the data cut are timed in turn, and ratios are of neighbours.
"""

from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from benchmarks.bare.coding import problem, two_products
from benchmarks.bare.turns import SEED
from benchmarks.record import asked_quick, record

from hiddenbits.data.mixed.reals import open_reals
from hiddenbits.engine import Key, Local, block_height, one_blas_thread
from hiddenbits.engine.block_statistics import block_statistics
from hiddenbits.families.binary_sparse_coding.model import SparseCoding
from hiddenbits.families.binary_sparse_coding.params import CodingParams
from hiddenbits.families.binary_sparse_coding.schedule import Schedule
from hiddenbits.families.binary_sparse_coding.truncated_posterior import Prepared

H, D, ACTIVE = 700, 676, 8.0
GOALS = {"float64": 2.0, "float32": 2.3}
DIRECT_GOAL, DIRECT_ROWS = 40, 64


def direct_energies(now: Prepared, Y: Any, chosen: Any) -> None:
    """Make the energies of the same states by their definition, |y - W s|^2 of every state of a row."""
    for y, candidates in zip(Y, chosen, strict=True):
        apart = y - now.states.states.astype(Y.dtype) @ now.W[:, candidates].T
        np.einsum("sd,sd->s", apart, apart)
        alone = y[:, None] - now.W
        np.einsum("dh,dh->h", alone, alone)


def measured(n_rows: int, repeats: int, dtype: Any) -> dict[str, Any]:
    """Return medians of ratios and times of one type of numbers."""
    params, Y, s = problem(n_rows, D, H, ACTIVE, dtype)
    model = SparseCoding(H, 10, 8, 10, 8, cut=False, schedule=Schedule(200), dtype=dtype)
    with_cut = replace(model, cut=True)
    late = replace(params, step=np.asarray(199.0))
    height = block_height(model.footprint(D, float(D)))
    grid, executor = open_reals(Y).grid(height), Local()
    W, on = params.fields.astype(dtype), s.astype(dtype)

    def one_pass(model: SparseCoding, params: CodingParams) -> None:
        passes = partial(executor.reduce, grid=grid)
        looked = model.before_pass(params, passes) if model.cut else params
        model.update(looked, passes(partial(block_statistics, model, looked, model.prepare(looked), Key(0), None)))

    def e_step() -> None:
        executor.reduce(partial(block_statistics, model, params, model.prepare(params), Key(0), None), grid)

    now, few = model.prepare(params).now, Y[:DIRECT_ROWS]
    chosen = now.whole(few, np.einsum("nd,nd->n", few, few)).candidates
    jobs = {
        "products": partial(two_products, Y, W, on, height),
        "pass": partial(one_pass, model, params),
        "pass with the cut": partial(one_pass, with_cut, late),
        "E-step": e_step,
        "direct energies": partial(direct_energies, now, few, chosen),
    }
    times: dict[str, list[float]] = {name: [] for name in jobs}
    with one_blas_thread():
        for repeat in range(repeats + 1):
            for name, job in jobs.items():
                began = perf_counter()
                job()
                if repeat:  # the first round warms up
                    times[name].append(perf_counter() - began)
    each = {name: np.array(t) / (DIRECT_ROWS if name == "direct energies" else n_rows) for name, t in times.items()}
    to_products = {name: each[name] / each["products"] for name in ("pass", "pass with the cut")}
    return {
        "rows": n_rows,
        "block_height": height,
        "microseconds_a_row": {name: round(float(np.median(t)) * 1e6, 1) for name, t in each.items()},
        "ratio": round(float(np.median(to_products["pass"])), 2),
        "ratio_each": [round(float(ratio), 2) for ratio in to_products["pass"]],
        "ratio_with_the_cut": round(float(np.median(to_products["pass with the cut"])), 2),
        "goal": GOALS[dtype],
        "direct_times_slower_than_the_e_step": round(float(np.median(each["direct energies"] / each["E-step"])), 1),
        "direct_goal": DIRECT_GOAL,
    }


def main() -> None:
    quick = asked_quick(__doc__ or "")
    n_rows, repeats = (4096, 2) if quick else (20_000, 15)
    figures = {dtype: measured(n_rows, repeats, dtype) for dtype in GOALS}
    record("coding/run_quick" if quick else "coding/run", figures, seeds=SEED)


if __name__ == "__main__":
    main()
