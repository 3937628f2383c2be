"""What every model is, and what it promises.

A model is a frozen dataclass of hyperparameters with pure functions of arrays. The engine calls

    start(summary, key, passes)      -> params            from column means and keyed noise; `passes` adds over blocks
    prepare(params)                  -> shared            once a pass
    expect(params, shared, block, carry, key) -> stats, carry     statistics add up; the bound is one of them
    objective(params, stats)         -> float             what must not fall: the bound and the log prior
    update(params, stats)            -> params
    grow(params, key)                -> params or None    the next stage of a staged start, None when complete
    pseudo_statistics(params, weight) -> stats            rows just as the model expects, to go on online from a fit

and, where the model can be extrapolated, `to_vector` and `from_vector`; where its updates are steps to be measured,
`untried`; where a fit has a planned course, `pending`; where all rows have to be looked at before a pass, `survey`;
where a fit that is over may be mended, `repaired`; where statistics do not outlive the parameters that they were
counted with, `online`, the form of the model that online EM goes by. The verbs of the estimators rest on the row
functions (`log_likelihood`, `posterior`, ...). `log_joint` is the definition that the tests enumerate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Promises:
    """What a model keeps to; the contract tests read it. Every "no" carries its reason in `why`.

    Attributes
    ----------
    likelihood : {"exact", "bound", "estimate"}
        What the bound in the statistics, and `log_likelihood`, are.
    monotone : bool
        The objective never falls from one pass to the next.
    deterministic : bool
        `expect` draws no random numbers.
    carry : bool
        Rows keep memory from pass to pass.
    accelerates : bool
        `to_vector` and `from_vector` exist, so that the engine may extrapolate.
    oracle : {"enumeration", "quadrature"}
        How the tests compute the truth from `log_joint`.
    why : mapping of str to str
        The reason for each promise that is not given.
    hopes : bool
        `untried` exists: an update may be a step that a further pass has to measure, and the engine first looks where
        the whole step leads, going back if the objective falls.
    closed_form : bool
        The statistics do not depend on the parameters, and the update on nothing but them: one pass is a fit. What
        `objective` says need not be at its maximum there.
    scheduled : bool
        `pending` exists: a fit goes by a planned course, and is not judged before its end.
    surveys : bool
        `survey` exists: before a pass the model may look at all rows, to decide which of them count.
    online_form : bool
        `online` exists: what the statistics mean depends on the parameters that they were counted with, so that a
        running average needs another form of them, and of the update.
    online_gap : float
        The most that `partial_fit`, three times through the rows, may be behind `fit` on held-out rows, in nats a row:
        tests/contracts/test_online.py. More than 0.05 has its reason in `why`.
    """

    likelihood: Literal["exact", "bound", "estimate"]
    monotone: bool
    deterministic: bool
    carry: bool
    accelerates: bool
    oracle: Literal["enumeration", "quadrature"]
    why: Mapping[str, str] = field(default_factory=dict)
    hopes: bool = False
    closed_form: bool = False
    scheduled: bool = False
    surveys: bool = False
    online_form: bool = False
    online_gap: float = 0.05


@dataclass(frozen=True)
class Footprint:
    """What a block costs, so that the engine can choose its height.

    Attributes
    ----------
    working : float
        Numbers held for each row while a block is worked on.
    statistics : float
        Numbers in the statistics of a block.
    flops : float
        Arithmetic for each row.
    """

    working: float
    statistics: float
    flops: float


def bic(log_likelihood: float, n_parameters: int, weight: float) -> float:
    """Return the Bayesian information criterion, -2 ln L + p ln N: lower is better."""
    return float(-2.0 * log_likelihood + n_parameters * np.log(weight))
