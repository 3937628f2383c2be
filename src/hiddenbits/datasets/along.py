"""Small tables that come along with the package: two simulated ones, and the list for ``hiddenbits example``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hiddenbits import Table, open_table
from hiddenbits.datasets.named import load_votes, load_zoo

PRODUCTS = {  # what a shopper for breakfast, a barbecue or baking buys, how often in ten
    "bread": (7, 4, 1),
    "butter": (6, 1, 8),
    "jam": (5, 0, 1),
    "coffee": (6, 1, 2),
    "milk": (7, 1, 6),
    "sausages": (1, 8, 0),
    "charcoal": (0, 6, 0),
    "mustard": (1, 6, 0),
    "beer": (1, 7, 1),
    "flour": (1, 0, 8),
    "sugar": (2, 1, 7),
    "eggs": (4, 1, 8),
}
SHARES = (0.5, 0.2, 0.3)


def load_baskets() -> Table:
    """Return simulated shopping baskets: 1,000 baskets, 12 products. They were drawn, not observed.

    Shoppers are of three kinds, who shop for breakfast (half of them), a barbecue (.2) or baking (.3), and buy each
    product independently with a probability that their kind has.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> from hiddenbits.datasets import load_baskets
    >>> load_baskets().shape
    (1000, 12)
    """
    rng = np.random.default_rng(1)
    kinds = rng.choice(3, 1000, p=SHARES)
    often = np.array(list(PRODUCTS.values()))[:, kinds].T / 10
    return open_table((rng.random(often.shape) < often).astype(np.uint8), names=PRODUCTS)


def load_exam() -> Table:
    """Return a simulated exam: 500 students, 20 questions, 1 for a right answer. It was drawn, not observed.

    The logit of a right answer is discrimination times (ability - difficulty); abilities are standard normal. Some
    students did not reach the last questions: these cells are blank.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> from hiddenbits.datasets import load_exam
    >>> exam = load_exam()
    >>> exam.shape, exam.names[:2], exam.n_missing > 0
    ((500, 20), ('Q1', 'Q2'), True)
    """
    rng = np.random.default_rng(2)
    ability, difficulty = rng.normal(size=(500, 1)), np.linspace(-2, 2, 20)
    chance = 1 / (1 + np.exp(-rng.uniform(0.7, 2.0, 20) * (ability - difficulty)))
    right = (rng.random(chance.shape) < chance).astype(float)
    reached = np.where(rng.random(500) < 0.1, rng.integers(14, 20, 500), 20)
    right[np.arange(20) >= reached[:, None]] = np.nan
    return open_table(right, names=[f"Q{j}" for j in range(1, 21)])


def _of_table(load: Callable[[], Table]) -> tuple[list[str], list[list[str]]]:
    table = load()
    cells = [["" if np.isnan(cell) else str(int(cell)) for cell in row] for row in table.to_float()]
    return list(table.names or ()), cells


def _of_votes() -> tuple[list[str], list[list[str]]]:
    votes = load_votes()
    return _of_table(lambda: open_table(votes.X, names=votes.names))


def _of_zoo() -> tuple[list[str], list[list[str]]]:
    zoo = load_zoo()
    names, cells = _of_table(lambda: open_table(zoo.X, names=zoo.names))
    rows = zip(cells, zoo.legs, zoo.type, strict=True)
    return [*names, "legs", "type"], [[*row, str(legs), str(kind)] for row, legs, kind in rows]


EXAMPLES: dict[str, Callable[[], tuple[list[str], list[list[str]]]]] = {
    "baskets": lambda: _of_table(load_baskets),
    "exam": lambda: _of_table(load_exam),
    "votes": _of_votes,
    "zoo": _of_zoo,
}


def example_rows(name: str) -> tuple[list[str], list[list[Any]]]:
    """Return (names of the columns, rows of text) of an example, as ``hiddenbits example`` writes it.

    Parameters
    ----------
    name : {"baskets", "exam", "votes", "zoo"}
        Which one. The first two are simulated.

    Examples
    --------
    >>> from hiddenbits.datasets import example_rows
    >>> example_rows("baskets")[0][:3]
    ['bread', 'butter', 'jam']
    """
    if name not in EXAMPLES:
        raise ValueError(f"There is no example {name!r}. Available: {', '.join(EXAMPLES)}.")
    return EXAMPLES[name]()
