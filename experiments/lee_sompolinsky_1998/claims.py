"""Every claim of the paper: how it was tested, its figure next to ours, and the verdict."""

from typing import Any

from claims_of_model import of_the_model, of_the_ring, of_the_rule
from claims_of_twos import of_the_end, of_the_introduction, of_the_twos
from common import UNKNOWN, claims_table


def claims(found: dict[str, Any]) -> str:
    """The table, and how many claims got each verdict."""
    rows = [
        *of_the_introduction(found),
        *of_the_model(found),
        *of_the_rule(found),
        *of_the_ring(found["translation"], found["low_rank"]),
    ]
    digits = found["digits"]
    rows += [["Section 4: the twos", "", "", digits, UNKNOWN]] if isinstance(digits, str) else of_the_twos(found)
    rows += of_the_end(found)
    return claims_table(rows)
