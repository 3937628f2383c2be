"""Which picture fits: the comparison on rows that the models have not seen."""

from __future__ import annotations

import math

from markupsafe import Markup

from hiddenbits import evaluate
from hiddenbits.evaluate import Comparison
from hiddenbits.report.context import Context
from hiddenbits.report.parts import Figure, Grid, Part, Section, Text
from hiddenbits.report.svg import WIDE, Drawing
from hiddenbits.report.words import count, names, sentence, times

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
    best, even = found.entries[0], found.ties()[1:]
    opening = _opening(found)
    parts: list[Part] = [
        Figure(
            _drawn(found),
            sentence(
                "How far each picture stays behind the best one on {} that no model had seen (fitted to {}). The line "
                "shows two standard errors either way: pictures whose line reaches 0 cannot be told from the best.",
                count(found.n_test, "row"),
                f"{found.n_train:,} others",
            ),
            Grid(
                "The pictures, the best first",
                ["picture", "what it says", "size", "behind the best", "", "score of a row"],
                [
                    [
                        picture(e.model),
                        PICTURES[e.model].says,
                        sized(e.model, e.size),
                        "best" if e is best else f"{-e.difference:.3f} ± {e.difference_error:.3f}",
                        "even with the best" if e.model in even else e.note,
                        f"{e.log_likelihood:.3f}",
                    ]
                    for e in found.entries
                ],
                frozenset({3, 5}),
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
    how = [
        (
            "comparison",
            "a quarter of the rows held out; sizes chosen on a fifth of the others; mean of score_samples, paired",
        ),
        *((picture(e.model), f"hiddenbits.{e.model}({e.size})") for e in found.entries),
    ]
    return Section("which", "Which picture fits", opening, parts, how)


def _opening(found: Comparison) -> Markup:
    best, even = found.entries[0], found.ties()[1:]
    number = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}.get(len(found.entries), str(len(found.entries)))
    if best.model == "IndependentBits":
        return sentence(
            "Of {} pictures none predicts unseen rows better than “nothing hidden”: as far as these rows can tell, the "
            "columns have nothing to do with each other.",
            number,
        )
    if "IndependentBits" in even:
        return sentence(
            "None of {} pictures predicts unseen rows clearly better than “nothing hidden”: the best of them, “{}”, "
            "cannot be told from it, so what is said below about hidden things may be chance.",
            number,
            picture(best.model),
        )
    words = sentence(
        "Of {} pictures of what may lie behind this table, “{}” ({}) predicts rows that it has not seen best",
        number,
        picture(best.model),
        sized(best.model, best.size),
    )
    alone = next((e for e in found.entries if e.model == "IndependentBits"), None)
    if alone is not None:
        ratio = times(-alone.difference)
        words += sentence(": it finds an average row {} as probable as “nothing hidden” does", ratio)
    if even:
        words += sentence(", though {} cannot be told from it", names([f"“{picture(model)}”" for model in even]))
    return words + Markup(".")


def _drawn(found: Comparison) -> Markup:
    """Draw how far each picture is behind the best."""
    entries = found.entries
    width, left, line = WIDE, 138.0, 32.0
    reach = [
        (abs(e.difference), 2.0 * (0.0 if math.isnan(e.difference_error) else e.difference_error)) for e in entries
    ]
    low = min(min(0.0, middle - half) for middle, half in reach)
    high = max(middle + half for middle, half in reach) or 1.0
    scale = (width - left - 24.0) / (high - low or 1.0)
    said = "; ".join(f"{picture(e.model)} {abs(e.difference):.2f}" for e in entries)
    drawn = Drawing(width, line * len(entries) + 44, f"Behind the best picture: {said}.", "wide")
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
            0 if number == 0 else 1,
            at(middle),
            y,
            f"{picture(entry.model)}: {middle:.3f} behind",
        )
    drawn.text(at(0.0), bottom + 16, "0", anchor="middle", style="small")
    drawn.text(at(high), bottom + 16, f"{high:.2f}", anchor="end", style="small")
    drawn.text((at(0.0) + width) / 2, bottom + 34, "behind the best, a row", anchor="middle", style="small")
    return drawn.done()
