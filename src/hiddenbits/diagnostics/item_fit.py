"""Item fit and person fit of latent trait models: S-X^2, infit, outfit, l_z."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from hiddenbits.array_types import AnyArray, Floats, Rows
from hiddenbits.diagnostics.maps import Levels, Nodes, on_grid, score_distribution
from hiddenbits.diagnostics.tables import (
    PIECE_CELLS,
    cells,
    column_names,
    frame_like,
    open_for,
    sum_over_rows,
)
from hiddenbits.tables import Piece, Table, map_pieces

MIN_EXPECTED = 1.0  # expected count of a cell of S-X^2, as in mirt
RARE_ROWS, RARE_SCORES = 0.1, 0.05  # expected rows of the last level per score, and scores that a level is left at
MAX_SD = np.sqrt(2.0)  # bound of the standard deviation of a mean square, as in mirt
MIN_VARIANCE = 1e-5**0.5  # variance of an answer in a mean square, as in mirt: one cell must not outweigh all others
SMALLEST_PROBABILITY = 1e-12  # probability of an answer that the model considers impossible


def item_fit(model: Any, X: object, sample_weight: ArrayLike | None = None) -> Any:
    """Return how well a latent trait model fits each item: S-X^2 with its p-value, infit and outfit.

    S-X^2 (Orlando and Thissen 2000; Kang and Chen 2007 for items with levels) compares, among rows with the same sum
    score, the share of each answer with what the model expects, which is exact by the recursion of Lord and Wingersky;
    rare answers, and scores with few rows, are merged as in mirt. Infit and outfit are mean squares of residuals of
    the answer at the posterior means (EAP), weighted by its variance or unweighted. Their expectation is about 1; at
    estimated positions they are smaller, and their z are not N(0, 1).

    The answers of an item are counted 0, 1, ... in the order of its levels, so that for nominal items the statistics
    depend on this order. Columns of numbers are left out.

    Parameters
    ----------
    model : fitted estimator
        `ItemResponseModel`, or `LogisticPCA` or `ClippedPCA` of 1 to 3 dimensions.
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

    References
    ----------
    Orlando and Thissen (2000), "Likelihood-based item-fit indices for dichotomous item response theory models". Kang
    and Chen (2007), "An investigation of the performance of the generalized S-X^2 item-fit index for polytomous IRT
    models".

    Examples
    --------
    >>> from hiddenbits import ItemResponseModel, datasets, diagnostics
    >>> lsat = datasets.load_lsat(as_frame=True)
    >>> X, counts = lsat.data, lsat.frame["count"]
    >>> model = ItemResponseModel().fit(X, sample_weight=counts)
    >>> diagnostics.item_fit(model, X, counts)[["item", "infit", "s_x2", "df", "p"]].round(2)
         item  infit  s_x2  df     p
    0  item_1   1.09  0.45   2  0.80
    1  item_2   0.89  1.69   2  0.43
    2  item_3   0.78  0.67   1  0.41
    3  item_4   0.93  0.18   2  0.92
    4  item_5   1.01  0.11   2  0.95
    """
    table, nodes = open_for(model, X, sample_weight), on_grid(model)
    sums = sum_over_rows(lambda piece: _item_sums(model, nodes.levels, piece), table)
    outfit, z_outfit, infit, z_infit = _mean_squares(*sums)
    n_items, weight = len(nodes.levels.starts), float(table.shape[0] if table.weights is None else table.weights.sum())
    s_x2, df = np.full(n_items, np.nan), np.zeros(n_items)
    if not table.n_missing:
        s_x2, df = _orlando_thissen(model, nodes, table)
    tested = df > 0
    columns: dict[str, AnyArray] = {
        "item": np.asarray(column_names(model, table)[:n_items], object),
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
    For infit and outfit the levels of an item are counted 0, 1, ... in their order. Columns of numbers are left out.

    Parameters
    ----------
    model : fitted estimator
        `ItemResponseModel`, or `LogisticPCA` or `ClippedPCA` of 1 to 3 dimensions.
    X : table of shape (rows, columns)
        As for its `fit`.

    Returns
    -------
    rows : frame or structured ndarray
        A data frame of X's library if X is a data frame. Columns "outfit", "z_outfit", "infit", "z_infit" and "l_z".

    Examples
    --------
    >>> from hiddenbits import ItemResponseModel, datasets, diagnostics
    >>> lsat = datasets.load_lsat(as_frame=True)
    >>> X, counts = lsat.data, lsat.frame["count"]
    >>> model = ItemResponseModel().fit(X, sample_weight=counts)
    >>> diagnostics.person_fit(model, X).head(3).round(2)
       outfit  z_outfit  infit  z_infit   l_z
    0    1.50      1.12   1.46     1.21 -1.21
    1    1.53      1.13   1.34     0.92 -0.95
    2    1.97      1.76   1.71     1.63 -1.89
    """
    table, levels = open_for(model, X), on_grid(model).levels
    height = max(1, PIECE_CELLS // table.row_size)
    pieces = map_pieces(lambda piece: _person_statistics(model, levels, piece), table, height)
    statistics = np.concatenate(list(pieces))
    return frame_like(X, dict(zip(("outfit", "z_outfit", "infit", "z_infit", "l_z"), statistics.T.copy(), strict=True)))


class _Answers(NamedTuple):
    """The answers of some rows: one-hot levels (0 if missing), their probabilities, and which were observed."""

    x: Floats
    p: Floats
    observed: Floats

    def residual_terms(self, levels: Levels) -> tuple[Floats, ...]:
        """Return the terms of mean squares of each item: 1, z^2, E z^4, (x - E x)^2, its expectation and variance."""
        mean = levels.sums(self.p * levels.scores)
        deviation = levels.scores - mean[:, levels.items]
        squares = levels.sums(self.x * deviation**2)
        variance = np.maximum(levels.sums(self.p * deviation**2), MIN_VARIANCE)
        fourth = levels.sums(self.p * deviation**4)
        terms = np.ones_like(mean), squares / variance, fourth / variance**2, squares, variance, fourth - variance**2
        return tuple(self.observed * term for term in terms)


def _answers(model: Any, levels: Levels, piece: Piece) -> _Answers:
    """Return the answers of some rows, with probabilities at the posterior means."""
    bits = piece.table.to_float()[:, : piece.table.shape[1]]
    p = np.asarray(model.inverse_transform(model.transform(piece.table)))[:, : bits.shape[1]]
    x = levels.spread(bits)
    return _Answers(np.nan_to_num(x), levels.spread(p), (~np.isnan(x[:, levels.starts])).astype(np.float64))


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


def _item_sums(model: Any, levels: Levels, piece: Piece) -> Floats:
    terms = _answers(model, levels, piece).residual_terms(levels)
    return np.stack([piece.weights @ term for term in terms])


def _person_statistics(model: Any, levels: Levels, piece: Piece) -> Floats:
    answers = _answers(model, levels, piece)
    mean_squares = _mean_squares(*(term.sum(axis=1) for term in answers.residual_terms(levels)))
    p = np.clip(answers.p, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)
    log_p = np.log(p)
    expectation = levels.sums(p * log_p)
    surplus = log_p - expectation[:, levels.items]
    variance = (answers.observed * levels.sums(p * surplus**2)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([*mean_squares, (answers.x * surplus).sum(axis=1) / np.sqrt(variance)], axis=1)


def _orlando_thissen(model: Any, nodes: Nodes, table: Table) -> tuple[Floats, Floats]:
    """Return S-X^2 of each item and its degrees of freedom."""
    levels, weights, items = nodes.levels, nodes.weights, nodes.levels.by_item(nodes.p)
    n_scores = len(nodes.p.T) - len(items) + 1

    def count(piece: Piece) -> Floats:
        x = levels.spread(cells(piece)[0])
        of_score = np.eye(n_scores)[(x @ levels.scores).astype(np.int64)] * piece.weights[:, None]
        return np.asarray(of_score.T @ x)

    counts = levels.by_item(sum_over_rows(count, table))
    p_score = weights @ score_distribution(items)
    s_x2, df = np.zeros(len(items)), np.zeros(len(items))
    n_parameters = _item_parameters(model, nodes)
    for j, (observed, p) in enumerate(zip(counts, items, strict=True)):
        rest = score_distribution(items[:j] + items[j + 1 :])
        expected, n_rest = np.zeros_like(observed), rest.shape[1]
        for level, of_level in enumerate(p.T):
            expected[level : level + n_rest, level] = (weights * of_level) @ rest
        expected *= (observed.sum(axis=1) / p_score)[:, None]
        observed, expected = merged_cells(observed[1:-1], expected[1:-1])
        kept = expected > 0.0
        s_x2[j] = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
        df[j] = kept.sum() - len(expected) - n_parameters[j]
    return s_x2, df


def _item_parameters(model: Any, nodes: Nodes) -> Rows:
    """Return the number of free parameters behind the answers to each item, (items,)."""
    q = nodes.points.shape[1]
    if not hasattr(model, "_at_nodes"):
        return np.full(len(nodes.levels.starts), q + 1)
    function, n_bits = model._score_function(), model._params.n_columns
    out = np.zeros(n_bits, np.intp)
    for group in function.coordinates.groups:
        if group.items.kind not in ("continuous", "count"):
            out[group.items.cells[:, 0]] = (group.places >= 0).sum(axis=1)
    return np.asarray(out[model._params.layout.starts] + model._model().n_correlations)


def merged_cells(observed: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Return the cells (scores, levels) of an item after merging rare ones, by the rules of mirt; empty cells are 0.

    1. Scores at which a level is impossible are merged into the next at which all are possible.
    2. Scores without rows are dropped, and scores of one row are merged into the next (the last into the previous one).
    3. Of a score with an expected count below 1, the rarest level is merged into the rarer of its neighbors until no
       count is below 1 or two are left; the remaining counts move to the lower levels.
    4. The last level is merged into the one below if it is rare, and any if it is left at few scores.
    5. From the lowest score on, scores with an expected count below 1 are merged into the neighbor with fewer rows.
    """
    n, n_levels = observed.shape
    score = np.clip(np.arange(n), n_levels - 2, n + 1 - n_levels)
    table = np.stack([observed, expected])
    table = np.add.reduceat(table, np.unique(score, return_index=True)[1], axis=1)
    table = table[:, table[0].sum(axis=1) > 0.0]
    low = (table[1] < MIN_EXPECTED).any(axis=1)  # mirt finds these before step 2, and uses their numbers after it
    i = 0
    while i < table.shape[1] - 1:
        if table[0, i].sum() == 1.0:
            table = _merge(table, i, i + 1)
        else:
            i += 1
    if table.shape[1] > 1 and table[0, -1].sum() == 1.0:
        table = _merge(table, table.shape[1] - 1, table.shape[1] - 2)
    table = _merge_levels(table, np.flatnonzero(low[: table.shape[1]]))
    while table.shape[1] > 1:
        small = ((table[1] > 0.0) & (table[1] < MIN_EXPECTED)).any(axis=1)
        if not small.any():
            break
        i = int(small.argmax())
        table = _merge(table, i, _rarer_neighbor(table[0].sum(axis=1), i))
    return table[0], table[1]


def _merge_levels(table: Floats, low: Rows) -> Floats:
    """Return cells (2, scores, levels) after merging levels: steps 3, of the scores `low`, and 4."""
    n_scores, n_levels = table.shape[1:]
    for i in low:
        of_score, is_low = table[:, i], True
        while of_score.shape[1] > 2 and is_low:
            rarest = of_score.shape[1] - 1 - int(of_score[1, ::-1].argmin())
            of_score = _merge(of_score, rarest, _rarer_neighbor(of_score[1], rarest))
            is_low = bool(of_score[1].min() < MIN_EXPECTED)
        table[:, i] = np.pad(of_score, ((0, 0), (0, n_levels - of_score.shape[1])))
    by_level = table.swapaxes(1, 2)
    while len(by_level[1]) > 2 and by_level[1, -1].sum() < MIN_EXPECTED * np.ceil(RARE_ROWS * n_scores):
        by_level = _merge(by_level, len(by_level[1]) - 1, len(by_level[1]) - 2)
    for level in range(len(by_level[1]) - 1, 0, -1):
        if (by_level[1, level] > 0.0).mean() < RARE_SCORES:
            by_level = _merge(by_level, level, level - 1)
    return by_level.swapaxes(1, 2)


def _merge(table: Floats, i: int, target: int) -> Floats:
    """Return a table after adding the entries i of its second axis to the entries `target`."""
    table[:, target] += table[:, i]
    return np.delete(table, i, axis=1)


def _rarer_neighbor(counts: Floats, i: int) -> int:
    """Return the neighbor of i with the smaller count, the lower one if they are equal."""
    if i == 0:
        return 1
    return i + 1 if i < len(counts) - 1 and counts[i + 1] < counts[i - 1] else i - 1


def _rmsea(statistic: Floats, df: Floats, weight: float) -> Floats:
    return np.sqrt(np.maximum(statistic - df, 0.0) / np.maximum(df, 1.0) / (weight - 1.0))
