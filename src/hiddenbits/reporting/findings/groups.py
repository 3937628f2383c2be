"""The finding about groups (`by`): how they differ under the chosen model, with standard errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.directions import differences_of_ends
from hiddenbits.reporting.findings.drawings import bars, dots
from hiddenbits.reporting.findings.effects import MIN_ERRORS, least_rows
from hiddenbits.reporting.findings.finding import Finding, Number
from hiddenbits.reporting.findings.units import unit_order
from hiddenbits.reporting.findings.words import among_rows, in_words, join
from hiddenbits.reporting.fits import Fit
from hiddenbits.reporting.text import percent, plain, quoted

MAX_GROUPS = 4  # groups in the sentence
MAX_VALUES = 7  # distinct numbers; a column with more is cut into thirds
DIMENSIONAL = ("LogisticPCA", "ClippedPCA")
UNIT_NAMES = {"LatentClassAnalysis": "class", "CombinationMachine": "hidden unit", "NoisyOrNetwork": "cause"}


def labels_of(context: Context) -> list[str]:
    """Return the group of each sampled row, "" if it has none; a column of many numbers is cut into thirds."""
    by, sample = context.by, context.sample
    if by in sample.beside:
        return _in_thirds(sample.beside[by])
    if by not in sample.own_names:
        return []
    column = sample.own_names.index(by)
    labels = sample.values.labels(column)
    if labels == ("0", "1"):
        labels = ("0 (no)", "1 (yes)")
    return ["" if cell != cell else labels[int(cell)] for cell in sample.cells[:, column]]


def _in_thirds(values: Sequence[str]) -> list[str]:
    """Return values as they are, or numbers as low, middle and high."""
    try:
        numbers = np.array([float(value) if value.strip() else np.nan for value in values])
    except ValueError:
        return [value.strip() for value in values]
    if len(set(values)) <= MAX_VALUES or not np.isfinite(numbers).any():
        return [value.strip() for value in values]
    low, high = np.nanquantile(numbers, [1 / 3, 2 / 3])
    named = (f"up to {low:g}", f"{low:g} to {high:g}", f"above {high:g}")
    return ["" if x != x else named[0] if x <= low else named[1] if x <= high else named[2] for x in numbers]


def means_by_group(
    codes: Floats, labels: Sequence[str], min_rows: int, *, shares: bool
) -> dict[str, tuple[Floats, Floats, int]]:
    """Return the mean latent values of each group that is large enough, their standard errors and its number of rows.

    Shares of 0 and 1 get the error of a share half a row away, so that no error is 0.
    """
    means = {}
    all_labels = np.asarray(labels, object)
    for label, n in Counter(label for label in labels if label).most_common():
        if n >= min_rows:
            rows = codes[all_labels == label]
            mean, error = rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(n)
            min_variance = (0.5 / (n + 1.0)) * (1.0 - 0.5 / (n + 1.0)) / n
            means[label] = (mean, np.maximum(error, np.sqrt(min_variance)) if shares else error, n)
    return means


def group_codes(context: Context, fit: Fit) -> Floats:
    """Return the latent values of each sampled row.

    These are probabilities of classes, causes or hidden units, or standardized positions on dimensions.
    """
    codes = np.asarray(fit.model.transform(context.sample.cells), np.float64)
    if fit.name in DIMENSIONAL:
        return np.asarray((codes - codes.mean(axis=0)) / np.maximum(codes.std(axis=0), 1e-12))
    return np.asarray(codes[:, unit_order(context, fit.model)])


def groups(context: Context, fit: Fit) -> list[Finding]:
    """Describe how the groups of rows differ.

    If most rows of different groups belong to different classes, the finding names the class of each group. Otherwise
    it compares the groups on the class, cause, hidden unit or dimension in which they differ most.
    """
    labels = labels_of(context)
    codes, has_dimensions = group_codes(context, fit), fit.name in DIMENSIONAL
    means = means_by_group(codes, labels, least_rows(len(labels)), shares=not has_dimensions) if labels else {}
    if len(means) < 2:
        return []
    table = np.stack([mean for mean, _, _ in means.values()])
    errors = np.stack([error for _, error, _ in means.values()])
    unit = table.argmax(axis=1)
    if UNIT_NAMES.get(fit.name) == "class" and len(set(unit[:MAX_GROUPS])) > 1:
        sentence, chosen = _by_class(context, list(means), table, errors), list(range(min(MAX_GROUPS, len(means))))
    else:
        sentence, unit, chosen = _by_largest_difference(context, fit, list(means), table, errors)
    numbers: dict[str, Number] = {"groups": len(means)}
    lines = []
    for group in chosen:
        name, value, error = list(means)[group], float(table[group, unit[group]]), float(errors[group, unit[group]])
        numbers |= {f"mean of {name}": value, f"error of {name}": error, f"unit of {name}": int(unit[group]) + 1}
        numbers[f"rows of {name}"] = means[name][2]
        lines.append((name, value, error))
    by = plain(str(context.by), 40)
    alt = f"Groups of {by}, with two standard errors."
    drawing = dots(lines, alt) if has_dimensions else bars(lines, alt, [percent(value) for _, value, _ in lines])
    total = context.sample.summary.n_rows
    return [Finding("groups", sentence, numbers, drawing, "groups", len(labels), total, f"Groups of {by}")]


def _by_class(context: Context, names: list[str], table: Floats, errors: Floats) -> str:
    """Name the class to which most rows of each of the largest groups belong."""
    phrases = []
    for g, name in enumerate(names[:MAX_GROUPS]):
        k = int(table[g].argmax())
        share = f"{percent(float(table[g, k]))} ± {100.0 * errors[g, k]:.1f}"
        phrases.append(f"{quoted(name)} {'mostly to class' if g == 0 else 'to class'} {k + 1} ({share})")
    among = among_rows(context, len(context.sample.cells))
    note = f"; the {in_words(MAX_GROUPS)} largest of {len(names)}" if len(names) > MAX_GROUPS else ""
    return f"The groups of {quoted(str(context.by))} belong to different classes{among}{note}: {join(phrases)}."


def _by_largest_difference(
    context: Context, fit: Fit, names: list[str], table: Floats, errors: Floats
) -> tuple[str, NDArray[np.intp], list[int]]:
    """Compare groups on the unit in which they differ most; return the sentence, this unit by group, and the groups."""
    gap = table.max(axis=0) - table.min(axis=0)
    gap_se = np.hypot(*(np.take_along_axis(errors, g[None], 0)[0] for g in (table.argmax(0), table.argmin(0))))
    k = int(np.argmax(gap - MIN_ERRORS * gap_se))
    chosen = sorted(range(len(names)), key=lambda g: -table[g, k])
    if len(chosen) > MAX_GROUPS:
        chosen = [*chosen[: MAX_GROUPS // 2], *chosen[-(MAX_GROUPS // 2) :]]
    scale, n_units = fit.name in DIMENSIONAL, table.shape[1]
    unit_text = f"in the share of class {k + 1}"
    if scale:
        unit_text = "in their position on the dimension" if n_units == 1 else f"on dimension {k + 1} of {n_units}"
    elif UNIT_NAMES[fit.name] != "class":
        unit_text = f"in the share of {UNIT_NAMES[fit.name]} {k + 1}"
    text = join(
        [f"{quoted(names[g])} {_with_error(float(table[g, k]), float(errors[g, k]), scale=scale)}" for g in chosen]
    )
    if scale:
        sample = context.sample
        diff = differences_of_ends(context, fit, k)
        end = f"; plus is towards {quoted(sample.names[diff.more[0]])}" if diff.more else ""
        text += f", in standard deviations from the mean of all rows{end}"
    by, note = quoted(str(context.by)), among_rows(context, len(context.sample.cells))
    if len(names) > MAX_GROUPS:
        half = in_words(MAX_GROUPS // 2)
        note += f"; the {half} highest and the {half} lowest of {len(names)}"
    # The largest of m gaps is about sqrt(2 ln m) standard errors by chance.
    limit = MIN_ERRORS + np.sqrt(2.0 * np.log(max(1.0, n_units * len(names) * (len(names) - 1) / 2.0)))
    if gap[k] > limit * gap_se[k]:
        sentence = f"The groups of {by} differ most {unit_text}{note}: {text}."
    else:
        sentence = f"The groups of {by} do not differ clearly under this model{note}; the most {unit_text}: {text}."
    return sentence, np.full(len(names), k), chosen


def _with_error(value: float, error: float, *, scale: bool) -> str:
    return f"{value:+.2f} ± {error:.2f}" if scale else f"{percent(value)} ± {100.0 * error:.1f}"
