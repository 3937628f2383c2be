"""Write the table of models in docs/scale.md, a pass over the page's reference job in measured constants, and results/large_tables.md.

python -m benchmarks.scale.page
"""

from pathlib import Path

from benchmarks.record import DOCS, how, load, table, topic_page, write
from experiments.common import filled

PAGE = DOCS / "scale.md"
ROWS, COLUMNS, CORES = 1e9, 1e5, 64 * 16  # of the reference job


def models() -> str:
    """Return the time of a pass over the reference table with each model, from its cost of a row."""
    report, rows = load("scale/pass_rates"), []
    for name, found in report["figures"].items():
        whole = found["columns"] == COLUMNS
        seconds = 1e-6 * found["microseconds_a_row"] * ROWS / CORES
        pairs = f"all pairs of columns: {8e-9 * COLUMNS**2:,.0f} GB, too large"
        rows.append(
            [
                name,
                f"{found['columns']:,}",
                f"{found['microseconds_a_row']:,.1f} µs",
                f"{seconds:,.0f} s" if whole else "",
                f"{8e-6 * found['statistics']:,.0f} MB" if whole else pairs,
            ]
        )
    head = ["model", "columns measured", "a row, one core", "a pass, all cores", "statistics of a pass"]
    return f"{table(head, rows)}\n\n{how(report)}"


def large_tables() -> tuple[str, ...]:
    return parquet(), levels(), mixed(), look(), memory(), rows_in_millions(), map_in_millions()


def parquet() -> str:
    report = load("scale/parquet")
    rows = [
        [
            f"{f['rows']:,}",
            f"{f['megabytes_on_disk']} MB",
            f"{f['seconds']} s",
            f"{f['rows_a_second_a_pass']:,}",
            f"{f['peak_memory_mb']} MB",
            f["log_likelihood_a_row_in_the_full_pass"],
        ]
        for f in report["figures"]
    ]
    head = ["rows", "on disk", "fit", "rows a second and pass", "peak memory", "log-likelihood a row"]
    return f"""## A table larger than memory
128 columns in Parquet files, 20 classes, parts of at most 64 MB, two threads. A fit is a first pass that counts, one pass of online EM and
one full pass.

{table(head, rows)}

Most of the time goes into reading and decoding Parquet. {how(report)}
"""


def levels() -> str:
    report = load("scale/levels")
    f = report["figures"]
    of_pass = {name: f[f"seconds_of_a_pass_{name}"] for name in ("files", "memory", "bare")}
    return f"""## Columns of levels
`LatentClassAnalysis(4)` with its defaults, {f["rows"]:,} rows of fifty columns with five levels ({f["bits"]} bits a row), in Parquet ({f["megabytes_on_disk"]} MB), one thread. Peak memory of the whole process: **{f["peak_memory_mb"]:,} MB** (goal: under 1,000), of which {f["memory_before_mb"]} MB before the table is opened. The fit takes {f["seconds"]:g} s of processor time, with {f["seconds_to_open"]:g} s to open the table, and makes {f["passes_over_all_rows"]} passes over all rows.
A pass over all rows takes {of_pass["files"]:.2f} s from the files. In memory it takes {of_pass["memory"]:.2f} s, {of_pass["memory"] / of_pass["bare"]:.2f} times its bare products ({of_pass["bare"]:.2f} s: two products and one exponential; both measured on a tenth of the rows).

{how(report)}
"""


def mixed() -> str:
    report = load("scale/mixed")
    f = report["figures"]
    return f"""## Columns of every type
`LatentClassAnalysis(4)` with its defaults, {f["rows"]:,} rows of 20 binary, 10 nominal and 15 continuous columns with 5% missing and 5 counts, in Parquet ({f["megabytes_on_disk"]} MB), one thread. Peak memory of the whole process: **{f["peak_memory_mb"]:,} MB** (goal: under 1,000), of which {f["memory_before_mb"]} MB before the table is opened. The fit takes {f["seconds"]:g} s of processor time, with {f["seconds_to_open"]:g} s to open the table; a pass over all rows takes {f["seconds_of_a_pass_files"]:.2f} s from the files, and {f["seconds_of_a_pass_memory"]:.2f} s in memory.

{how(report)}
"""


def look() -> str:
    report = load("scale/look")
    rows = [
        [f"{f['rows']:,}", f"{f['seconds']} s", f"{f['rows_a_second']:,}", f"{f['peak_memory_mb']} MB"]
        for f in report["figures"]
    ]
    return f"""## Looking at a large table
`hiddenbits look` on the same table. Times include the start of Python. The goal was under 60 s for 20 million rows, with memory that does not grow.

{table(["rows", "look", "rows a second", "peak memory"], rows)}

{how(report)}
"""


def memory() -> str:
    report = load("scale/memory")
    rows = [
        [
            f["form"],
            f"{f['rows']:,}",
            f"{f['seconds_opening']} s",
            f"{f['seconds_reading']} s",
            f"{f['peak_memory_mb']} MB",
        ]
        for f in report["figures"]
    ]
    return f"""## Every form that is larger than memory
{report["columns"]} columns of bits, or five items a row; opened, and read once in parts of at most 64 MB. A reader of batches and pairs are written
to temporary files while they are opened. Other work ran on the machine. The goal was less than 1,000 MB.

{table(["form", "rows", "opening", "reading", "peak memory"], rows)}

{how(report)}
"""


def rows_in_millions() -> str:
    report = load("scale/scale")
    figures, cluster = report["figures"]["threads"], report["figures"]["cluster"]
    largest, million = figures[-1], next(f for f in figures if f["rows"] == 1_000_000)
    note = f" {report['figures']['note']}" if report["figures"]["note"] else ""
    same = "the same to the last bit" if cluster["same_parameters"] else "NOT the same"
    return f"""## A hundred million rows
1,000 columns, one cell in a hundred a one, in Parquet files of item lists; `LatentClassAnalysis(32)` on two threads. There are four passes: one counts, one is online EM, one is a full
pass of EM, and one scores. Every pass read the files; since then lists of items are gathered at opening. The time of the simulation is not included ({largest["seconds_to_simulate"]:.0f} s for the largest).{note}

{sizes(figures)}

Goals: under 6 minutes at the largest size ({largest["seconds"] / 60:.1f}), under 2 GB ({largest["peak_memory_mb"] / 1000:.2f}), and a cost of a row at most 1.2 times that
with a million rows ({largest["microseconds_a_row"] / million["microseconds_a_row"]:.2f}; in processor time {largest["processor_microseconds_a_row"] / million["processor_microseconds_a_row"]:.2f}). Runs of up to a million rows are medians of three.

The largest job was also run on two dask workers of one thread each, one of which was killed (SIGKILL) after {", ".join(map(str, cluster["worker_killed_after"]))} s. It took {cluster["seconds"] / 60:.1f} minutes ({cluster["seconds_fit"]:.0f} s for the fit,
{cluster["seconds_score"]:.0f} s for the score) and {cluster["peak_memory_mb"]:,} MB in all processes together. The fitted parameters are {same}. {how(report)}
"""


def sizes(figures: list[dict]) -> str:
    """Return the table of what each size took."""
    rows = [
        [
            f"{f['rows']:,}",
            f"{f['ones']:.3g}",
            f"{f['bytes_on_disk'] / 1e6:,.0f} MB",
            f"{f['seconds_fit']:,.1f} s",
            f"{f['seconds_score']:,.1f} s",
            f"{f['microseconds_a_row']:.2f} µs",
            f"{f['processor_microseconds_a_row']:.2f} µs",
            f"{f['peak_memory_mb']:,} MB",
            f"{f['log_likelihood_a_row']:.4f}",
        ]
        for f in figures
    ]
    head = ["rows", "ones", "on disk", "fit", "score", "a row", "a row, processor time", "peak memory", "nats a row"]
    return table(head, rows)


def map_in_millions() -> str:
    report = load("scale/scale_map")
    figures = report["figures"]["threads"]
    largest = figures[-1]
    whole = 100_000_000
    reached = (
        f"{largest['seconds'] / 60:.1f} minutes"
        if largest["rows"] == whole
        else f"not measured; {whole / largest['rows']:.0f} times the processor time of the largest size, shared by two cores, "
        f"would be {largest['processor_microseconds_a_row'] * whole / 2e6 / 60:.0f} minutes"
    )
    return f"""## A map of many rows
`LogisticPCA(2)` by the ones (how: `docs/design/passes_by_the_ones.md`) on the same tables, two threads, with the extra `fast`. There are six passes: one counts, one draws the rows that the map begins on (five passes over all rows below a million), one is
online EM, two are full passes, and one scores. Every pass reads the files. The goal was under 10 minutes for {whole:,} rows: {reached}. Memory grows with
the means of rows that are kept from pass to pass.

{sizes(figures)}

{how(report)}
"""


def pages() -> dict[Path, str]:
    page = filled(PAGE.read_text(encoding="utf-8"), "models", models())
    return {PAGE: page, **topic_page("large_tables", "scale", "Large tables", *large_tables())}


if __name__ == "__main__":
    write(pages())
