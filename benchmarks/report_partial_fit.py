"""Write docs/partial_fit.md from the figures in benchmarks/results.

python benchmarks/report_partial_fit.py
"""

from pathlib import Path
from typing import Any

from report_parts import how, load, table

PAGE = Path(__file__).parent.parent / "docs" / "partial_fit.md"

TEXT = """# Learning from rows as they come: `partial_fit`
`partial_fit(X)` learns from some rows and can be called again and again with further ones. It keeps no rows: only parameters, and a
running average of the sums that an update needs. Every estimator has it but `Ensemble`, machines and networks too large to
enumerate, and machines whose size is chosen by `fit`.

```python
>>> import hiddenbits
>>> from hiddenbits.datasets import simulate_mixture
>>> X = simulate_mixture(4000, 10, 3, seed=0).X
>>> model = hiddenbits.BernoulliMixture(3, random_state=0)
>>> for start in range(0, 3000, 500):
...     model = model.partial_fit(X[start : start + 500])
>>> whole = hiddenbits.BernoulliMixture(3, random_state=0).fit(X[:3000])
>>> bool(model.score(X[3000:]) > whole.score(X[3000:]) - 0.01)
True

```

## What a call does
- The first call is a fit to its rows: starts, restarts (more than `n_init`, since few rows have more poor maxima) and stages. Of more than
  8,192 rows it takes about 4,096 for that. After a `fit` there is no such start: the fit's rows count as if they were what it expects.
- Then, and in every later call, one pass of online EM: sums of the rows at the present parameters, which enter the running average with
  (their share of the weight so far) to the power 0.8, and an update. So old rows fade slowly, and the average is over more and more rows.
- What the sums mean must not change with the parameters. A mixture of trees counts all pairs of columns in every call, since counts of links
  would outlive their trees; a polished map keeps for each column the quadratic that its rows have made, not a step. `ClippedPCA`
  adds up counts, and nothing fades.
- A model that was saved goes on as if it had not been; serial, threads and cluster give the same bits.

## What it promises
A contract that every family is held to (`tests/contracts/test_online.py`), on {seeds} tables of {rows:,} rows of a mixture, in calls of {call}:
1. Three times through the rows from nothing, it is within 0.05 nats a row of `fit` on held-out rows, or within the gap that the family's
   promises state with its reason: 0.15 for `NoisyOrNetwork` and 0.1 for `LogisticPCAMixture`, because the causes or maps that the first
   {call} rows lead to may not be those of all, and EM stays with them.
2. From the tenth call on it is never below independent bits.
3. After a `fit` to {fitted:,} rows, further rows of the same kind never take more than 0.005 nats a row away. `ClippedPCA` is the exception: call
   by call it is exactly `fit` to all rows, which need not score higher than a fit to some of them. `BinarySparseCoding` does not keep this on
   one table of the {seeds}: it loses 0.008 for a while, and ends 0.001 below the fit.

It does not promise that a start from a handful of rows finds what hundreds would: give the first call hundreds. Rows whose nature
drifts are followed slowly; begin again where they have become others.

## Measured
Held-out nats a row. "behind `fit`" after three times through the rows (less than 0: ahead, in a better maximum); "above independent", the
least from the tenth call on; "most lost" and "gained" by {more:,} further rows after a `fit` to {fitted:,}. Worst of {seeds} seeds, except
for the last, which is the mean.

{figures}

Families were measured in several runs of one command, the last of which was {how}
{before}"""


def behind(figures: dict[str, list[float]]) -> float:
    return max(fit - online for fit, online in zip(figures["fit"], figures["partial_fit"], strict=True))


def worst(figures: dict[str, list[float]]) -> list[str]:
    ends = zip(figures["after_further_rows"], figures["fit_to_the_first_rows"], strict=True)
    gained = [after - first for after, first in ends]
    return [
        f"{behind(figures):.3f}",
        f"{min(figures['lowest_above_independent']):.2f}",
        f"{max(figures['most_lost']):.4f}",
        f"{sum(gained) / len(gained):.3f}",
    ]


def page() -> str:
    report: dict[str, Any] = load("partial_fit")
    head = ["family", "behind `fit`", "above independent", "most lost", "gained"]
    rows: list[list[object]] = [[name, *worst(one)] for name, one in report["figures"].items()]
    earlier = load("partial_fit_before")
    was: list[list[object]] = [[name, *worst(one)] for name, one in earlier["figures"].items()]
    before = f"""
Before the first call was a fit, and with sums that did not outlive their parameters, the same command measured:

{table(head, was)}
"""
    return TEXT.format(
        seeds=report["seeds"],
        rows=report["rows"],
        call=report["call"],
        fitted=report["fitted"],
        more=report["rows"] - report["fitted"],
        figures=table(head, rows),
        how=how(report),
        before=before,
    )


def pages() -> dict[Path, str]:
    """The page, for tools/pages.py."""
    return {PAGE: page()}


if __name__ == "__main__":
    PAGE.write_text(page())
