"""Which model fits: the comparison on held-out rows."""

from __future__ import annotations

import math

from markupsafe import Markup

from hiddenbits import evaluate
from hiddenbits.evaluate import Comparison
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.svg import WIDE, Drawing, room, ticks
from hiddenbits.reporting.text import Figure, Grid, Part, Section, Text, count, names, sentence, times
from hiddenbits.shown import with_error

FAMILIES = evaluate.known_families()


def label(model: str) -> str:
    """Return the plain-language name of a model, such as "latent classes"."""
    return FAMILIES[model].picture


def sized(model: str, size: str) -> str:
    """Return the size of a model in words."""
    unit = FAMILIES[model].unit
    return count(int(size), unit, "classes" if unit == "class" else None) if unit and size.isdigit() else size


def comparison(context: Context) -> Section:
    """Say which model fits."""
    found = context.fits.compared
    highest, even = found.entries[0], found.ties()
    opening = _opening(found)
    parts: list[Part] = [
        Figure(
            _drawn(found),
            sentence(
                "How far each model is behind the highest score, on {} that were not used to fit it{}. The line shows "
                "two standard errors either way: models whose line reaches 0 cannot be distinguished from the best. "
                "The dot in another color is the chosen model: the simplest of those.",
                count(found.n_test, "row"),
                "" if found.n_splits == 1 else f", held out in {found.n_splits} parts",
            ),
            Grid(
                "The models, the highest score first",
                ["model", "assumption", "size", "parameters", "behind the highest", "", "score per row"],
                [
                    [
                        label(e.model),
                        FAMILIES[e.model].says,
                        sized(e.model, e.size),
                        "" if e.n_parameters is None else f"{e.n_parameters:,}",
                        "highest" if e is highest else with_error(abs(e.difference), e.difference_error, 3),
                        _place(found, e.model, even) or e.note,
                        f"{e.log_likelihood:.3f}",
                    ]
                    for e in found.entries
                ],
                frozenset({3, 4, 6}),
            ),
        ),
        Text(
            Markup(
                "The score of a row is the natural logarithm of the probability that a model gives it before seeing "
                "it. A model that is 0.7 behind gives an average row half the probability; one that is 2.3 behind, a "
                "tenth."
            )
        ),
    ]
    parts += [Text(sentence("Caution: {}", said)) for said in context.fits.warned]
    grouped = "" if context.sample.groups is None else ", groups=groups"
    how = [
        ("comparison", f"hiddenbits.evaluate.compare(table, measures=(), random_state={context.sample.seed}{grouped})"),
        *((label(e.model), f"hiddenbits.{e.model}({e.size})") for e in found.entries),
    ]
    return Section("which", "Which model fits", opening, parts, how)


def _place(found: Comparison, model: str, even: list[str]) -> str:
    """Return the result of a model in words: chosen, tied or nothing."""
    if model == found.best:
        return "chosen: the simplest of the tied models" if len(even) > 1 else "chosen"
    return "tied" if model in even else ""


def _many(number: int) -> str:
    return {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}.get(number, str(number))


def _opening(found: Comparison) -> Markup:
    """Say which model is chosen; a tie is said first."""
    best, even = found.entry(found.best), found.ties()
    number = _many(len(found.entries))
    if best.model == "IndependentColumns":
        return sentence(
            "None of {} other models predicts unseen rows clearly better than “nothing hidden”: these rows give no "
            "clear evidence that the columns depend on each other.",
            _many(len(found.entries) - 1),
        )
    if len(even) > 1:
        words = sentence(
            "It is a tie: of {} models of what may lie behind this table, {} predict unseen rows equally well, within "
            "the error. “{}” ({}) is the simplest of them, and rows, cells and blanks are judged by it",
            number,
            names([f"“{label(model)}”" for model in even]),
            label(best.model),
            sized(best.model, best.size),
        )
    else:
        words = sentence(
            "Of {} models of what may lie behind this table, “{}” ({}) predicts unseen rows best",
            number,
            label(best.model),
            sized(best.model, best.size),
        )
    alone = next((e for e in found.entries if e.model == "IndependentColumns"), None)
    if alone is not None:
        ratio = times(best.difference - alone.difference)
        words += sentence(": it makes an average row {} as probable as “nothing hidden” does", ratio)
    return words + Markup(".")


def _drawn(found: Comparison) -> Markup:
    """Draw how far each model is behind the highest."""
    entries = found.entries
    shown = [f"{label(e.model)}{f', {e.size}' if e.size else ''}" for e in entries]
    left, line = room(shown), 28.0
    reach = [
        (abs(e.difference), 2.0 * (0.0 if math.isnan(e.difference_error) else e.difference_error)) for e in entries
    ]
    low = min(min(0.0, middle - half) for middle, half in reach)
    high = max(middle + half for middle, half in reach) or 1.0
    scale = (WIDE - left - 40.0) / (high - low or 1.0)
    said = "; ".join([f"{label(e.model)} {abs(e.difference):.2f}" for e in entries[1:]])
    bottom = line * len(entries) + 6
    alt = f"Highest score: {label(entries[0].model)}.{f' Behind it: {said}.' if said else ''}"
    drawn = Drawing(WIDE, bottom + 44, alt, "wide")

    def at(value: float) -> float:
        return left + 12.0 + (value - low) * scale

    words = "behind the highest score, per row (in natural logarithms)"
    drawn.bottom_axis(ticks(low, high, 6), at, bottom, words, up_to=0.0)
    drawn.line(at(0.0), 0.0, at(0.0), bottom, "zero")
    for number, (entry, (middle, half)) in enumerate(zip(entries, reach, strict=True)):
        y = line * (number + 0.5)
        drawn.text(left - 4, y + 5, shown[number], anchor="end")
        title = f"{label(entry.model)}: the highest score"
        if number:
            drawn.line(at(middle - half), y, at(middle + half), y, "whisker")
            title = f"{label(entry.model)}: {with_error(middle, half / 2.0, 3)} behind"
        drawn.dot(at(middle), y, 6.0, "k1" if entry.model == found.best else "k0", title)
    return drawn.done()
