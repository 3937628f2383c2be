"""Explanations of rows by a fitted noisy-OR network: responsibilities of causes for 1s, and sentences."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.data import Grid, Table
from hiddenbits.engine import current, one_blas_thread
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.model_gibbs import NoisyOrSampler
from hiddenbits.families.noisy_or.params import NoisyOrParams

BLOCK_ROWS = 1024  # in a block of row functions; each row has several chains
MOST_SHARES = 50_000_000  # that `responsibilities` returns


class NetworkScores(NamedTuple):
    """Log-likelihood of each row, in nats, and its standard error, 0 if it is exact."""

    log_likelihood: Floats
    errors: Floats


class Responsibilities(NamedTuple):
    """Responsibility of each cause for every 1 of a table.

    Attributes
    ----------
    rows, columns : ndarray of shape (ones,)
        Row and column of each 1.
    shares : ndarray of shape (ones, causes + 1)
        Responsibility of each cause of the lowest layer, the leak's last. They add up to 1.
    """

    rows: Rows
    columns: Rows
    shares: Floats


def responsibilities_of_rows(model: NoisyOr | NoisyOrSampler, params: NoisyOrParams, grid: Grid) -> Responsibilities:
    """Return the responsibility of each cause for every 1."""
    width, parts = params.n_causes[0] + 1, []
    with one_blas_thread():
        shared: Any = model.prepare(params)
        for part in current().executor.map_rows(partial(model.responsibilities, params, shared), grid):
            parts.append(part)
            if sum(len(rows) for rows, _, _ in parts) * width > MOST_SHARES:
                raise ValueError("This table has too many 1s to explain each of them. Pass fewer rows.")
    rows, columns, shares = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Responsibilities(rows, columns.astype(np.intp), shares)


def sentences(params: NoisyOrParams, codes: Floats, table: Table, names: list[str], n_top: int, noun: str) -> list[str]:
    """Return a sentence for each row of a table with these codes; `noun` names a row, such as "basket"."""
    labels = [[", ".join(names[j] for j in largest(row, n_top)) for row in values] for values in cause_effects(params)]
    cuts, lines = np.cumsum(params.n_causes)[:-1], []
    for row, x in enumerate(table.source.read(0, table.shape[0])[0].to_dense()):
        active = [np.flatnonzero(part) for part in np.split(codes[row], cuts)]
        lines.append(f"{noun[:1].upper()}{noun[1:]} {row} {clause(params, labels, np.flatnonzero(x), names, active)}")
    return lines


# Descriptions in words: lists of causes, and sentences about rows.


def cause_effects(params: NoisyOrParams) -> list[Floats]:
    """Return P(cell = 1 | only this unit is on, without leaks) for the units of each layer, (units, columns).

    Units above the lowest layer switch on units below, which switch on columns, all independently.
    """
    effects = [params.layers[0][:-1]]
    for f in params.layers[1:]:
        below = effects[-1]
        effects.append(1.0 - np.array([np.prod(1.0 - g[:, None] * below, axis=0) for g in f[:-1]]))
    return effects


def largest(values: Floats, n: int) -> Rows:
    """Return the positions of the n largest values, the largest first."""
    return np.argsort(-values, kind="stable")[:n]


def cause_lines(params: NoisyOrParams, names: list[str], n_bits: int) -> list[str]:
    """Return a line for each unit, the lowest layer first, by the number of 1s that the unit accounts for."""
    lines = []
    for number, (values, activity) in enumerate(zip(cause_effects(params), params.activity, strict=True)):
        layer = f"layer {number + 1}, " if len(params.n_causes) > 1 else ""
        for i in largest(activity * values.sum(axis=1), len(values)):
            bits = ", ".join(f"{names[j]} {values[i, j]:.2f}" for j in largest(values[i], n_bits))
            lines.append(f"{layer}cause {i}, on in {activity[i]:.1%} of rows: {bits}")
    return lines


def _in_words(words: list[str]) -> str:
    """Return words as a list in a sentence: a, b and c."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def clause(params: NoisyOrParams, labels: list[list[str]], ones: Rows, names: list[str], active: list[Rows]) -> str:
    """Return the explanation of a row: the part of the sentence after the row's name.

    `labels` are names for the units of each layer, `ones` the columns of the row that are 1, and `active` the
    units of each layer that are on. A 1 is explained by the strongest of the causes that are on, or by the leak.
    """
    w, leak = params.w[0], params.n_causes[0]
    candidates = np.append(active[0], leak)
    main_causes = candidates[w[np.ix_(candidates, ones)].argmax(axis=0)] if len(ones) else candidates[:0]
    parts = []
    for i in active[0]:
        explained = [names[j] for j in ones[main_causes == i]]
        reason = f" for {_in_words(explained)}" if explained else ", which adds to the others"
        parts.append(f"cause {i} ({labels[0][i]}){reason}")
    sentence = f"is explained by {'; '.join(parts)}" if parts else "needs no cause"
    for number in range(1, len(active)):
        above = [f"cause {i} ({labels[number][i]})" for i in active[number]]
        if above:
            sentence += f"; {'behind them' if number == 1 else 'behind those'} {_in_words(above)} of layer {number + 1}"
    leaked = [names[j] for j in ones[main_causes == leak]]
    if leaked and parts:
        sentence += f"; {_in_words(leaked)} came without a cause"
    return sentence + "."
