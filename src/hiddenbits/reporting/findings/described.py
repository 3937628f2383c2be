"""Which of the tied models the findings describe."""

from __future__ import annotations

from hiddenbits.reporting.context import Context
from hiddenbits.reporting.fits import Fit

# Influences raise and lower every column at once, which takes many words: a tied model with kinds or scales says it in
# fewer, and no worse.
HARD_TO_READ = "CombinationMachine"
READABLE = ("LatentClassAnalysis", "LogisticPCA", "ClippedPCA", "NoisyOrNetwork", HARD_TO_READ)


def described(context: Context) -> Fit | None:
    """Return the chosen model, or a tied one where it is hard to read or its fit was cut short; None if all were."""
    compared = context.fits.compared
    tied = sorted((name for name in compared.ties() if name in READABLE), key=READABLE.index)
    order = [compared.best, *tied]
    if compared.best == HARD_TO_READ:
        order = tied
    for name in order:
        fit = context.fits.of(name, compared.entry(name).size)
        if not fit.note:
            return fit
    return None
