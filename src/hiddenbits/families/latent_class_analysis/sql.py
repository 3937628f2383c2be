"""A latent class model as SQL: the posterior of the classes, computed where the rows are.

The query has one step (a named subquery) for each line; "k" counts classes, "j" columns:

    hiddenbits_cells    the cells: v_j as stored, t_j as text without surrounding spaces ("" for NULL)
    hiddenbits_codes    c_j: the number of the level, -1 for a missing value; of a continuous column z, of a count x
    hiddenbits_scores   s_k = ln pi_k + Sum over columns ln P(cell | class k), without what is the same for all classes
    hiddenbits_largest  the largest s_k
    hiddenbits_shares   p_k = exp(s_k - largest)

Values are compared as text, because a query does not know whether a column of 0 and 1 is stored as boolean, integer,
decimal or text, and because no cast can then fail. A score is NULL, and with it the posterior of the row, if a value is
not among those of the fit. Steps are MATERIALIZED: PostgreSQL would otherwise repeat each expression wherever its name
occurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from hiddenbits.array_types import Floats
from hiddenbits.data.coding.coded_columns import BIT_KEYS, MISSING, MULTI_BIT, NUMBERS, UNKNOWN, CodedColumn
from hiddenbits.data.coding.vocabulary import NA_STRINGS, WORDS, Key, key_of, none_is_na, plain_number
from hiddenbits.families.nodes.mixed import MixedParams
from hiddenbits.families.nodes.params import NodeParams

SAME_VALUES = ((1.0, "true"), (0.0, "false"), ("true", 1.0), ("false", 0.0))  # a boolean's text is "true" or "false"
ZERO = "CAST(0 AS DOUBLE PRECISION)"  # in a CASE it makes all numbers of double precision, which 1e0 alone does not
LOWEST = -700  # PostgreSQL raises an error if exp() underflows
MAX_TERMS = 100  # added without parentheses, because DuckDB and SQLite limit the depth of expressions to 1,000


def posterior_query(
    params: NodeParams,
    columns: Sequence[CodedColumn],
    classes: Sequence[str],
    table: str | Sequence[str],
    id_columns: str | Sequence[str] = (),
    *,
    unknown: str = "NULL",
) -> str:
    """Return the query; `unknown` is the code of a value that is not among those of the fit, "-1" if it is missing."""
    log_pi, numbers = np.log(params.weights), range(1, len(classes) + 1)
    codes, terms = codes_and_terms(params, columns, unknown)
    ids = [_identifier(name) for name in ([id_columns] if isinstance(id_columns, str) else id_columns)]
    source = ".".join(map(_identifier, [table] if isinstance(table, str) else table))
    largest = " ".join(f"WHEN {' AND '.join(f's{k} >= s{m}' for m in numbers[k - 1 :])} THEN s{k}" for k in numbers)
    share = (
        f"CASE WHEN s{{k}} - largest > {LOWEST} THEN EXP(s{{k}} - largest) WHEN s{{k}} <= largest THEN 0 END AS p{{k}}"
    )
    steps = {
        "cells": [cell for j, column in enumerate(columns) for cell in _cells(column, j)],
        "codes": [f"{code} AS c{j}" for j, code in enumerate(codes)],
        "scores": [f"{_sum([_number(log_pi[k - 1]), *(t[k - 1] for t in terms)])} AS s{k}" for k in numbers],
        "largest": [f"CASE {largest} END AS largest", *(f"s{k}" for k in numbers)],
        "shares": [share.format(k=k) for k in numbers],
    }
    query, fields = "WITH", [f"{name} AS i{n}" for n, name in enumerate(ids)]
    for step, expressions in steps.items():
        query += f" hiddenbits_{step} AS MATERIALIZED (\n{_select([*fields, *expressions], source)}\n),"
        fields, source = [f"i{n}" for n in range(len(ids))], f"hiddenbits_{step}"
    total = " + ".join(f"p{k}" for k in numbers)
    results = [f"i{n} AS {name}" for n, name in enumerate(ids)]
    results += [f"p{k} / ({total}) AS {_identifier(name)}" for k, name in zip(numbers, classes, strict=True)]
    return f"{query[:-1]}\n{_select(results, source)}"


def codes_and_terms(
    params: NodeParams, columns: Sequence[CodedColumn], unknown: str
) -> tuple[list[str], list[list[str]]]:
    """Return the code of each column; and by class ln P(cell | class) of each, together if columns have covariances."""
    a, c, bit, n_counts = params.scores.x_coefs, params.scores.observed_coefs, 0, 0
    codes, terms, continuous = list[str](), list[list[str]](), list[str]()
    for j, column in enumerate(columns):
        otherwise = f"CAST(v{j} AS DOUBLE PRECISION)"
        if column.how == "continuous" and isinstance(params, MixedParams):
            center, scale = params.centers[len(continuous)], params.scales[len(continuous)]
            otherwise = f"({otherwise} - {_number(center)}) / {_number(scale)}"
            continuous.append(f"c{j}")
        elif column.how == "count" and isinstance(params, MixedParams):
            terms.append(count_terms(f"c{j}", params.rates[n_counts]))
            n_counts += 1
        else:
            bits = slice(bit, bit := bit + len(column.labels))
            log_p, log_zero = a[bits] + c[bits].sum(axis=0), c[bits]
            terms.append(level_terms(f"c{j}", log_p if column.how in MULTI_BIT else np.vstack([log_zero, log_p])))
            cuts = (column.threshold,) if column.how == "above" else column.cuts
            otherwise = level_by_cuts(f"t{j}", cuts) if cuts else unknown
        codes.append(cell_code(column, f"t{j}", otherwise))
    if isinstance(params, MixedParams):
        size = params.covariances.shape[1]  # number of columns with a common covariance matrix
        for block in (slice(start, start + size) for start in range(0, len(continuous), size)):
            terms.append(normal_terms(continuous[block], params.means[block], params.covariances[block]))
    return codes, terms


def cell_code(column: CodedColumn, text: str, otherwise: str) -> str:
    """Return the expression of a cell's code: by its text, compared as `key_of` does, or `otherwise`.

    Without IN, which DuckDB plans as a join of its own.
    """
    ones = () if column.how == "quantiles" else column.ones  # the names of its levels are no values
    listed = (*ones, *column.zeros, *column.missing, *(BIT_KEYS if column.how == "binary" else ()))
    values = {key_of(value): value for value in listed}
    codes: dict[Key, int] = {key: column.code_of(key) for key in values}
    codes |= {same: codes[key] for key, same in SAME_VALUES if key in codes and same not in codes}
    empty = [*sorted(NA_STRINGS), *(["none"] if "none" not in codes and none_is_na([*codes, "none"]) else [])]
    codes |= dict.fromkeys(empty, column.code_of(None))
    missing, first = "NULL" if column.how in NUMBERS else "-1", UNKNOWN + 1 if column.how in MULTI_BIT else 0
    exact, folded, decimal = dict[str, str](), dict[str, str](), dict[str, str]()
    for key, number in codes.items():
        code, word = missing if number == MISSING else str(number - first), str(values.get(key, key))
        if isinstance(key, float):
            plain = str(plain_number(key))
            exact[plain] = decimal[plain if "." in plain else f"{plain}."] = code  # of "3.00", zeros are removed
        elif key in WORDS and word.isascii():  # LOWER may leave other letters unchanged
            folded[key] = code
        else:
            exact[word.strip()] = exact[key] = code
    for cell, code_of in ((f"RTRIM({text}, '0')", decimal), (f"LOWER({text})", folded), (text, exact)):
        whens = " ".join(f"WHEN {_literal(value)} THEN {code}" for value, code in code_of.items())
        otherwise = f"CASE {cell} {whens} ELSE {otherwise} END" if whens else otherwise
    return otherwise


def level_by_cuts(text: str, cuts: Sequence[float | None]) -> str:
    """Return the expression of the number of cut points that a number is above."""
    above = [f"WHEN CAST({text} AS DOUBLE PRECISION) > {_number(cut)} THEN {n}" for n, cut in enumerate(cuts, 1)]
    return f"CASE {' '.join(reversed(above))} ELSE 0 END"


def level_terms(cell: str, log_p: Floats) -> list[str]:
    """Return ln P(level | class) for each class, from log_p, (levels, K)."""
    return [
        f"CASE {cell} WHEN -1 THEN {ZERO} {' '.join(f'WHEN {n} THEN {_number(p)}' for n, p in enumerate(column))} END"
        for column in log_p.T
    ]


def count_terms(cell: str, rates: Floats) -> list[str]:
    """Return x ln(rate) - rate for each class; NULL if the cell is not a count."""
    return [
        f"CASE WHEN {cell} IS NULL THEN {ZERO} WHEN {cell} >= 0 AND {cell} = FLOOR({cell}) "
        f"THEN {cell} * {_number(np.log(rate))} - {_number(rate)} END"
        for rate in rates
    ]


def normal_terms(cells: Sequence[str], means: Floats, covariances: Floats) -> list[str]:
    """Return the log density of z for each class without -q ln(2 pi) / 2.

    `means` are (q, K), `covariances` (q, q, K). With a Cholesky factor L it is -|L^-1 (z - mean)|^2 / 2 - ln |L|. It is
    NULL if some cells are missing and some not: each pattern of missing cells would need a factor of its own.
    """
    are_missing, terms = " AND ".join(f"{cell} IS NULL" for cell in cells), list[str]()
    for mean, covariance in zip(means.T, np.moveaxis(covariances, 2, 0), strict=True):
        factor = np.linalg.cholesky(covariance)
        inverse = solve_triangular(factor, np.eye(len(cells)), lower=True)
        residuals = [f"({cell} - {_number(m)})" for cell, m in zip(cells, mean, strict=True)]
        rows = [[f"{_number(inverse[i, j])} * {residuals[j]}" for j in range(i + 1)] for i in range(len(cells))]
        squares = _sum([f"POWER({_sum(row)}, 2)" for row in rows])
        log_p = f"{_number(-np.log(np.diag(factor)).sum())} - 0.5e0 * ({squares})"
        terms.append(f"CASE WHEN {are_missing} THEN {ZERO} ELSE {log_p} END")
    return terms


def _sum(terms: Sequence[str]) -> str:
    """Return the sum of expressions, in parentheses of at most `MAX_TERMS`."""
    groups = [" + ".join(terms[start : start + MAX_TERMS]) for start in range(0, len(terms), MAX_TERMS)]
    return groups[0] if len(groups) == 1 else " + ".join(f"({group})" for group in groups)


def _cells(column: CodedColumn, j: int) -> list[str]:
    name = _identifier(column.name)
    text = f"COALESCE(TRIM(CAST({name} AS VARCHAR)), '') AS t{j}"
    return [f"{name} AS v{j}", text] if column.how in NUMBERS else [text]


def _select(fields: Sequence[str], source: str) -> str:
    return "SELECT\n  " + ",\n  ".join(fields) + f"\nFROM {source}"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _number(value: Any) -> str:
    """Return 17 digits with an exponent, which makes a number of double precision in DuckDB; it may be negative."""
    return f"{value:.16e}" if value >= 0 else f"({value:.16e})"
