"""A whole pass of a fit to a small table, loop and M-step included, beside EM written by hand.

The other jobs measure the E-step. On a small table a fit spends its time around it: judging a pass, making the next
position, clipping and taking logarithms. By hand that is a dozen lines of NumPy, which make the same passes: `same`
compares the objectives.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import hiddenbits
from hiddenbits.data.layout import binary_columns
from hiddenbits.data.summary import ColumnSums
from hiddenbits.engine import Local, Outcome, Settings, block_height, fit_em
from hiddenbits.families.nodes.classes import Classes
from hiddenbits.families.nodes.params import NodeParams
from hiddenbits.maths.numerics import TINY
from hiddenbits.model_api import Key, Passes

from .turns import SEED, Job

PASSES = 300
STRENGTH = 1.0  # of the prior, in pseudo-rows


@dataclass(frozen=True)
class FromHere(Classes):
    """Classes that begin with given parameters: a start by k-means takes as long as many passes."""

    begin: Any = None

    def start(self, summary: ColumnSums, key: Key, passes: Passes) -> NodeParams:
        """Return the given parameters."""
        return self.begin


def em_by_hand(x: Any, pi: Any, theta: Any, m: Any, passes: int = PASSES) -> list[float]:
    """Return the objective of each pass of EM, with the prior Beta(1 + s m, 1 + s (1 - m)) of each probability."""
    trace, m, s = [], m[:, None], STRENGTH
    for _ in range(passes):
        on, off = np.log(theta), np.log1p(-theta)
        scores = x @ (on - off) + (off.sum(axis=0) + np.log(pi))
        largest = scores.max(axis=1, keepdims=True)
        r = np.exp(scores - largest)
        total = r.sum(axis=1, keepdims=True)
        r /= total
        bound = float((largest + np.log(total)).sum())
        trace.append(bound + s * float((m * on + (1.0 - m) * off).sum()))
        n = r.sum(axis=0)
        pi = n / n.sum()
        theta = np.clip((x.T @ r + s * m) / (n + s), TINY, 1.0 - TINY)
    return trace


def whole_pass(n: int, d: int, K: int, *, accelerate: bool = True) -> Job:
    """Return the job: so many passes of a fit on one thread, from the same parameters."""
    rng = np.random.default_rng(SEED)
    X = (rng.random((n, d)) < rng.uniform(0.1, 0.9, (4, d))[rng.integers(0, 4, n)]).astype(np.uint8)
    m, begin = X.mean(axis=0), rng.uniform(0.2, 0.8, (d, K))
    model = FromHere(K, STRENGTH, begin=NodeParams.of(np.full(K, 1.0 / K), begin.copy(), m.copy(), binary_columns(d)))
    table = hiddenbits.open_table(X)
    grid = table.grid(block_height(model.footprint(d, float(d))))
    settings = Settings(max_iter=PASSES, tol=-1.0, accelerate=accelerate)  # by hand nothing stops either
    return Job(
        "LatentClassAnalysis",
        "guard",
        table=f"{n:,} x {d:,}",
        hidden=f"{K} classes",
        dtype="float64",
        storage="dense",
        ours=partial(fit_em, model, grid, Local(), settings, None, None),
        bare=partial(em_by_hand, X.astype(np.float64), np.full(K, 1.0 / K), begin, m),
        what=f"{PASSES} passes of a fit" if accelerate else f"{PASSES} plain passes of a fit",
    )


def same(job: Job) -> bool:
    """Return whether a job of plain passes and EM by hand find the same objectives."""
    ours: Outcome = job.ours()
    return bool(np.allclose(ours.trace, job.bare(), rtol=1e-10, atol=0.0))
