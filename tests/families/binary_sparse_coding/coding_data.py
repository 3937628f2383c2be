"""Small sparse-coding models, and their truncated posterior by the definition: state by state, row by row."""

from itertools import product

import numpy as np
from scipy.special import logsumexp

from hiddenbits.data import open_table
from hiddenbits.engine import Key
from hiddenbits.families.binary_sparse_coding.params import CodingParams


def params_of(seed, D=8, H=6, *, shared=False):
    rng = np.random.default_rng([seed, D, H])
    pi = np.full(H, 0.3) if shared else rng.uniform(0.1, 0.5, H)
    noise, spread = np.asarray(rng.uniform(0.7, 1.5)), np.asarray(2.0)
    return CodingParams(rng.standard_normal((D, H)), pi, noise, spread)


def rows_of(params, seed, n=12, missing=0.0):
    rng = np.random.default_rng([seed, 99])
    s = rng.random((n, params.n_components)) < params.activity
    rows = s @ params.fields.T + float(params.noise) * rng.standard_normal((n, params.n_columns))
    if missing:
        rows[rng.random(rows.shape) < missing] = np.nan
        rows[: n // 3] = np.nan_to_num(rows[: n // 3], nan=0.3)  # some complete ones, too
        rows[-1, :-2] = np.nan
        rows[-1, -2:] = [1.0, -0.5]  # with a single number, which candidates are best would be a tie
    return rows


def block_of(rows, weights=None):
    table = open_table(np.asarray(rows), reals=True)
    return (table if weights is None else table.with_weights(weights)).grid(len(rows)).blocks[0]


def expected(model, params, rows, weights=None):
    return model.expect(params, model.prepare(params), block_of(rows, weights), None, Key(0))[0]


def states_of_row(params, y, n_candidates, max_active):
    """Equation 4: few of the candidates on, or a single cause; candidates by W_h'y / |W_h| over what was observed."""
    W, seen, H = params.fields, ~np.isnan(y), params.n_components
    lengths = np.sqrt((W[seen] ** 2).sum(axis=0))
    select = np.divide(W[seen].T @ y[seen], lengths, out=np.zeros(H), where=lengths > 0)
    chosen = np.argsort(-select)[:n_candidates]
    outside = np.ones(H, bool)
    outside[chosen] = False
    every = np.array(list(product((0.0, 1.0), repeat=H)))
    few = (every.sum(axis=1) <= max_active) & ~every[:, outside].any(axis=1)
    return every[few | (every.sum(axis=1) <= 1)]


def truth_of_row(params, y, states, temperature=1.0):
    """Return T ln Sum p^(1/T) and the tempered probabilities of the states; blanks are integrated out."""
    seen, pi, variance = ~np.isnan(y), params.activity, float(params.noise) ** 2
    apart = y[seen] - states @ params.fields[seen].T
    log_p = states @ np.log(pi) + (1 - states) @ np.log1p(-pi)
    log_p = log_p - 0.5 * seen.sum() * np.log(2 * np.pi * variance) - 0.5 * (apart**2).sum(axis=1) / variance
    total = logsumexp(log_p / temperature)
    return temperature * total, np.exp(log_p / temperature - total)


def true_statistics(params, rows, weights, n_candidates, max_active, temperature=1.0):
    """The sums, row by row; a missing number is W_j s and its noise, given the state."""
    D, H = params.fields.shape
    sums = {"bound": 0.0, "squares": 0.0, "hidden": np.zeros(H), "joint": np.zeros((D, H)), "second": np.zeros((H, H))}
    for y, weight in zip(rows, weights, strict=True):
        states = states_of_row(params, y, n_candidates, max_active)
        score, p = truth_of_row(params, y, states, temperature)
        sums["bound"] += weight * score
        for s, share in zip(states, weight * p, strict=True):
            filled = np.where(np.isnan(y), params.fields @ s, y)
            sums["squares"] += share * (filled @ filled + np.isnan(y).sum() * float(params.noise) ** 2)
            sums["hidden"] += share * s
            sums["joint"] += share * np.outer(filled, s)
            sums["second"] += share * np.outer(s, s)
    return sums
