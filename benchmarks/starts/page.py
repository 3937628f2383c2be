"""The figures of starts: benchmarks/results/long_tables.md and class_starts.md."""

from pathlib import Path
from typing import Any

from benchmarks.record import how, kept, load, result, table, topic_page, write

WITH_ONE = ("HiddenTree", "CombinationMachine(6)")  # their fits without a limit are older
REACHED, OVERRUN = 0.99, 5.0  # share of the gain that counts as reached; seconds above the limit that a pass may take


def two_ways() -> str:
    report = load("starts/long_tables")
    return f"""A fit to a long table begins on a subsample (`docs/design/start_on_a_subsample.md`) of its rows, and the best of the restarts there goes on over all rows.

## Next to fits that use all rows throughout
{report["rows"]:,} x {report["columns"]} bits, {report["seeds"]} seeds. Rows are simulated from ten classes, those for `LogisticPCA` from a plane. "Rare ones": in 15 columns only one in 100 to one in 10,000 of the ones is kept. Processor seconds are medians over seeds, and "times faster" is the median of the seeds' ratios (one thread, in turn, other work on the second core).
"Higher by" is (begun on few rows) minus (all rows throughout), in nats a row: the objective seed by seed, then the median of the log-likelihood of new rows. Below 0 the fit that used all rows throughout was better. Fits with several restarts have twice as many on the subsample: part of what is above 0 comes from these. Both ways end in one of several maxima; {report["seeds"]} seeds cannot tell small differences from chance.
{lower(report)}

{_beside(report, "begun on few rows", "all rows throughout")}

{how(report)}
"""


def second() -> str:
    report = load("starts/second_subsample")
    slower = [
        f"{_quoted(name)} ({f['times_faster']:.2f})"
        for name, f in report["figures"].items()
        if f["times_faster"] < 0.95
    ]
    some_lower = [
        f"{_quoted(name)} (at worst {min(f['each_seed_higher_by']):+.3f})"
        for name, f in report["figures"].items()
        if min(f["each_seed_higher_by"]) < -0.001
    ]
    return f"""## The second subsample
Fits to 131,072 rows or more go on from the first subsample over a second one, eight times as large, before they go on over all rows (`TopographicMap` from 262,144 rows on: its two fits here are the same). Here they stand next to fits that go straight from the first subsample to all rows: {report["rows"]:,} x {report["columns"]} bits, {report["seeds"]} seeds, the rest as above.
Slower by more than a twentieth: {", ".join(slower) or "none"}. Lower by more than 0.001 with one seed or more: {", ".join(some_lower) or "none"}.

{_beside(report, "with it", "without it")}

{how(report)}
"""


def _beside(report: dict[str, Any], ours: str, other: str) -> str:
    """Return the table of two ways to fit."""
    rows = [
        [
            _quoted(name),
            f"{f['seconds']:.1f}",
            f"{f['seconds_other_way']:.1f}",
            f"{f['times_faster']:.2f}",
            ", ".join(f"{value + 0.0:+.3f}".replace("-0.000", "0.000") for value in f["each_seed_higher_by"]),
            f"{f['new_rows_higher_by']:+.3f}",
        ]
        for name, f in report["figures"].items()
    ]
    head = [
        "default fit",
        f"seconds, {ours}",
        f"seconds, {other}",
        "times faster",
        "higher by, each seed",
        "higher by, new rows",
    ]
    return table(head, rows)


def _quoted(name: str) -> str:
    """Return a family in quotes, and the kind of its table after them."""
    family, rare, _ = name.partition(", rare ones")
    return f"`{family}`{rare}"


def lower(report: dict[str, Any]) -> str:
    """Say which families are mostly behind, by more than their objectives' last digit."""
    behind = {name: sum(value < -0.001 for value in f["each_seed_higher_by"]) for name, f in report["figures"].items()}
    named = [
        f"{_quoted(name)} ({count} of {report['seeds']})"
        for name, count in behind.items()
        if 2 * count > report["seeds"]
    ]
    return f"Lower by more than 0.001 with most seeds: {', '.join(named) or 'none'}."


def wide() -> str:
    report = load("starts/wide_table")
    limit, figures = report["limit"], report["figures"]
    ends = kept("starts/wide_table_converged")
    shares = {name: f["gain"] / ends[name]["gain"] for name, f in figures.items() if name in ends and f["gain"]}
    rows = [
        [
            f"`{name}`",
            f"{f['seconds']:.0f}",
            f["passes"],
            f["stop_reason"],
            _with_error(f),
            f"{ends[name]['gain']:.2f}" if name in ends else "not measured",
            f"{shares[name]:.1%}" if name in shares else "",
            f"{ends[name]['gain'] - f['gain']:+.2f}" if name in shares else "",
            f"{ends[name]['seconds']:,.0f}" if name in ends else "",
            f.get("likelihood", ""),
        ]
        for name, f in figures.items()
    ]
    behind = [f"`{name}` ({share:.1%})" for name, share in shares.items() if share < REACHED]
    unknown = [f"`{name}`" for name in figures if name not in shares]
    late = [f"`{name}` ({f['seconds']:.0f} s)" for name, f in figures.items() if f["seconds"] > limit + OVERRUN]
    said = [
        f"Below {REACHED:.0%} of the gain of the fit without a limit: {', '.join(behind)}." if behind else "",
        f"There is no fit without a limit of {', '.join(unknown)} to compare with." if unknown else "",
        f"The fits without a limit of {', '.join(f'`{name}`' for name in WITH_ONE)} are older: they went straight from the first subsample to all rows, so that the two may end in other maxima.",
        f"Later than {limit + OVERRUN:g} seconds: {', '.join(late)}." if late else "",
    ]
    head = [
        "default fit",
        "seconds",
        "passes",
        "stopped",
        "gain",
        "gain without a limit",
        "share reached",
        "behind by",
        "processor seconds without a limit",
        "log-likelihood",
    ]
    return f"""## {report["rows"]:,} x {report["columns"]:,} packed bits
Default fits on two threads, with a limit of {limit:g} seconds (`run_on(max_time=...)`): they end with the pass that is nearest to it. Passes are those over all rows, or, where there was no time for one, over the second subsample, of 32,768 rows. {" ".join(one for one in said if one)}
Seconds with the limit are by the clock; without it they are processor seconds of both threads. One seed, rows simulated from 20 classes with one dimension inside each. The gain is the mean log-likelihood of new rows above that of independent bits, in nats a row, with its standard
error over 5,000 rows. It may fall on the way to convergence, so that a fit that stopped early may be ahead.

{table(head, rows)}

{how(report)}
"""


def _with_error(f: dict[str, Any]) -> str:
    """Return a gain with its standard error; older records have none."""
    error = f" ± {f['gain_error']:.2f}" if "gain_error" in f else ""
    return "" if f["gain"] is None else f"{f['gain']:.2f}{error}"


def verdicts() -> str:
    report = load("compare/long_tables")
    rows: list[list[Any]] = [
        [name, *(f"{f[key]['best']} {f[key]['size']}".strip() for key in f), *(f"{f[key]['seconds']:.0f}" for key in f)]
        for name, f in report["figures"].items()
    ]
    keys = list(next(iter(report["figures"].values())))
    head = ["rows from", *keys, *(f"seconds, {key}" for key in keys)]
    return f"""## `evaluate.compare`
By default `compare` draws 40,000 rows of a longer table. The table shows the model that it picks from that sample, and for 160,000 rows also the one that it picks with all of them (`cv=0.25`, which fits to three quarters of all rows). Tables are simulated and have 20 columns. Processor seconds are of one run each and vary by a fifth. That the two agree does not show that they are right:

{table(head, rows)}

{how(report)}
"""


def classes() -> str:
    report = load("starts/classes")
    rows: list[list[Any]] = [
        [
            name,
            f"{f['right']} of {f['tables']}",
            f"{f['from_noise_right']:.0%}",
            f"{f['passes']:g}",
            f"{f['seconds']:.3f}",
        ]
        for name, f in report["figures"].items()
    ]
    right, tables = (sum(f[key] for f in report["figures"].values()) for key in ("right", "tables"))
    low = [
        f"{name}: {', '.join(map(str, f['wrong_below']))}" for name, f in report["figures"].items() if f["wrong_below"]
    ]
    head = ["simulated tables", "right", "restarts from random shares that are right", "passes", "seconds"]
    return f"""A fit of `LatentClassAnalysis` with one start (`n_init=1`) ends at the best maximum known in **{right} of {tables}** tables. Goal: 229 of 240, and 35 of 40 in each design.

{report["rows"]:,} rows a table, equal shares of the classes unless given; an item has one of the two probabilities in each class, at random unless given. Right: the objective is at most {report["close"]:g} nats of the whole table below the best of the fit, EM from the true model, and {report["restarts"]} restarts with another seed, of which all but the first begin with random shares of each row in the classes. Seeds {report["seeds"]}. Passes and processor seconds are medians.
Wrong, and nats below the best: {"; ".join(low) or "none"}.

{table(head, rows)}

{how(report)}
"""


def pages() -> dict[Path, str]:
    parts = {
        "starts/long_tables": two_ways,
        "starts/second_subsample": second,
        "starts/wide_table": wide,
        "compare/long_tables": verdicts,
    }
    made = [part() for name, part in parts.items() if result(name).exists()]
    starts = topic_page("class_starts", "starts", "Starts of latent classes", classes())
    return {**topic_page("long_tables", "starts", "Fits to long tables", *made), **starts}


if __name__ == "__main__":
    write(pages())
