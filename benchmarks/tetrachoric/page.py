"""The figures of tetrachoric correlations: docs/performance/tetrachoric.md."""

from pathlib import Path

from benchmarks.page_parts import how, load, table, topic_page, write

TOGETHER, SIMULATED = "together", "simulated"


def tetrachoric() -> str:
    report = load("tetrachoric/peers")
    figures = report["figures"]
    rows = [
        [
            name,
            f"{f['rows']:,} x {f['columns']}",
            *(f"{f['milliseconds_a_pair'][who]:.3g}" for who in ("psych", "ordinalcorr", "hiddenbits")),
            f"{f['times_faster']['psych']:g} / {f['times_faster']['ordinalcorr']:g}",
            f"{f['differences']['psych']['largest']:.0e} / {f['differences']['ordinalcorr']['largest']:.0e}",
        ]
        for name, f in figures.items()
        if name not in (TOGETHER, SIMULATED)
    ]
    all_pairs, large = figures[TOGETHER], figures[SIMULATED]
    rows.append(
        [
            "together",
            f"{all_pairs['pairs']} pairs",
            "",
            "",
            "",
            "{psych:g} / {ordinalcorr:g}".format(**all_pairs["times_faster"]),
            "",
        ]
    )
    head = ["table", "size", "psych, ms a pair", "ordinalcorr", "hiddenbits", "times faster than psych / ordinalcorr"]
    head += ["largest difference, psych / ordinalcorr"]
    goals, peers = all_pairs["goals"], ", ".join(f"{name} {number}" for name, number in report["peers"].items())
    return f"""## Against psych and ordinalcorr
All programs get the same tables; ability has missing cells. Times are medians of paired runs. Differences are over pairs without an empty cell. The goals are {goals["psych"]} and {goals["ordinalcorr"]} times faster.
On a table as small as LSAT, our time is the overhead of a call, not arithmetic.

{table(head, rows)}

{large["rows"]:,} x {large["columns"]:,} simulated bits, with standard errors, take {large["seconds"]} s, {large["microseconds_a_pair"]} microseconds a pair. The goal is
{large["goal_seconds"]} s. {how(report)} {peers}.
"""


def cooccurrence() -> str:
    report = load("tetrachoric/cooccurrence")
    f = report["figures"]
    s, one = f["seconds"], f["seconds_of_a_sixteenth_on_one_thread"]
    return f"""## Co-occurrence counts of packed bits
{f["rows"]:,} x {f["columns"]:,} bits on two cores take {s["kernel"]} s by population count on words (the compiled kernel), {s["numpy"]} s by float32 products in our blocks, and {s["blas"]} s by
float32 products in large blocks with BLAS's own threads. The kernel is {f["times_faster"]} times faster than the better of the two others ({min(f["times_faster_each"])} to {max(f["times_faster_each"])}); the goal is {f["goal"]}. The
counts are {"equal, cell by cell" if f["equal"] else "NOT EQUAL"}. NumPy's own `bitwise_count`, on a sixteenth of the rows and one thread, takes {one["bitwise_count"]} s where products take {one["numpy"]} s
and the kernel {one["kernel"]} s. So without numba the library uses products. {how(report)}
"""


def pages() -> dict[Path, str]:
    return topic_page(
        "tetrachoric", "tetrachoric", "Tetrachoric correlations and pairs of columns", tetrachoric(), cooccurrence()
    )


if __name__ == "__main__":
    write(pages())
