"""Write docs/partial_fit.md from the figures in benchmarks/partial_fit/results.

python -m benchmarks.partial_fit.page
"""

from pathlib import Path
from typing import Any

from benchmarks.page_parts import DOCS, how, load, table

PAGE = DOCS / "partial_fit.md"

TEXT = """# Learning from rows as they come: `partial_fit`
`partial_fit(X)` learns from some rows and can be called repeatedly with further rows. It keeps no rows, only the parameters and a
running average of the sums that an update needs. All estimators have it; `CombinationMachine` and `NoisyOrNetwork` if they
are too large to enumerate; and a `CombinationMachine` whose size is chosen by `fit`.

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
- The first call fits the model to its rows, with starts, restarts (more than `n_init`, because a likelihood of few rows has more poor maxima) and
  stages. If there are more than 8,192 rows, it uses about 4,096 of them for this. After a `fit` this step is left out: the running average begins
  with the sums that the fitted model expects of the fit's rows.
- Then, and in every later call, it makes one pass of online EM. It computes the sums of the rows at the current parameters, adds them to the running
  average with weight (their share of the weight so far) to the power 0.8, and updates the parameters. So old rows fade slowly, and the average
  covers more and more rows.
- The meaning of the sums must not depend on the parameters. A mixture of trees therefore counts all pairs of columns in every call, because counts
  of links would be useless once the trees change. `LogisticPCA` with its polish keeps a quadratic
  approximation of the likelihood of each column instead of a Newton step.
  `ClippedPCA` adds up counts, and nothing fades.
- A model that was saved and loaded continues as if it had not been saved. Serial, threads and cluster give the same bits.

## What it promises
`tests/contracts/test_online.py` checks these promises for every family, on {seeds} tables of {rows:,} rows of a mixture, in calls of {call} rows:
1. After three passes through the rows, without an earlier `fit`, it is within 0.05 nats a row of `fit` on held-out rows. Two families promise only a larger
   gap: 0.15 for `NoisyOrNetwork`. The first {call} rows may lead to other causes or maps than all rows would,
   and EM does not find its way from there to better ones.
2. From the tenth call on it is never below independent bits.
3. After a `fit` to {fitted:,} rows, further rows of the same kind never lower the score by more than 0.005 nats a row. There are two exceptions.
   `ClippedPCA` equals `fit` to all rows so far after each call, and that need not score higher than a fit to some of them.
   `BinarySparseCoding` breaks the promise on one of the {seeds} tables: it loses 0.008 for a while, and ends 0.001 below the fit.

It does not promise that a start from a handful of rows finds what a start from hundreds would: give the first call hundreds of rows. If the rows
drift, the model follows slowly. If they have changed completely, start with a new model.

## Measured
Figures are held-out nats a row. "Behind `fit`": after three passes through the rows; a negative figure means ahead, in a better maximum. "Above independent": the
lowest value from the tenth call on. "Most lost" and "gained": through {more:,} further rows after a `fit` to {fitted:,} rows. Figures are the worst
of {seeds} seeds, except the last column, which is the mean.

{figures}

The families were measured in several runs of one command. The last run was {how}
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
    report: dict[str, Any] = load("partial_fit/run")
    head = ["family", "behind `fit`", "above independent", "most lost", "gained"]
    rows: list[list[object]] = [[name, *worst(one)] for name, one in report["figures"].items()]
    earlier = load("partial_fit/before")
    was: list[list[object]] = [[name, *worst(one)] for name, one in earlier["figures"].items()]
    before = f"""
An earlier version did not begin with a fit, and the meaning of its sums depended on the parameters. The same command measured:

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
