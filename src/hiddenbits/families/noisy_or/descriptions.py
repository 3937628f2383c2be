"""What a fitted noisy-OR network says in words: lists of its causes, and sentences about rows."""

from __future__ import annotations

import numpy as np

from hiddenbits.array_types import Floats, Rows
from hiddenbits.families.noisy_or.params import NoisyOrParams


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


def listed(words: list[str]) -> str:
    """Return words as one says them: a, b and c."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def sentence(params: NoisyOrParams, titles: list[list[str]], ones: Rows, names: list[str], on: list[Rows]) -> str:
    """Return how a row is explained: what follows its name in a sentence.

    `titles` are the names of the units of each layer, `ones` the columns of the row that are on, and `on` the units
    of each layer that are. A bit goes to the strongest of the causes that are on, or to the leak.
    """
    w, leak = params.weights[0], params.n_causes[0]
    candidates = np.append(on[0], leak)
    main = candidates[w[np.ix_(candidates, ones)].argmax(axis=0)] if len(ones) else candidates[:0]
    said = []
    for i in on[0]:
        mine = [names[j] for j in ones[main == i]]
        said.append(f"cause {i} ({titles[0][i]}){f' for {listed(mine)}' if mine else ', which adds to the others'}")
    text = f"is explained by {'; '.join(said)}" if said else "needs no cause"
    for number in range(1, len(on)):
        above = [f"cause {i} ({titles[number][i]})" for i in on[number]]
        if above:
            text += f"; {'behind them' if number == 1 else 'behind those'} {listed(above)} of layer {number + 1}"
    rest = [names[j] for j in ones[main == leak]]
    if rest and said:
        text += f"; {listed(rest)} came without a cause"
    return text + "."
