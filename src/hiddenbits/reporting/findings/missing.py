"""The finding about blanks."""

from __future__ import annotations

import numpy as np

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.drawings import bars
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.words import joined, of_rows
from hiddenbits.reporting.text import percent, quoted, told_apart

LEAST_SHARE = 0.005  # of all cells; fewer blanks are no finding
SURE = 0.9


def missing(context: Context) -> list[Finding]:
    """Say where the blanks are, of all rows, and how many of them the chosen model can fill in."""
    seen = context.sample.look
    share = seen.n_blank / (seen.n_rows * seen.n_columns)
    blank = np.isnan(context.sample.cells)
    if share < LEAST_SHARE or not blank.any():
        return []
    shares = 1.0 - seen.observed / seen.n_rows
    names = told_apart(seen.names)
    top = [int(j) for j in np.argsort(-shares, kind="stable")[:3] if shares[j] > 0.0]
    expected = context.fits.probabilities
    sure = float((np.maximum(expected, 1.0 - expected)[blank] > SURE).mean())
    numbers: dict[str, Number] = {"share": share, "sure": sure, "blanks in the sample": int(blank.sum())}
    numbers |= {f"share of {names[j]}": float(shares[j]) for j in top}
    even = shares[top[0]] < 2.0 * share
    where = f"at most {percent(float(shares[top[0]]))} of a column ({quoted(names[top[0]])})"
    if not even:
        where = f"most in {joined([f'{quoted(names[j])} ({percent(float(shares[j]))})' for j in top])}"
    sentence = (
        f"{percent(share)} of the cells are blank, {where}. From the rest of the row, {percent(sure)} of the blanks "
        f"can be filled in with more than 90% certainty{of_rows(context, len(blank))}."
    )
    lines = [(names[j], float(shares[j]), 0.0) for j in top]
    drawing = bars(lines, "Columns with the most blanks.", [percent(value) for _, value, _ in lines])
    return [Finding("missing", sentence, numbers, drawing, "blanks", len(blank), seen.n_rows, "What is missing")]
