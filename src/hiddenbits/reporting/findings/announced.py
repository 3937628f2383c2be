"""How many of the kinds, scales or causes that the opening announces are described below it, and why not all."""

from __future__ import annotations

from collections.abc import Sequence

from hiddenbits import evaluate
from hiddenbits.reporting.findings.finding import Finding
from hiddenbits.reporting.findings.words import word

FIRST = {"kind": "the largest", "scale": "the first"}  # of the others: those that explain most


def how_many(model: str, size: int, found: Sequence[Finding], shown: Sequence[Finding]) -> tuple[str, int]:
    """Return a sentence that says how many of `size` units are described, and that number.

    The sentence is empty where all are. `found` has all units that can be described, `shown` those for which there is
    room.
    """
    unit, n = evaluate.known_families()[model].unit, len(shown)
    if n == size or (unit == "kind" and size == 2 and n):  # one finding describes both kinds
        return "", size
    ends = "the two ends of " if unit == "scale" else ""
    if not n:
        which = f"The {unit} is not" if size == 1 else f"None of the {word(size)} {unit}s is"
        what = f"{ends}{'it' if size == 1 else 'them'}"
        return f" {which} described below: what sets {what} apart is too uncertain to be named.", 0
    if len(found) > n:
        why = f": {FIRST.get(unit, 'those that explain most' if n > 1 else 'the one that explains most')}"
        why += "" if len(found) == size else " of those about which enough is certain"
    else:
        why = f"; what sets {ends}the {'other' if size - n == 1 else 'others'} apart is too uncertain to be named"
    return f" Of the {word(size)} {unit}s, {word(n)} {'is' if n == 1 else 'are'} described below{why}.", n
