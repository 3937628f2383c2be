"""Write docs/scale.md: the reference job in measured constants. The arithmetic is here, the constants are in benchmarks/results.

python benchmarks/report_scale.py
"""

from pathlib import Path

from report_parts import how, load, table, write

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"

# The reference job of the design: a billion rows of a hundred thousand columns, one cell in a thousand a one.
ROWS, COLUMNS, DENSITY, CLASSES = 1e9, 1e5, 1e-3, 100
NODES, CORES = 64, 16
PART_BYTES = 128 * 2**20  # parts as large as that keep the number of tasks down
NETWORK = 1.25e9  # bytes a second of a node: a 10-gigabit line, assumed


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
        ["as packed bits", f"{packed / 1e12:.1f} TB", "a bit a cell: smaller only above 3% ones"],
        ["parts of 128 MB", f"{parts:,.0f}", f"{csr / NODES / 1e9:.1f} GB a node: they stay in memory"],
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
    """What a pass over the reference table would take with each model, from its cost of a row."""
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
                else f"all pairs of columns: {8e-9 * COLUMNS**2:,.0f} GB, do not fit",
            ]
        )
    return table(["model", "columns measured", "a row, one core", "a pass, all cores", "statistics of a pass"], rows)


def moving(overhead: dict) -> str:
    large, tiny = overhead["large"], overhead["tiny"]
    cell = large["seconds"]["serial"] / (large["rows"] * large["columns"] * large["classes"])
    saved = 1 - large["times_serial"]["two_workers"]
    pays = tiny["milliseconds_a_pass_two_workers"] / 1e3 / saved
    return f"""A pass on two workers costs at least {tiny["milliseconds_a_pass_two_workers"]:.0f} ms, whatever the table; serially a pass over a tiny table takes
{tiny["milliseconds_a_pass_serial"]:.1f} ms. Two workers save {100 * saved:.0f}% of a long pass. So they begin to pay when a serial pass takes about {pays:.2f} s: a dense table of
{pays / cell:.1e} cells x classes, for instance {pays / cell / 100 / 20:,.0f} rows of 100 columns with 20 classes. Below that, stay with one process.

- **Serial**: passes of up to about {10 * tiny["milliseconds_a_pass_serial"]:.0f} ms; nothing is gained by more hands.
- **Threads** (`run_on(n_jobs=-1)`): everything longer, as long as one machine's disk can feed it. Threads share the rows, start at once and
  cost nothing to set up. Tables larger than memory are read in parts all the same.
- **Cluster**: when reading or arithmetic of a pass takes minutes on one machine; in seconds of arithmetic, not in rows."""


def pages() -> dict[Path, str]:
    report, measured = load("cluster_overhead"), load("pass_rates")
    rates = measured["figures"]
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

Written by `python benchmarks/report_scale.py` from `benchmarks/results/`.

## What a cluster costs
One pass of a mixture ({large["classes"]} classes, {large["rows"]:,} x {large["columns"]} cells in memory, {large["parts"]} parts), in one run, taking turns; medians of
{len(large["seconds_each"]["serial"])}. The two bare processes do the same arithmetic on one half of the rows each and talk to nobody: the best
that two processes can do on this machine.

{table(["", "a pass", "times serial", "each"], rows)}

The goals were 1.10 for one worker and .65 for two.

What the scheduler itself takes, with next to no work in the parts, two workers:

{table(["parts", "tasks a pass", "a pass", "a task"], tasks)}

{how(report)}

## When to move
{moving(overhead)}

## The reference job
A billion rows of a hundred thousand columns, one cell in a thousand a one, {CLASSES} classes, on {NODES} nodes of {CORES} cores. Nobody has run this here: the
table multiplies measured constants.

{reference(overhead, rates)}

## The reference job with each model
A pass over the same table. The cost of a row was measured on one core with rows of {COLUMNS:,.0f} columns and {COLUMNS * DENSITY:.0f} ones (models of pairs: rows of 2,000 columns
and 20 ones), and is multiplied by a billion and divided by {NODES * CORES:,} cores. The update of the parameters, on the driver, comes on top: it goes once through
arrays as large as the statistics.

{each_model(rates, ROWS)}

What this rests on, and what was not measured:

- The cores are those of the machine that measured, and {NODES * CORES:,} of them are assumed to work as fast side by side as one does alone. Two workers took
  {large["times_serial"]["two_workers"]} of the time of one, where half would be perfect; memory shared by sixteen cores may cost more.
- Rows are read from memory. Read from disk in every pass they would take as long as the disks need for {ROWS * (COLUMNS * DENSITY * 4 + 8) / 1e9:.0f} GB.
- The cost of a row is taken to be the same for a billion rows as for thousands. On one machine it did not rise from a million rows to a hundred million
  ([a hundred million rows](performance.md)).
- How many passes a fit takes is another question: with online EM one to three, then a few full ones.
- Models that look at pairs of columns (`ClippedPCA`; `TreeMixture` and `HiddenTree` for their trees) need columns x columns numbers. A hundred thousand columns are beyond them,
  however many machines there are; the widths measured are those of the table. Choose columns, or a model whose statistics grow with the columns.
- `BinarySparseCoding` has real cells: {ROWS * COLUMNS * 8 / 1e12:,.0f} TB of them in double precision. The figure is one of arithmetic alone.
- `LogisticPCA` with a bound for every cell pays for zeros. `curvature="shared"` does not, but its bound is looser
  ([what is lost](performance.md)).
- `CombinationMachine` has its model phase besides: sums over 2^units states x columns on the driver, or sweeps of chains, which cost as much as rows do; not measured at this width.
- `NoisyOrNetwork` makes some forty passes of sweeps, and `BinarySparseCoding` sixty or more: the others some passes to hundreds.

{how(measured)}

## What breaks first
1. *Statistics on the network.* Every part answers with columns x classes numbers. Neighbouring parts begin on one worker, where eight answers
   become one; after deaths and thefts of tasks more of them travel. Larger `part_bytes` is the remedy, as far as the memory of a worker goes.
2. *The scheduler.* Its time a task bounds a pass from below: a million parts would take {1e6 * 8 / 7 * many[-1]["milliseconds_a_task"] / 1e3 / 60:.0f} minutes of scheduling. Keep to some
   thousand parts.
3. *The driver's update*, which is serial: columns x classes numbers a pass, {COLUMNS * CLASSES * 8 / 1e6:.0f} MB here; seconds at a hundred times that.
4. *Dense work on zeros*: models whose cost does not follow the ones (`LogisticPCA` with a bound for every cell).
5. *32-bit indices*: a part holds fewer than 2^31 ones; 128 MB of them are {128 * 2**20 // 4:,}.
"""
    return {PAGE: page}


if __name__ == "__main__":
    write(pages())
