"""Which model fits: the comparison on held-out rows."""

from __future__ import annotations

import math

from markupsafe import Markup

from hiddenbits import evaluate
from hiddenbits.display import with_error
from hiddenbits.evaluate import Comparison
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.svg import TEXT_WIDTH, Drawing, text_width, ticks
from hiddenbits.reporting.text import Chart, Paragraph, Part, Section, TextTable, count, names, sentence, times

FAMILIES = evaluate.known_families()


def label(model: str) -> str:
    """Return the plain-language name of a model, such as "latent classes"."""
    return FAMILIES[model].picture


def sized(model: str, size: str) -> str:
    """Return the size of a model in words."""
    unit = FAMILIES[model].unit
    return count(int(size), unit, "classes" if unit == "class" else None) if unit and size.isdigit() else size


def comparison(context: Context) -> Section:
    """Show which model fits."""
    result = context.fits.compared
    highest, tied = result.entries[0], result.ties()
    opening = _opening(result)
    parts: list[Part] = [
        Chart(
            _difference_lines(result),
            sentence(
                "Difference of each model from the highest log-likelihood, on {} that were held out{}. The line shows "
                "two standard errors either way: models whose line reaches 0 cannot be distinguished from the best. "
                "The dot in another color is the chosen model: the simplest of those.",
                count(result.n_test, "row"),
                "" if result.n_splits == 1 else f", in {result.n_splits} folds",
            ),
            TextTable(
                "The models, the highest log-likelihood first",
                ["model", "assumption", "size", "parameters", "below the highest", "", "log-likelihood per row"],
                [
                    [
                        label(e.model),
                        FAMILIES[e.model].says,
                        sized(e.model, e.size),
                        "" if e.n_parameters is None else f"{e.n_parameters:,}",
                        "highest" if e is highest else with_error(abs(e.difference), e.difference_error, 3),
                        _verdict(result, e.model, tied) or e.note,
                        f"{e.log_likelihood:.3f}",
                    ]
                    for e in result.entries
                ],
                frozenset({3, 4, 6}),
            ),
        ),
        Paragraph(
            Markup(
                "The log-likelihood of a held-out row is the natural logarithm of its probability under a model. A "
                "model that is 0.7 lower gives an average row half the probability; one that is 2.3 lower, a tenth."
            )
        ),
    ]
    parts += [Paragraph(sentence("Caution: {}", warning)) for warning in context.fits.warned]
    grouped = "" if context.sample.groups is None else ", groups=groups"
    how = [
        ("comparison", f"hiddenbits.evaluate.compare(table, measures=(), random_state={context.sample.seed}{grouped})"),
        *((label(e.model), f"hiddenbits.{e.model}({e.size})") for e in result.entries),
    ]
    return Section("which", "Which model fits", opening, parts, how)


def _verdict(result: Comparison, model: str, tied: list[str]) -> str:
    """Return "chosen", "tied" or "" for a model."""
    if model == result.best:
        return "chosen: the simplest of the tied models" if len(tied) > 1 else "chosen"
    return "tied" if model in tied else ""


def _in_words(number: int) -> str:
    return {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}.get(number, str(number))


def _opening(result: Comparison) -> Markup:
    """Name the chosen model, and the tied models if there are any."""
    best, tied = result.entry(result.best), result.ties()
    number = _in_words(len(result.entries))
    if best.model == "IndependentColumns":
        return sentence(
            "None of {} other models predicts held-out rows clearly better than “nothing hidden”: these rows give no "
            "clear evidence that the columns depend on each other.",
            _in_words(len(result.entries) - 1),
        )
    if len(tied) > 1:
        text = sentence(
            "It is a tie: of {} models, {} predict held-out rows equally well, within the error. “{}” ({}) is the "
            "simplest of them; outliers, data errors and missing values are evaluated under it",
            number,
            names([f"“{label(model)}”" for model in tied]),
            label(best.model),
            sized(best.model, best.size),
        )
    else:
        text = sentence(
            "Of {} models, “{}” ({}) predicts held-out rows best",
            number,
            label(best.model),
            sized(best.model, best.size),
        )
    independent = next((e for e in result.entries if e.model == "IndependentColumns"), None)
    if independent is not None:
        ratio = times(best.difference - independent.difference)
        text += sentence(": it makes an average row {} as probable as “nothing hidden” does", ratio)
    return text + Markup(".")


def _difference_lines(result: Comparison) -> Markup:
    """Draw the difference of each model from the highest log-likelihood."""
    entries = result.entries
    shown = [f"{label(e.model)}{f', {e.size}' if e.size else ''}" for e in entries]
    left, line = text_width(shown), 28.0
    ranges = [
        (abs(e.difference), 2.0 * (0.0 if math.isnan(e.difference_error) else e.difference_error)) for e in entries
    ]
    low = min(min(0.0, middle - half) for middle, half in ranges)
    high = max(middle + half for middle, half in ranges) or 1.0
    scale = (TEXT_WIDTH - left - 40.0) / (high - low or 1.0)
    differences = "; ".join([f"{label(e.model)} {abs(e.difference):.2f}" for e in entries[1:]])
    bottom = line * len(entries) + 6
    alt = f"Highest: {label(entries[0].model)}.{f' Lower by: {differences}.' if differences else ''}"
    svg = Drawing(TEXT_WIDTH, bottom + 44, alt, "wide")

    def x(value: float) -> float:
        return left + 12.0 + (value - low) * scale

    axis_label = "below the highest log-likelihood, in nats per row"
    svg.bottom_axis(ticks(low, high, 6), x, bottom, axis_label, up_to=0.0)
    svg.line(x(0.0), 0.0, x(0.0), bottom, "zero")
    for number, (entry, (middle, half)) in enumerate(zip(entries, ranges, strict=True)):
        y = line * (number + 0.5)
        svg.text(left - 4, y + 5, shown[number], anchor="end")
        title = f"{label(entry.model)}: the highest"
        if number:
            svg.line(x(middle - half), y, x(middle + half), y, "whisker")
            title = f"{label(entry.model)}: {with_error(middle, half / 2.0, 3)} lower"
        svg.dot(x(middle), y, 6.0, "k1" if entry.model == result.best else "k0", title)
    return svg.done()
