"""Which picture fits: the comparison on rows that the models have not seen."""

from __future__ import annotations

import math

from markupsafe import Markup

from hiddenbits import evaluate
from hiddenbits.evaluate import Comparison
from hiddenbits.report.context import Context
from hiddenbits.report.elements import Figure, Grid, Part, Section, Text
from hiddenbits.report.svg import WIDE, Drawing
from hiddenbits.report.text import count, names, sentence, times

PICTURES = evaluate.known_families()


def picture(model: str) -> str:
    """Return what people call a model."""
    return PICTURES[model].picture


def sized(model: str, size: str) -> str:
    """Return the size of a model in words."""
    unit = PICTURES[model].unit
    return count(int(size), unit) if unit and size.isdigit() else size


def which(context: Context) -> Section:
    """Say which picture fits."""
    found = context.fits.compared
    highest, even = found.entries[0], found.ties()
    opening = _opening(found)
    parts: list[Part] = [
        Figure(
            _drawn(found),
            sentence(
                "How far each picture stays behind the highest score, on {} that the fits had not seen{}. The line "
                "shows two standard errors either way: pictures whose line reaches 0 cannot be told from the highest. "
                "The dot of another colour is the picture that is named: the simplest of those.",
                count(found.n_test, "row"),
                "" if found.n_splits == 1 else f", held out in {found.n_splits} parts",
            ),
            Grid(
                "The pictures, the highest score first",
                ["picture", "what it says", "size", "numbers to fit", "behind the highest", "", "score of a row"],
                [
                    [
                        picture(e.model),
                        PICTURES[e.model].says,
                        sized(e.model, e.size),
                        "" if e.n_parameters is None else f"{e.n_parameters:,}",
                        "highest" if e is highest else f"{-e.difference:.3f} ± {e.difference_error:.3f}",
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
                "The score of a row is the natural logarithm of the probability that a picture gave it before seeing "
                "it. A picture that is 0.7 behind gives an average row half the probability, one that is 2.3 behind a "
                "tenth."
            )
        ),
    ]
    parts += [Text(sentence("Take it with care: {}", said)) for said in context.fits.warned]
    grouped = "" if context.sample.groups is None else ", groups=groups"
    how = [
        ("comparison", f"hiddenbits.evaluate.compare(table, measures=(), seed={context.sample.seed}{grouped})"),
        *((picture(e.model), f"hiddenbits.{e.model}({e.size})") for e in found.entries),
    ]
    return Section("which", "Which picture fits", opening, parts, how)


def _place(found: Comparison, model: str, even: list[str]) -> str:
    """Say what came of a picture."""
    if model == found.best:
        return "named: the simplest of the even ones" if len(even) > 1 else "named"
    return "even" if model in even else ""


def _opening(found: Comparison) -> Markup:
    """Say which picture is named; that it is a tie comes first."""
    best, even = found.entry(found.best), found.ties()
    number = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}.get(len(found.entries), str(len(found.entries)))
    if best.model == "IndependentBits":
        return sentence(
            "Of {} pictures none predicts unseen rows clearly better than “nothing hidden”: as far as these rows can "
            "tell, the columns have nothing to do with each other, and what is said below about hidden things may be "
            "chance.",
            number,
        )
    if len(even) > 1:
        words = sentence(
            "It is a tie: of {} pictures of what may lie behind this table, {} cannot be told apart by how well they "
            "predict rows that they have not seen. “{}” ({}) is the simplest of them, and the sections below go by it",
            number,
            names([f"“{picture(model)}”" for model in even]),
            picture(best.model),
            sized(best.model, best.size),
        )
    else:
        words = sentence(
            "Of {} pictures of what may lie behind this table, “{}” ({}) predicts rows that it has not seen best",
            number,
            picture(best.model),
            sized(best.model, best.size),
        )
    alone = next((e for e in found.entries if e.model == "IndependentBits"), None)
    if alone is not None:
        ratio = times(best.difference - alone.difference)
        words += sentence(": it finds an average row {} as probable as “nothing hidden” does", ratio)
    return words + Markup(".")


def _drawn(found: Comparison) -> Markup:
    """Draw how far each picture is behind the highest."""
    entries = found.entries
    width, left, line = WIDE, 138.0, 32.0
    reach = [
        (abs(e.difference), 2.0 * (0.0 if math.isnan(e.difference_error) else e.difference_error)) for e in entries
    ]
    low = min(min(0.0, middle - half) for middle, half in reach)
    high = max(middle + half for middle, half in reach) or 1.0
    scale = (width - left - 24.0) / (high - low or 1.0)
    said = "; ".join(f"{picture(e.model)} {abs(e.difference):.2f}" for e in entries)
    drawn = Drawing(width, line * len(entries) + 44, f"Behind the highest score: {said}.", "wide")
    bottom = line * len(entries) + 6

    def at(value: float) -> float:
        return left + 12.0 + (value - low) * scale

    drawn.add('<line class="zero" x1="{0:.1f}" y1="0" x2="{0:.1f}" y2="{1:.1f}"/>', at(0.0), bottom)
    for number, (entry, (middle, half)) in enumerate(zip(entries, reach, strict=True)):
        y = line * (number + 0.5)
        drawn.text(left - 4, y + 5, picture(entry.model), anchor="end")
        drawn.add(
            '<line class="whisker" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>',
            at(middle - half),
            y,
            at(middle + half),
            y,
        )
        drawn.add(
            '<circle class="k{}" cx="{:.1f}" cy="{:.1f}" r="6"><title>{}</title></circle>',
            0 if entry.model == found.best else 1,
            at(middle),
            y,
            f"{picture(entry.model)}: {middle:.3f} behind",
        )
    drawn.text(at(0.0), bottom + 16, "0", anchor="middle", style="small")
    drawn.text(at(high), bottom + 16, f"{high:.2f}", anchor="end", style="small")
    drawn.text((at(0.0) + width) / 2, bottom + 34, "behind the highest, a row", anchor="middle", style="small")
    return drawn.done()
