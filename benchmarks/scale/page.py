"""Write docs/scale.md: the reference job in measured constants. The arithmetic is here, the constants are in results.

python -m benchmarks.scale.page    # and docs/performance/large_tables.md
"""

from pathlib import Path

from benchmarks.page_parts import DOCS, how, load, table, topic_page, write
from benchmarks.scale.pass_rates import MIXTURE
from benchmarks.scale.tables import large_tables

PAGE = DOCS / "scale.md"

# The reference job of the design: a billion rows of a hundred thousand columns, one cell in a thousand a one.
ROWS, COLUMNS, DENSITY, CLASSES = 1e9, 1e5, 1e-3, 100
NODES, CORES = 64, 16
PART_BYTES = 128 * 2**20  # large parts keep the number of tasks down
NETWORK = 1.25e9  # bytes a second of a node: a 10-gigabit line, assumed


# Of the committed results; passes by the ones have been for up to three dimensions since commit b1584a4.
MAP_BY_ONES = "LogisticPCA, 10 dimensions, cost by the ones"


def reference(overhead: dict, rates: dict) -> str:
    ones = ROWS * COLUMNS * DENSITY
    csr, packed = ones * 4 + ROWS * 8, ROWS * COLUMNS / 8
    parts = csr / PART_BYTES
    statistics = COLUMNS * CLASSES * 8
    mixture = rates[f"BernoulliMixture, {CLASSES} classes"]
    rate = 4.0 * COLUMNS * DENSITY * CLASSES / (1e-6 * mixture["microseconds_a_row"])
    arithmetic = 4 * ones * CLASSES / (rate * NODES * CORES)
    task = 1e-3 * overhead["many_parts"][-1]["milliseconds_a_task"]
    tasks = parts * 8 / 7
    # Neighbouring parts share a worker, where eight answers become one before anything travels.
    moved = sum(parts / 8**level for level in (1, 2, 3)) * statistics + NODES * statistics
    rows = [
        ["ones", f"{ones:.0e}", "rows x columns x density"],
        ["as a CSR pattern, 32-bit indices", f"{csr / 1e9:.0f} GB", "4 bytes a one, 8 a row"],
        ["as packed bits", f"{packed / 1e12:.1f} TB", "one bit a cell: smaller than CSR only above 3% ones"],
        ["parts of 128 MB", f"{parts:,.0f}", f"{csr / NODES / 1e9:.1f} GB a node, so the parts stay in memory"],
        [
            "arithmetic of a pass",
            f"{arithmetic:.0f} s",
            f"4 x ones x {CLASSES} classes at {rate / 1e9:.2f} Gflop/s a core (measured), {NODES} nodes x {CORES} cores",
        ],
        [
            "scheduling of a pass",
            f"{tasks * task:.1f} s",
            f"{tasks:,.0f} tasks at {1e3 * task:.2f} ms (measured); overlaps the arithmetic",
        ],
        ["parameters, statistics", f"{statistics / 1e6:.0f} MB each", "columns x classes, 8 bytes"],
        [
            "over the network in a pass",
            f"{moved / 1e9:.0f} GB",
            f"parameters to {NODES} nodes, and at most one sum for each eight parts; {moved / NODES / NETWORK:.1f} s if spread over {NODES} lines of 10 Gbit/s (assumed)",
        ],
    ]
    return table(["reference job, a mixture", "size", "from"], rows)


def each_model(rates: dict, n_rows: float) -> str:
    """Return the time of a pass over the reference table with each model, from its cost of a row."""
    rows = []
    for name, found in rates.items():
        whole = found["columns"] == COLUMNS
        seconds = 1e-6 * found["microseconds_a_row"] * n_rows / (NODES * CORES)
        rows.append(
            [
                name,
                f"{found['columns']:,}",
                f"{found['microseconds_a_row']:,.1f} µs",
                f"{seconds:,.0f} s" if whole else "",
                f"{8e-6 * found['statistics']:,.0f} MB"
                if whole
                else f"all pairs of columns: {8e-9 * COLUMNS**2:,.0f} GB, too large",
            ]
        )
    return table(["model", "columns measured", "a row, one core", "a pass, all cores", "statistics of a pass"], rows)


def moving(overhead: dict) -> str:
    large, tiny = overhead["large"], overhead["tiny"]
    cell = large["seconds"]["serial"] / (large["rows"] * large["columns"] * large["classes"])
    saved = 1 - large["times_serial"]["two_workers"]
    pays = tiny["milliseconds_a_pass_two_workers"] / 1e3 / saved
    return f"""A pass on two workers takes at least {tiny["milliseconds_a_pass_two_workers"]:.0f} ms for any table; a serial pass over a tiny table takes
{tiny["milliseconds_a_pass_serial"]:.1f} ms. Two workers save {100 * saved:.0f}% of a long pass. So they begin to pay when a serial pass takes about {pays:.2f} s. That is a dense table of
{pays / cell:.1e} cells x classes, for instance {pays / cell / 100 / 20:,.0f} rows of 100 columns with 20 classes. For smaller tables, use one process.

- **Serial**: for passes of up to about {10 * tiny["milliseconds_a_pass_serial"]:.0f} ms, where more workers gain nothing.
- **Threads** (`run_on(n_jobs=-1)`): for all longer passes, as long as one machine's disk is fast enough. Threads share the rows, start at once and
  cost nothing to set up. They also read tables larger than memory in parts.
- **Cluster**: when reading or arithmetic of a pass takes minutes on one machine. Decide by these times, not by the number of rows."""


def pages() -> dict[Path, str]:
    report, measured = load("cluster/run"), load("scale/pass_rates")
    rates = measured["figures"]
    beside, by_ones = rates[MIXTURE], rates[MAP_BY_ONES]
    overhead = report["figures"]
    large, many = overhead["large"], overhead["many_parts"]
    rows = [
        [
            name.replace("_", " "),
            f"{seconds:.2f} s",
            large["times_serial"][name],
            ", ".join(map(str, large["seconds_each"][name])),
        ]
        for name, seconds in large["seconds"].items()
    ]
    tasks = [
        [m["parts"], m["tasks_a_pass"], f"{m['seconds_a_pass']} s", f"{m['milliseconds_a_task']} ms"] for m in many
    ]
    page = f"""# Scale

Written by `python -m benchmarks.scale.page` from `benchmarks/scale/results/` and `benchmarks/cluster/results/`.

## What a cluster costs
One pass of a mixture ({large["classes"]} classes, {large["rows"]:,} x {large["columns"]} cells in memory, {large["parts"]} parts). All variants were measured alternately in one run; figures are medians of
{len(large["seconds_each"]["serial"])}. The two bare processes do the same arithmetic on one half of the rows each, without communication: the best
that two processes can do on this machine.

{table(["", "a pass", "times serial", "each"], rows)}

The goals were 1.10 for one worker and .65 for two.

Time of the scheduler itself, with almost no work in the parts, on two workers:

{table(["parts", "tasks a pass", "a pass", "a task"], tasks)}

{how(report)}

## When to move
{moving(overhead)}

## The reference job
A billion rows of a hundred thousand columns, one cell in a thousand a one, {CLASSES} classes, on {NODES} nodes of {CORES} cores. We have not run this job: the
table multiplies measured constants.

{reference(overhead, rates)}

## The reference job with each model
A pass over the same table. The cost of a row was measured on one core with rows of {COLUMNS:,.0f} columns and {COLUMNS * DENSITY:.0f} ones (models of pairs: rows of 2,000 columns
and 20 ones), and is multiplied by a billion and divided by {NODES * CORES:,} cores. The driver's update of the parameters is extra: it reads arrays
as large as the statistics once, and takes {by_ones["seconds_update"]:.1f} s for the map by the ones.

{each_model(rates, ROWS)}

Assumptions, and what was not measured:

- The cores are like those of the measuring machine, and each of {NODES * CORES:,} is assumed to be as fast as one alone. Two workers took
  {large["times_serial"]["two_workers"]} of the serial time, where half would be perfect; memory shared by sixteen cores may cost more.
- Rows are read from memory. If every pass reads them from disk, a pass takes at least as long as the disks need for {ROWS * (COLUMNS * DENSITY * 4 + 8) / 1e9:.0f} GB.
- The cost of a row is assumed to be the same for a billion rows as for thousands. On one machine it did not rise from a million rows to a hundred million
  ([a hundred million rows](performance/large_tables.md)).
- The number of passes of a fit is not included: with online EM it is one to three, then a few full passes.
- Models that look at pairs of columns (`ClippedPCA`; `TreeMixture` and `HiddenTree` for their trees) need columns x columns numbers. For a hundred thousand columns that is
  {8e-9 * COLUMNS**2:,.0f} GB a copy, too much to send and add up in every pass; the table states the widths that were measured. Select columns, or use a model whose statistics grow linearly with the columns.
- `BinarySparseCoding` has real cells: {ROWS * COLUMNS * 8 / 1e12:,.0f} TB of them in double precision. Its figure covers the arithmetic only.
- `LogisticPCA` pays for zeros where it has a bound for every cell (why: `docs/design/curvature_of_each_cell.md`). By the ones, the default for large sparse tables without
  blanks, it does not (how: `docs/design/passes_by_the_ones.md`). A row then takes {by_ones["microseconds_a_row"] / beside["microseconds_a_row"]:.1f} times as long as
  with the mixture (the goal was at most 5). That is an older result, of ten dimensions, at commit b1584a4; such passes are now for one to three dimensions, which were
  not measured at this width.
- `CombinationMachine` also has a model phase: sums over 2^units states x columns on the driver, or sweeps of chains, where a chain costs as much as a row. It was not measured at this width.
- `NoisyOrNetwork` makes about forty passes of sweeps, and `BinarySparseCoding` sixty or more. The others make between a few and hundreds of passes.

{how(measured)}

## What breaks first
1. *Statistics on the network.* Every part returns columns x classes numbers. Neighbouring parts start on the same worker, which adds up eight results
   before it sends them. When workers die or tasks are stolen, more results are sent. The remedy is a larger `part_bytes`, as far as a worker's memory allows.
2. *The scheduler.* A pass takes at least the scheduler's time for all its tasks: a million parts would take {1e6 * 8 / 7 * many[-1]["milliseconds_a_task"] / 1e3 / 60:.0f} minutes of scheduling. Use a few
   thousand parts.
3. *The driver's update*, which is serial: columns x classes numbers a pass, {COLUMNS * CLASSES * 8 / 1e6:.0f} MB here. At a hundred times that size it takes seconds.
4. *Dense work on zeros*: models whose cost does not follow the ones (`LogisticPCA` with a bound for every cell: tables with blanks, or with many ones).
5. *32-bit indices*: a part holds fewer than 2^31 ones; 128 MB of them are {128 * 2**20 // 4:,}.
"""
    return {PAGE: page, **topic_page("large_tables", "scale", "Large tables", *large_tables())}


if __name__ == "__main__":
    write(pages())
