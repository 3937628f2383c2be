"""The finding about groups (`by`): how they differ under the chosen model, with standard errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.directions import between_ends
from hiddenbits.reporting.findings.drawings import bars, dots
from hiddenbits.reporting.findings.effects import ERRORS, least_rows
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.units import unit_order
from hiddenbits.reporting.findings.words import joined, of_rows, word
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.text import percent, plain, quoted

MOST = 4  # groups in the sentence
MANY = 7  # values of a column of numbers beyond which it is cut into thirds
SCALES = ("LogisticPCA", "ClippedPCA")
UNIT = {"LatentClassAnalysis": "class", "CombinationMachine": "hidden unit", "NoisyOrNetwork": "cause"}


def labels_of(context: Context) -> list[str]:
    """Return the group of each sampled row, "" where it has none; numbers with many values are cut into thirds."""
    by, sample = context.by, context.sample
    if by in sample.beside:
        return _thirds(sample.beside[by])
    if by not in sample.own_names:
        return []
    place = sample.own_names.index(by)
    words = sample.values.labels(place)
    if words == ("0", "1"):
        words = ("0 (no)", "1 (yes)")
    return ["" if cell != cell else words[int(cell)] for cell in sample.cells[:, place]]


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


def means_by_group(
    codes: Floats, labels: Sequence[str], least: int, *, shares: bool
) -> dict[str, tuple[Floats, Floats, int]]:
    """Return the mean code of each group that is large enough, its standard errors and its number of rows.

    The error of a share is at least that of a share that is half a row from 0 and 1, so that it is never certain.
    """
    means = {}
    every = np.asarray(labels, object)
    for label, n in Counter(label for label in labels if label).most_common():
        if n >= least:
            rows = codes[every == label]
            mean, error = rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(n)
            edge = (0.5 / (n + 1.0)) * (1.0 - 0.5 / (n + 1.0)) / n
            means[label] = (mean, np.maximum(error, np.sqrt(edge)) if shares else error, n)
    return means


def group_codes(context: Context, fit: Fit) -> Floats:
    """Return the latent part of each sampled row.

    Classes, causes and hidden units are probabilities, positions are standard deviations from the mean of all rows.
    """
    codes = np.asarray(fit.model.transform(context.sample.cells), np.float64)
    if fit.name in SCALES:
        return np.asarray((codes - codes.mean(axis=0)) / np.maximum(codes.std(axis=0), 1e-12))
    return np.asarray(codes[:, unit_order(context, fit.model)])


def groups(context: Context, fit: Fit) -> list[Finding]:
    """Describe how the groups of rows differ.

    If the groups belong mostly to different classes, each is named with its class. Otherwise they are compared on the
    class, cause, hidden unit or dimension in which they differ most.
    """
    labels = labels_of(context)
    codes, scale = group_codes(context, fit), fit.name in SCALES
    means = means_by_group(codes, labels, least_rows(len(labels)), shares=not scale) if labels else {}
    if len(means) < 2:
        return []
    table = np.stack([mean for mean, _, _ in means.values()])
    errors = np.stack([error for _, error, _ in means.values()])
    unit = table.argmax(axis=1)
    if UNIT.get(fit.name) == "class" and len(set(unit[:MOST])) > 1:
        sentence, chosen = _by_class(context, list(means), table, errors), list(range(min(MOST, len(means))))
    else:
        sentence, unit, chosen = _by_gap(context, fit, list(means), table, errors)
    numbers: dict[str, Number] = {"groups": len(means)}
    lines = []
    for g in chosen:
        name, value, error = list(means)[g], float(table[g, unit[g]]), float(errors[g, unit[g]])
        numbers |= {f"mean of {name}": value, f"error of {name}": error, f"unit of {name}": int(unit[g]) + 1}
        numbers[f"rows of {name}"] = means[name][2]
        lines.append((name, value, error))
    by = plain(str(context.by), 40)
    alt = f"Groups of {by}, with two standard errors."
    drawing = dots(lines, alt) if scale else bars(lines, alt, [percent(value) for _, value, _ in lines])
    total = context.sample.look.n_rows
    return [Finding("groups", sentence, numbers, drawing, "groups", len(labels), total, f"Groups of {by}")]


def _by_class(context: Context, names: list[str], table: Floats, errors: Floats) -> str:
    """Name the class to which most rows of each of the largest groups belong."""
    phrases = []
    for g, name in enumerate(names[:MOST]):
        k = int(table[g].argmax())
        share = f"{percent(float(table[g, k]))} ± {100.0 * errors[g, k]:.1f}"
        phrases.append(f"{quoted(name)} {'mostly to class' if g == 0 else 'to class'} {k + 1} ({share})")
    among = of_rows(context, len(context.sample.cells))
    which = f"; the {word(MOST)} largest of {len(names)}" if len(names) > MOST else ""
    return f"The groups of {quoted(str(context.by))} belong to different classes{among}{which}: {joined(phrases)}."


def _by_gap(
    context: Context, fit: Fit, names: list[str], table: Floats, errors: Floats
) -> tuple[str, NDArray[np.intp], list[int]]:
    """Compare the groups where they differ most; return the sentence, that unit for every group, and the groups."""
    gap = table.max(axis=0) - table.min(axis=0)
    spread = np.hypot(*(np.take_along_axis(errors, group[None], 0)[0] for group in (table.argmax(0), table.argmin(0))))
    k = int(np.argmax(gap - ERRORS * spread))
    chosen = sorted(range(len(names)), key=lambda g: -table[g, k])
    if len(chosen) > MOST:
        chosen = [*chosen[: MOST // 2], *chosen[-(MOST // 2) :]]
    scale, many = fit.name in SCALES, table.shape[1]
    what = f"in the share of class {k + 1}"
    if scale:
        what = "in their position on the dimension" if many == 1 else f"on dimension {k + 1} of {many}"
    elif UNIT[fit.name] != "class":
        what = f"in the share of {UNIT[fit.name]} {k + 1}"
    values = joined(
        [f"{quoted(names[g])} {_with_error(float(table[g, k]), float(errors[g, k]), scale=scale)}" for g in chosen]
    )
    if scale:
        sample = context.sample
        sides = between_ends(context, fit, k)
        toward = f"; plus is towards {quoted(sample.names[sides.more[0]])}" if sides.more else ""
        values += f", in standard deviations from the mean of all rows{toward}"
    by, among = quoted(str(context.by)), of_rows(context, len(context.sample.cells))
    if len(names) > MOST:
        half = word(MOST // 2)
        among += f"; the {half} highest and the {half} lowest of {len(names)}"
    # The largest of many gaps is large by chance: sqrt(2 ln m) standard errors of m of them.
    edge = ERRORS + np.sqrt(2.0 * np.log(max(1.0, many * len(names) * (len(names) - 1) / 2.0)))
    if gap[k] > edge * spread[k]:
        sentence = f"The groups of {by} differ most {what}{among}: {values}."
    else:
        sentence = f"The groups of {by} do not differ clearly under this model{among}; the most {what}: {values}."
    return sentence, np.full(len(names), k), chosen


def _with_error(value: float, error: float, *, scale: bool) -> str:
    return f"{value:+.2f} ± {error:.2f}" if scale else f"{percent(value)} ± {100.0 * error:.1f}"
