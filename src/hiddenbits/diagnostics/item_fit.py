"""Item fit and person fit of latent trait models: S-X^2, infit, outfit, l_z."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from hiddenbits.array_types import AnyArray, Floats
from hiddenbits.diagnostics.maps import on_grid, score_distribution
from hiddenbits.diagnostics.tables import PIECE_CELLS, cells, frame_like, open_for, require_complete_rows, sum_over_rows
from hiddenbits.display import names_of
from hiddenbits.tables import Piece, Table, map_pieces

MIN_EXPECTED = 1.0  # expected count of a cell of S-X^2, as in mirt
MAX_SD = np.sqrt(2.0)  # bound of the standard deviation of a mean square, as in mirt
MIN_VARIANCE = 1e-5**0.5  # variance of an answer in a mean square, as in mirt: one cell must not outweigh all others
SMALLEST_PROBABILITY = 1e-12  # probability of an answer that the model considers impossible


def item_fit(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Any:
    """Return how well a latent trait model fits each item: S-X^2 with its p-value, infit and outfit.

    S-X^2 (Orlando and Thissen 2000) compares, among rows with the same sum score, the share of 1s in an item with what
    the model expects, which is exact by the recursion of Lord and Wingersky; scores with few rows are merged as in
    mirt. Infit and outfit are mean squares of residuals at the posterior means (EAP), weighted by the variance of the
    answers or unweighted. Their expectation is about 1; at estimated positions they are smaller, and their z are not
    N(0, 1).

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
        A data frame of X's library if X is a data frame. Columns "item", "outfit", "z_outfit", "infit",
        "z_infit", "s_x2", "df", "p" and "rmsea". S-X^2 is defined for complete rows: it is NaN if the table has missing
        values, or if df would be 0.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import LogisticPCA, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((500, 6)) < 1 / (1 + np.exp(-1.5 * rng.standard_normal((500, 1))))).astype(int)
    >>> model = LogisticPCA(1, method="quadrature", ridge=0, random_state=0).fit(X)
    >>> items = diagnostics.item_fit(model, X)
    >>> bool((items["p"] > 0.001).all())
    True
    """
    table = open_for(model, X, sample_weight)
    on_grid(model)  # raises for models without a few latent dimensions
    sums = sum_over_rows(lambda piece: _item_sums(model, piece), table)
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
    return frame_like(X, columns)


def person_fit(model: Any, X: object) -> Any:
    """Return how well a latent trait model fits each respondent: infit, outfit and l_z.

    They are computed at the posterior mean of the row (EAP), over its observed cells. l_z (Drasgow, Levine and Williams
    1985; Zh in mirt) is the log-likelihood of the row, minus its expectation, in standard deviations: far below 0 for
    rows with improbable answers. At an estimated position it varies less than N(0, 1): -1.96 flags too few rows.

    Parameters
    ----------
    model : fitted estimator
        `LogisticPCA` or `ClippedPCA` of 1 to 3 dimensions.
    X : table of shape (rows, columns)
        As for its `fit`.

    Returns
    -------
    rows : frame or structured ndarray
        A data frame of X's library if X is a data frame. Columns "outfit", "z_outfit", "infit", "z_infit" and "l_z".

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
    table = open_for(model, X)
    on_grid(model)
    pieces = map_pieces(lambda piece: _person_statistics(model, piece), table, max(1, PIECE_CELLS // table.row_size))
    statistics = np.concatenate(list(pieces))
    return frame_like(X, dict(zip(("outfit", "z_outfit", "infit", "z_infit", "l_z"), statistics.T.copy(), strict=True)))


def _residuals(model: Any, piece: Piece) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return p, which cells were observed, squared residuals, variances and fourth moments (0 if not observed)."""
    x, observed = cells(piece)
    p = np.asarray(model.inverse_transform(model.transform(piece.table)))
    variance = p * (1.0 - p)
    fourth = variance * (1.0 - 3.0 * variance)  # (1 - p)^4 p + p^4 (1 - p)
    return p, observed, observed * (x - p) ** 2, observed * np.maximum(variance, MIN_VARIANCE), observed * fourth


def _terms(observed: Floats, squares: Floats, variance: Floats, fourth: Floats) -> tuple[Floats, ...]:
    """Return the terms of mean squares for each cell: 1, z^2, E z^4, (x - p)^2, its expectation and its variance."""
    positive_variance = np.where(observed == 1.0, variance, 1.0)
    z2, z4 = squares / positive_variance, fourth / positive_variance**2
    return observed, z2, z4, squares, variance, fourth - variance**2


def _mean_squares(
    n: Floats, z2: Floats, z4: Floats, squares: Floats, variance: Floats, variance_of_squares: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return outfit and infit, each with its z by the cube root of Wilson and Hilferty, from sums over cells."""
    with np.errstate(divide="ignore", invalid="ignore"):
        outfit, infit = z2 / n, squares / variance
        q_out = np.minimum(np.sqrt(np.maximum(z4 / n**2 - 1.0 / n, 0.0)), MAX_SD)
        q_in = np.minimum(np.sqrt(np.maximum(variance_of_squares, 0.0)) / variance, MAX_SD)
        z_out, z_in = ((fit ** (1.0 / 3.0) - 1.0) * 3.0 / q + q / 3.0 for fit, q in ((outfit, q_out), (infit, q_in)))
    return outfit, z_out, infit, z_in


def _item_sums(model: Any, piece: Piece) -> Floats:
    _, observed, squares, variance, fourth = _residuals(model, piece)
    return np.stack([piece.weights @ term for term in _terms(observed, squares, variance, fourth)])


def _person_statistics(model: Any, piece: Piece) -> Floats:
    p, observed, squares, variance, fourth = _residuals(model, piece)
    mean_squares = _mean_squares(*(term.sum(axis=1) for term in _terms(observed, squares, variance, fourth)))
    x, _ = cells(piece)
    p = np.clip(p, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)
    log_p, log_q = np.log(p), np.log1p(-p)
    log_likelihood = (observed * np.where(x == 1.0, log_p, log_q)).sum(axis=1)
    expectation = (observed * (p * log_p + (1.0 - p) * log_q)).sum(axis=1)
    variance = (observed * (p * (1.0 - p) * (log_p - log_q) ** 2)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([*mean_squares, (log_likelihood - expectation) / np.sqrt(variance)], axis=1)


def _orlando_thissen(model: Any, table: Table) -> tuple[Floats, Floats]:
    """Return S-X^2 of each column and its degrees of freedom."""
    require_complete_rows(table, "S-X^2")
    d = table.shape[1]
    _, weights, p = on_grid(model)

    def count(piece: Piece) -> Floats:
        x, _ = cells(piece)
        scores = np.eye(d + 1)[x.sum(axis=1).astype(np.int64)] * piece.weights[:, None]
        return np.column_stack([scores.sum(axis=0), scores.T @ x])

    counts = sum_over_rows(count, table)
    rows, ones = counts[1:d, 0], counts[1:d, 1:]  # scores 1 to d - 1
    p_score = (weights @ score_distribution(p))[1:d]
    s_x2, df = np.zeros(d), np.zeros(d)
    n_item_parameters = len(model.components_) + 1
    for j in range(d):
        p_rest_score = score_distribution(np.delete(p, j, axis=1))
        share = ((weights * p[:, j]) @ p_rest_score)[: d - 1] / p_score
        observed = np.column_stack([rows - ones[:, j], ones[:, j]])
        expected = np.column_stack([rows * (1.0 - share), rows * share])
        observed, expected = _merge_scores(observed, expected)
        s_x2[j], df[j] = ((observed - expected) ** 2 / expected).sum(), len(expected) - n_item_parameters
    return s_x2, df


def _merge_scores(counts: Floats, expectations: Floats) -> tuple[Floats, Floats]:
    """Return the counts after merging neighboring scores, by the rules of mirt.

    Scores without rows are dropped, and scores of one row are merged into the next (the last into the previous one).
    Then, from the lowest score on, scores with an expected count below 1 are merged into the neighbor with fewer rows.
    """
    has_rows = counts.sum(axis=1) > 0.0
    observed, expected = list(counts[has_rows]), list(expectations[has_rows])
    i = 0
    while i < len(observed) - 1:
        if observed[i].sum() == 1.0:
            _merge(observed, expected, i, i + 1)
        else:
            i += 1
    if len(observed) > 1 and observed[-1].sum() == 1.0:
        _merge(observed, expected, len(observed) - 1, len(observed) - 2)
    while len(observed) > 1:
        small = [score for score, counts in enumerate(expected) if (counts < MIN_EXPECTED).any()]
        if not small:
            break
        i = small[0]
        if i == 0:
            target = 1
        elif i == len(observed) - 1:
            target = i - 1
        else:
            target = i - 1 if observed[i - 1].sum() <= observed[i + 1].sum() else i + 1
        _merge(observed, expected, i, target)
    return np.array(observed), np.array(expected)


def _merge(observed: list[Floats], expected: list[Floats], i: int, target: int) -> None:
    observed[target], expected[target] = observed[target] + observed[i], expected[target] + expected[i]
    del observed[i], expected[i]


def _rmsea(statistic: Floats, df: Floats, weight: float) -> Floats:
    return np.sqrt(np.maximum(statistic - df, 0.0) / np.maximum(df, 1.0) / (weight - 1.0))
