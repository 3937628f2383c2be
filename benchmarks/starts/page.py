"""The figures of fits to long tables: docs/performance/long_tables.md."""

from pathlib import Path
from typing import Any

from benchmarks.page_parts import how, load, table, topic_page, write
from benchmarks.record import result


def two_ways() -> str:
    report = load("starts/long_tables")
    rows = [
        [
            f"`{name}`",
            f"{f['seconds']:.1f}",
            f"{f['seconds_all_rows']:.1f}",
            f"{f['times_faster']:.1f}",
            ", ".join(f"{value:+.3f}" for value in f["each_seed_higher_by"]),
            f"{f['new_rows_higher_by']:+.3f}",
        ]
        for name, f in report["figures"].items()
    ]
    head = [
        "default fit",
        "begun on few rows",
        "all rows throughout",
        "times faster",
        "ends higher by",
        "new rows higher by",
    ]
    return f"""A fit to a long table [begins on a subsample](../decisions/start_on_a_subsample.md) of its rows, and the best of the restarts there goes on over all rows.

## Next to fits that use all rows throughout
{report["rows"]:,} x {report["columns"]} bits, {report["seeds"]} seeds. Processor seconds (medians, one thread, in turn, other work on the second core), and how much higher the fit ends that begins on few rows, in nats a row: its objective,
for each seed, and the log-likelihood of new rows (the median). Both ways end in one of several maxima; where the figures of seeds differ in sign, that is chance.

{table(head, rows)}

{how(report)}
"""


def wide() -> str:
    report = load("starts/wide_table")
    rows = [
        [
            f"`{name}`",
            f"{f['seconds']:.0f}",
            f["passes"],
            f["stop_reason"],
            "" if f["gain"] is None else f"{f['gain']:.2f}",
        ]
        for name, f in report["figures"].items()
    ]
    late = [f"`{name}`" for name, f in report["figures"].items() if f["stop_reason"] == "time"]
    said = f"Not over within {report['limit']:g} seconds: {', '.join(late)}." if late else "All were over before."
    return f"""## {report["rows"]:,} x {report["columns"]:,} packed bits
Default fits on two threads, other work on the machine for the first five, stopped after {report["limit"]:g} seconds (`run_on(max_time=...)`). {said} Seconds by the clock; the gain is the mean log-likelihood of new rows above that of independent bits,
in nats, for families that have it in closed form.

{table(["default fit", "seconds", "passes over all rows", "stopped", "gain"], rows)}

{how(report)}
"""


def verdicts() -> str:
    report = load("compare/long_tables")
    rows: list[list[Any]] = [
        [name, *(f"{f[key]['best']} {f[key]['size']}".strip() for key in f), *(f"{f[key]['seconds']:.0f}" for key in f)]
        for name, f in report["figures"].items()
    ]
    keys = list(next(iter(report["figures"].values())))
    head = ["rows from", *keys, *(f"seconds, {key}" for key in keys)]
    return f"""## `evaluate.compare`
By default `compare` draws 40,000 rows of a longer table. What it names on simulated tables of 20 columns, next to what it names with all rows (`cv=0.25`), and processor seconds:

{table(head, rows)}

{how(report)}
"""


def pages() -> dict[Path, str]:
    parts = {"starts/long_tables": two_ways, "starts/wide_table": wide, "compare/long_tables": verdicts}
    made = [part() for name, part in parts.items() if result(name).exists()]
    return topic_page("long_tables", "starts", "Fits to long tables", *made)


if __name__ == "__main__":
    write(pages())
