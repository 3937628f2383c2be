"""The first two sentences: what the table is, and which picture of it fits."""

from __future__ import annotations

import math

from hiddenbits.reporting.comparison import label, sized
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings.finding import Number
from hiddenbits.reporting.text import count, percent, times


def about_table(context: Context) -> tuple[str, dict[str, Number]]:
    """Say what the table is."""
    seen = context.sample.look
    share = seen.n_ones / max(1, int(seen.observed.sum()))
    blank = seen.n_blank / max(1, seen.n_rows * seen.n_columns)
    said = (
        f"A table of {count(seen.n_rows, 'row')} and {count(seen.n_columns, 'yes/no column')}: {percent(share)} of the "
        f"recorded cells are yes (1), and {f'{percent(blank)} are blank' if seen.n_blank else 'none is blank'}."
    )
    return said, {"rows": seen.n_rows, "columns": seen.n_columns, "share_of_ones": share, "share_of_blanks": blank}


def about_picture(context: Context) -> tuple[str, dict[str, Number]]:
    """Say which model fits and how sure that is."""
    if not context.sample.worth_it:
        return "The table is too small, or its columns vary too little, to look for anything hidden.", {}
    found = context.fits.compared
    best, even = found.entry(found.best), found.ties()
    if best.model == "IndependentBits":
        return (
            f"Nothing hidden was found: none of {len(found.entries)} models predicts unseen rows clearly better than "
            "columns that have nothing to do with each other.",
            {"models": len(found.entries), "test_rows": found.n_test},
        )
    alone = next((e for e in found.entries if e.model == "IndependentBits"), None)
    gain = math.nan if alone is None else best.difference - alone.difference
    said = f"What fits best is “{label(best.model)}” ({sized(best.model, best.size)})"
    if len(even) > 1:
        others = " and ".join(f"“{label(model)}”" for model in even if model != best.model)
        said = (
            f"It is a tie: “{label(best.model)}” ({sized(best.model, best.size)}) fits as well as {others}, and is "
            "the simplest"
        )
    if not math.isnan(gain):
        said += f"; it makes an unseen row {times(gain)} as probable as columns that have nothing to do with each other"
    return said + ".", {"gain": gain, "test_rows": found.n_test, "ties": len(even), "size": best.size}
