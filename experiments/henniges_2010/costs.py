"""What a pass costs: seconds of the library's E-step and M-step as H, H' and gamma grow, one of them at a time."""

from math import comb
from time import process_time
from typing import Any

import numpy as np

from hiddenbits.data.mixed.reals import open_reals
from hiddenbits.families.binary_sparse_coding.model import SparseCoding
from hiddenbits.families.binary_sparse_coding.params import EVERY_ROW, CodingParams
from hiddenbits.families.binary_sparse_coding.schedule import Schedule
from hiddenbits.model_api import Key

SEEDS = {"rows and fields": "default_rng(0)"}
ROWS, COLUMNS, AGAIN, QUICK = 1000, 100, 3, 100
GROWS = {  # what grows -> (H, H', gamma)
    "H": [(H, 6, 3) for H in (100, 200, 400, 800, 1600)],
    "H'": [(100, c, 3) for c in (4, 8, 16)],
    "gamma": [(100, 10, g) for g in (1, 2, 3, 4, 6, 8)],
}


def count_states(causes: int, candidates: int, active: int) -> int:
    """States of equation 4: none, every cause alone, and 2 to gamma of the candidates."""
    return 1 + causes + sum(comb(candidates, k) for k in range(2, active + 1))


def one(rows: int, causes: int, candidates: int, active: int) -> dict[str, Any]:
    """Seconds of the processor, the least of a few: of rows and fields that are noise."""
    rng = np.random.default_rng(0)
    block = open_reals(rng.standard_normal((rows, COLUMNS))).grid(rows).blocks[0]
    numbers = (np.asarray(number) for number in (1.0, 1.0, 0.0))  # noise, spread, step
    fields = rng.standard_normal((COLUMNS, causes)) / 10.0
    params = CodingParams(fields, np.full(causes, 2.0 / causes), *numbers, np.zeros(2), np.array(EVERY_ROW))
    states = {"n_candidates": candidates, "max_active": active, "wide_candidates": candidates, "wide_active": active}
    model = SparseCoding(causes, **states, schedule=Schedule(10))
    spent = []
    for _ in range(AGAIN):
        begin = process_time()
        stats, _ = model.expect(params, model.prepare(params), block, None, Key(0))
        between = process_time()
        model.update(params, stats)
        spent.append((between - begin, process_time() - between))
    e_step, m_step = np.min(spent, axis=0).tolist()
    sizes = {"causes": causes, "candidates": candidates, "active": active}
    return {**sizes, "states": count_states(causes, candidates, active), "e_step": e_step, "m_step": m_step}


def measure(*, full: bool) -> dict[str, Any]:
    """What grows -> size, states and seconds of each."""
    rows = ROWS if full else QUICK
    return {"rows": rows, "columns": COLUMNS} | {n: [one(rows, *size) for size in sizes] for n, sizes in GROWS.items()}
