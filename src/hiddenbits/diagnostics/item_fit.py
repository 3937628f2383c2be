"""Fit of single items and persons under a map: S-X^2, infit, outfit, l_z."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.diagnostics.maps import on_grid, score_shares
from hiddenbits.diagnostics.tables import PIECE_CELLS, cells, like, opened, refuse_blanks, total
from hiddenbits.display import names_of
from hiddenbits.tables import Piece, Table, map_pieces

LEAST_EXPECTED = 1.0  # of a cell of S-X^2, as in mirt
WIDEST = np.sqrt(2.0)  # of the spread of a mean square, as in mirt
LEAST_VARIANCE = 1e-5**0.5  # of a bit in a mean square, as in mirt: one cell must not outweigh all others
SMALLEST = 1e-12  # probability of a bit that a map takes for impossible


def item_fit(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Any:
    """Return how well a map fits each column: S-X^2 with its p-value, infit and outfit.

    S-X^2 (Orlando and Thissen 2000) compares, among rows with the same number of ones, the share of ones in a column
    with what the map expects, exact by the recursion of Lord and Wingersky; scores with few rows are joined as mirt
    does it. Infit and outfit are mean squares of residuals at the posterior means (EAP), weighted by the variance of
    the bits or not; 1 is expected, roughly: at estimated places they are smaller, and their z are not N(0, 1).

    Parameters
    ----------
    model : fitted estimator
        `LogisticPCA` or `ClippedPCA` of 1 to 3 dimensions.
    X : table of shape (rows, columns)
        The table of the fit.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row; a weight of 2 counts as two equal rows.

    Returns
    -------
    items : frame or structured ndarray
        A frame of X's library if X is a frame. Columns "item", "outfit", "z_outfit", "infit", "z_infit", "s_x2", "df",
        "p" and "rmsea". S-X^2 is defined for complete rows: NaN where the table has blanks, and where df would be 0.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((500, 6)) < 1 / (1 + np.exp(-1.5 * rng.standard_normal((500, 1))))).astype(int)
    >>> model = LogisticPCA(1, method="quadrature", ridge=0, random_state=0).fit(X)
    >>> found = diagnostics.item_fit(model, X)
    >>> bool((found["p"] > 0.001).all())
    True
    """
    table = opened(model, X, sample_weight)
    on_grid(model)  # refuses what is no map
    sums = total(lambda piece: _item_sums(model, piece), table)
    outfit, z_outfit, infit, z_infit = _mean_squares(*sums)
    d, weight = table.shape[1], float(table.shape[0] if table.weights is None else table.weights.sum())
    s_x2, df = np.full(d, np.nan), np.zeros(d)
    if not table.n_missing:
        s_x2, df = _orlando_thissen(model, table)
    tested = df > 0
    columns: dict[str, AnyArray] = {
        "item": np.asarray(names_of(model, table), object),
        "outfit": outfit,
        "z_outfit": z_outfit,
        "infit": infit,
        "z_infit": z_infit,
        "s_x2": np.where(tested, s_x2, np.nan),
        "df": df.astype(np.int64),
        "p": np.where(tested, chi2.sf(s_x2, np.maximum(df, 1.0)), np.nan),
        "rmsea": np.where(tested, _rmsea(s_x2, df, weight), np.nan),
    }
    return like(X, columns)


def person_fit(model: Any, X: object) -> Any:
    """Return how well a map fits each row: infit, outfit and l_z.

    All at the posterior mean of the row (EAP), over its observed cells. l_z (Drasgow, Levine and Williams 1985; mirt's
    Zh) is the log-likelihood of the row, less its expectation, in standard deviations: far below 0 for rows that answer
    against the odds. At an estimated place it is not N(0, 1) but narrower: -1.96 flags too few rows.

    Parameters
    ----------
    model : fitted estimator
        `LogisticPCA` or `ClippedPCA` of 1 to 3 dimensions.
    X : table of shape (rows, columns)
        As for its `fit`.

    Returns
    -------
    rows : frame or structured ndarray
        A frame of X's library if X is a frame. Columns "outfit", "z_outfit", "infit", "z_infit" and "l_z".

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((500, 6)) < 1 / (1 + np.exp(-1.5 * rng.standard_normal((500, 1))))).astype(int)
    >>> model = LogisticPCA(1, method="quadrature", ridge=0, random_state=0).fit(X)
    >>> diagnostics.person_fit(model, X)["l_z"].shape
    (500,)
    """
    table = opened(model, X)
    on_grid(model)
    found = map_pieces(lambda piece: _person_figures(model, piece), table, max(1, PIECE_CELLS // table.shape[1]))
    figures = np.concatenate(list(found))
    return like(X, dict(zip(("outfit", "z_outfit", "infit", "z_infit", "l_z"), figures.T.copy(), strict=True)))


def _residuals(model: Any, piece: Piece) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return p, the observed, squared residuals, variances and fourth moments of cells, 0 where not observed."""
    x, seen = cells(piece)
    p = np.asarray(model.inverse_transform(model.transform(piece.table)))
    variance = p * (1.0 - p)
    fourth = variance * (1.0 - 3.0 * variance)  # (1 - p)^4 p + p^4 (1 - p)
    return p, seen, seen * (x - p) ** 2, seen * np.maximum(variance, LEAST_VARIANCE), seen * fourth


def _terms(seen: Floats, squares: Floats, variance: Floats, fourth: Floats) -> tuple[Floats, ...]:
    """Return what mean squares are made of, for each cell: 1, z^2, its spread, (x - p)^2, variance, and its spread."""
    safe = np.where(seen == 1.0, variance, 1.0)
    return seen, squares / safe, fourth / safe**2, squares, variance, fourth - variance**2


def _mean_squares(
    n: Floats, z2: Floats, spread: Floats, squares: Floats, variance: Floats, around: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return outfit, infit, and both as z by the cube root of Wilson and Hilferty, from sums over cells."""
    with np.errstate(divide="ignore", invalid="ignore"):
        outfit, infit = z2 / n, squares / variance
        q_out = np.minimum(np.sqrt(np.maximum(spread / n**2 - 1.0 / n, 0.0)), WIDEST)
        q_in = np.minimum(np.sqrt(np.maximum(around, 0.0)) / variance, WIDEST)
        z_out, z_in = ((fit ** (1.0 / 3.0) - 1.0) * 3.0 / q + q / 3.0 for fit, q in ((outfit, q_out), (infit, q_in)))
    return outfit, z_out, infit, z_in


def _item_sums(model: Any, piece: Piece) -> Floats:
    _, seen, squares, variance, fourth = _residuals(model, piece)
    return np.stack([piece.weights @ term for term in _terms(seen, squares, variance, fourth)])


def _person_figures(model: Any, piece: Piece) -> Floats:
    p, seen, squares, variance, fourth = _residuals(model, piece)
    fits = _mean_squares(*(term.sum(axis=1) for term in _terms(seen, squares, variance, fourth)))
    x, _ = cells(piece)
    p = np.clip(p, SMALLEST, 1.0 - SMALLEST)
    on, off = np.log(p), np.log1p(-p)
    reached = (seen * np.where(x == 1.0, on, off)).sum(axis=1)
    expected = (seen * (p * on + (1.0 - p) * off)).sum(axis=1)
    spread = (seen * (p * (1.0 - p) * (on - off) ** 2)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([*fits, (reached - expected) / np.sqrt(spread)], axis=1)


def _orlando_thissen(model: Any, table: Table) -> tuple[Floats, Floats]:
    """Return S-X^2 of each column and its degrees of freedom."""
    refuse_blanks(table, "S-X^2")
    d = table.shape[1]
    _, weights, p = on_grid(model)

    def count(piece: Piece) -> Floats:
        x, _ = cells(piece)
        scores = np.eye(d + 1)[x.sum(axis=1).astype(np.int64)] * piece.weights[:, None]
        return np.column_stack([scores.sum(axis=0), scores.T @ x])

    found = total(count, table)
    rows, ones = found[1:d, 0], found[1:d, 1:]  # scores 1 to d - 1
    whole = (weights @ score_shares(p))[1:d]
    s_x2, df = np.zeros(d), np.zeros(d)
    free = len(model.components_) + 1
    for j in range(d):
        others = score_shares(np.delete(p, j, axis=1))
        share = ((weights * p[:, j]) @ others)[: d - 1] / whole
        observed = np.column_stack([rows - ones[:, j], ones[:, j]])
        expected = np.column_stack([rows * (1.0 - share), rows * share])
        observed, expected = _joined(observed, expected)
        s_x2[j], df[j] = ((observed - expected) ** 2 / expected).sum(), len(expected) - free
    return s_x2, df


def _joined(counts: Floats, expectations: Floats) -> tuple[Floats, Floats]:
    """Return cells after joining neighboring scores, by mirt's rules.

    Scores of nobody are dropped, those of one row join the next one (the last the one before); then, from the lowest
    score on, one with an expected count below 1 joins the neighbor that fewer rows have.
    """
    kept = counts.sum(axis=1) > 0.0
    observed, expected = list(counts[kept]), list(expectations[kept])
    at = 0
    while at < len(observed) - 1:
        if observed[at].sum() == 1.0:
            _join(observed, expected, at, at + 1)
        else:
            at += 1
    if len(observed) > 1 and observed[-1].sum() == 1.0:
        _join(observed, expected, len(observed) - 1, len(observed) - 2)
    while len(observed) > 1:
        small = [at for at, cell in enumerate(expected) if (cell < LEAST_EXPECTED).any()]
        if not small:
            break
        at = small[0]
        if at == 0:
            to = 1
        elif at == len(observed) - 1:
            to = at - 1
        else:
            to = at - 1 if observed[at - 1].sum() <= observed[at + 1].sum() else at + 1
        _join(observed, expected, at, to)
    return np.array(observed), np.array(expected)


def _join(observed: list[Floats], expected: list[Floats], at: int, to: int) -> None:
    observed[to], expected[to] = observed[to] + observed[at], expected[to] + expected[at]
    del observed[at], expected[at]


def _rmsea(statistic: Floats, df: Floats, weight: float) -> Floats:
    return np.sqrt(np.maximum(statistic - df, 0.0) / np.maximum(df, 1.0) / (weight - 1.0))
