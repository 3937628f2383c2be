"""The finding about groups (`by`): how they lie in the picture, with standard errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.drawings import bars, dots
from hiddenbits.reporting.findings.effects import ERRORS, least_rows
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.words import joined, of_rows, quoted
from hiddenbits.reporting.text import percent, plain

MOST = 4  # groups in the sentence
MANY = 7  # values of a column of numbers beyond which it is cut into thirds
SCALES = ("LogisticPCA", "ClippedPCA")
UNIT = {"BernoulliMixture": "kind", "CombinationMachine": "influence", "NoisyOrNetwork": "cause"}


def labels_of(context: Context) -> list[str]:
    """Return the group of each sampled row, "" where it has none; numbers with many values are cut into thirds."""
    by, sample = context.by, context.sample
    if by in sample.beside:
        return _thirds(sample.beside[by])
    if by not in sample.own_names:
        return []
    column = sample.cells[:, sample.own_names.index(by)]
    return ["" if cell != cell else ("1 (yes)" if cell else "0 (no)") for cell in column]


def _thirds(values: Sequence[str]) -> list[str]:
    """Return values as they are, or numbers as low, middle and high."""
    try:
        numbers = np.array([float(value) if value.strip() else np.nan for value in values])
    except ValueError:
        return [value.strip() for value in values]
    if len(set(values)) <= MANY or not np.isfinite(numbers).any():
        return [value.strip() for value in values]
    low, high = np.nanquantile(numbers, [1 / 3, 2 / 3])
    named = (f"up to {low:g}", f"{low:g} to {high:g}", f"above {high:g}")
    return ["" if x != x else named[0] if x <= low else named[1] if x <= high else named[2] for x in numbers]


def means_by_group(codes: Floats, labels: Sequence[str], least: int) -> dict[str, tuple[Floats, Floats, int]]:
    """Return the mean code of each group that is large enough, its standard errors and its number of rows."""
    found = {}
    every = np.asarray(labels, object)
    for label, n in Counter(label for label in labels if label).most_common():
        if n >= least:
            rows = codes[every == label]
            found[label] = (rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(n), n)
    return found


def group_codes(context: Context) -> Floats:
    """Return what the chosen model says about each sampled row.

    Kinds and causes are probabilities, places on scales standard deviations from the mean of all rows.
    """
    codes = np.asarray(context.fits.best.model.transform(context.sample.cells), np.float64)
    if context.fits.best.name in SCALES:
        return np.asarray((codes - codes.mean(axis=0)) / np.maximum(codes.std(axis=0), 1e-12))
    return np.asarray(codes[:, np.argsort(-codes.mean(axis=0), kind="stable")])  # the most common first, as elsewhere


def groups(context: Context) -> list[Finding]:
    """Say how the groups of rows lie in the picture: on the kind, cause or scale in which they differ most."""
    labels = labels_of(context)
    sample, fit = context.sample, context.fits.best
    means = means_by_group(group_codes(context), labels, least_rows(len(labels))) if labels else {}
    if len(means) < 2:
        return []
    table = np.stack([mean for mean, _, _ in means.values()])
    errors = np.stack([error for _, error, _ in means.values()])
    gap = table.max(axis=0) - table.min(axis=0)
    spread = np.hypot(*(np.take_along_axis(errors, at[None], 0)[0] for at in (table.argmax(0), table.argmin(0))))
    k = int(np.argmax(gap - ERRORS * spread))
    chosen = sorted(range(len(means)), key=lambda g: -table[g, k])
    if len(chosen) > MOST:
        chosen = [*chosen[: MOST // 2], *chosen[-(MOST // 2) :]]
    names = list(means)
    scale = fit.name in SCALES
    figure = [_figure(float(table[g, k]), float(errors[g, k]), scale=scale) for g in chosen]
    said = joined([f"{quoted(names[g])} {text}" for g, text in zip(chosen, figure, strict=True)])
    numbers: dict[str, Number] = {"groups": len(means), "gap": float(gap[k]), "error of the gap": float(spread[k])}
    for g in chosen:
        numbers |= {f"mean of {names[g]}": float(table[g, k]), f"error of {names[g]}": float(errors[g, k])}
        numbers[f"rows of {names[g]}"] = means[names[g]][2]
    by = quoted(str(context.by))
    differ = gap[k] > ERRORS * spread[k] * (1.0 + 0.5 * np.log(max(1.0, table.shape[1] * (len(means) - 1))))
    what = f"on scale {k + 1} of {table.shape[1]}" if scale else f"in how often they are of kind {k + 1}"
    if fit.name in UNIT and UNIT[fit.name] != "kind":
        what = f"in how often {UNIT[fit.name]} {k + 1} is active"
    if scale and table.shape[1] == 1:
        what = "in their place on the scale"
    numbers["unit"] = k + 1
    if differ:
        unit = " (in standard deviations from the mean)" if scale else " of their rows"
        sentence = f"The groups of {by} differ most {what}{of_rows(context, len(labels))}: {said}{unit}."
    else:
        sentence = (
            f"The groups of {by} do not differ clearly in this picture{of_rows(context, len(labels))}: the largest "
            f"difference is {what}, {said}."
        )
    lines = [(names[g], float(table[g, k]), float(errors[g, k])) for g in chosen]
    alt = f"Groups of {plain(str(context.by))}, with two standard errors."
    drawing = dots(lines, alt) if scale else bars(lines, alt, [percent(value) for _, value, _ in lines])
    total = sample.look.n_rows
    return [
        Finding(
            "groups",
            sentence,
            numbers,
            drawing,
            "groups",
            len(labels),
            total,
            f"Groups of {plain(str(context.by), 24)}",
        )
    ]


def _figure(value: float, error: float, *, scale: bool) -> str:
    return f"{value:+.2f} ± {error:.2f}" if scale else f"{percent(value)} ± {100.0 * error:.1f}"
