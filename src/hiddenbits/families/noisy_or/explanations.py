"""What a fitted noisy-OR network says of rows: scores with errors, why ones are on, and sentences."""

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

VERB_ROWS = 1024  # rows of a block of the verbs, each of which has several chains
MOST_SHARES = 50_000_000  # numbers that `why` returns at most


class Scores(NamedTuple):
    """Log-likelihood of each row, in nats, and its standard error, 0 where it is exact."""

    log_likelihood: Floats
    errors: Floats


class Reasons(NamedTuple):
    """Why the ones of a table are on.

    Attributes
    ----------
    rows, columns : ndarray of shape (ones,)
        Where each one is.
    shares : ndarray of shape (ones, causes + 1)
        Share of each cause of the lowest layer in it, the leak's last. They add up to 1.
    """

    rows: Rows
    columns: Rows
    shares: Floats


def all_reasons(model: NoisyOr | NoisyOrSampler, params: NoisyOrParams, grid: Grid) -> Reasons:
    """Return the share of each cause in every bit that is on."""
    width, parts = params.n_causes[0] + 1, []
    with one_blas_thread():
        shared: Any = model.prepare(params)
        for part in current().executor.map_rows(partial(model.reasons, params, shared), grid):
            parts.append(part)
            if sum(len(rows) for rows, _, _ in parts) * width > MOST_SHARES:
                raise ValueError("This table has too many ones to explain each of them. Give fewer rows.")
    rows, columns, shares = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Reasons(rows, columns.astype(np.intp), shares)


def sentences(
    params: NoisyOrParams, codes: Floats, table: Table, names: list[str], n_bits: int, what: str
) -> list[str]:
    """Return a sentence for each row of a table with these codes; `what` is what a row is."""
    titles = [[", ".join(names[j] for j in strongest(row, n_bits)) for row in values] for values in reach(params)]
    cuts, lines = np.cumsum(params.n_causes)[:-1], []
    for row, bits in enumerate(table.source.read(0, table.shape[0])[0].to_dense()):
        on = [np.flatnonzero(part) for part in np.split(codes[row], cuts)]
        line = sentence(params, titles, np.flatnonzero(bits), names, on)
        lines.append(f"{what[:1].upper()}{what[1:]} {row} {line}")
    return lines


# What a fitted noisy-OR network says in words: lists of its causes, and sentences about rows.


def reach(params: NoisyOrParams) -> list[Floats]:
    """Return P(bit on | this unit alone is on, leaks apart) for the units of each layer, (units, columns).

    Of layers above the lowest: each unit below may be switched on, and then may switch the bit on, independently.
    """
    found = [params.layers[0][:-1]]
    for f in params.layers[1:]:
        below = found[-1]
        found.append(1.0 - np.array([np.prod(1.0 - g[:, None] * below, axis=0) for g in f[:-1]]))
    return found


def strongest(values: Floats, n: int) -> Rows:
    """Return the places of the n largest, the largest first; the first of equal ones."""
    return np.argsort(-values, kind="stable")[:n]


def described(params: NoisyOrParams, names: list[str], n_bits: int) -> list[str]:
    """Return a line for each unit, the lowest layer first, those first that bring the most ones into the table."""
    lines = []
    for number, (values, activity) in enumerate(zip(reach(params), params.activity, strict=True)):
        layer = f"layer {number + 1}, " if len(params.n_causes) > 1 else ""
        for i in strongest(activity * values.sum(axis=1), len(values)):
            bits = ", ".join(f"{names[j]} {values[i, j]:.2f}" for j in strongest(values[i], n_bits))
            lines.append(f"{layer}cause {i}, on in {activity[i]:.1%} of rows: {bits}")
    return lines


def _in_words(words: list[str]) -> str:
    """Return words as one says them: a, b and c."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def sentence(params: NoisyOrParams, titles: list[list[str]], ones: Rows, names: list[str], on: list[Rows]) -> str:
    """Return how a row is explained: what follows its name in a sentence.

    `titles` are the names of the units of each layer, `ones` the columns of the row that are on, and `on` the units
    of each layer that are. A bit goes to the strongest of the causes that are on, or to the leak.
    """
    w, leak = params.w[0], params.n_causes[0]
    candidates = np.append(on[0], leak)
    main = candidates[w[np.ix_(candidates, ones)].argmax(axis=0)] if len(ones) else candidates[:0]
    said = []
    for i in on[0]:
        mine = [names[j] for j in ones[main == i]]
        said.append(f"cause {i} ({titles[0][i]}){f' for {_in_words(mine)}' if mine else ', which adds to the others'}")
    text = f"is explained by {'; '.join(said)}" if said else "needs no cause"
    for number in range(1, len(on)):
        above = [f"cause {i} ({titles[number][i]})" for i in on[number]]
        if above:
            text += f"; {'behind them' if number == 1 else 'behind those'} {_in_words(above)} of layer {number + 1}"
    rest = [names[j] for j in ones[main == leak]]
    if rest and said:
        text += f"; {_in_words(rest)} came without a cause"
    return text + "."
