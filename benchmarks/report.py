"""Write docs/performance.md from the figures in benchmarks/results.

python benchmarks/report.py
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"


def load(name: str) -> dict[str, Any]:
    return json.loads((HERE / "results" / f"{name}.json").read_text())


def table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def how(report: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    return f"`{report['command']}`; {report['cores']} cores, {versions}."


def stepmix() -> str:
    report = load("against_stepmix")
    rows = [
        [
            name,
            f"{f['rows']:,} x {f['columns']}",
            f"{f['seconds_stepmix']:.1f} s",
            f"{f['seconds_hiddenbits']:.2f} s",
            f"{f['times_faster']} ({', '.join(map(str, f['times_faster_each']))})",
            f["goal"],
            f"{max(f['log_likelihood_stepmix']):.1f} / {max(f['log_likelihood_hiddenbits']):.1f}",
            f"{f['restarts']} / {f['restarts_hiddenbits']}",
        ]
        for name, f in report["figures"].items()
    ]
    head = ["table", "size", "StepMix", "hiddenbits", "times faster", "goal", "best log-likelihood", "restarts"]
    return f"""## Bernoulli mixture against StepMix
{report["classes"]} classes, maximum likelihood, both programs from the same starts. StepMix stops when a step gains less than
{report["tol"]:g} nats a row. hiddenbits stops a restart that has reached StepMix's best likelihood, and goes on with further restarts
until one has. The last two columns are StepMix / hiddenbits.

{table(head, rows)}

Where it comes from: equal rows are collapsed (not on audio, which has none), EM is extrapolated, blocks stay in the
cache. {how(report)}
"""


def leaps() -> str:
    report = load("leaps")
    rows = [
        [
            name,
            f["starts"],
            f"{f['median_passes_plain']:g} / {f['median_passes_with_leaps']:g}",
            f"{f['mean_log_likelihood_plain']} / {f['mean_log_likelihood_with_leaps']}",
            f["below"],
            f["above"],
        ]
        for name, f in report["figures"].items()
    ]
    head = ["table", "starts", "median passes", "mean log-likelihood a row", "ended below plain EM", "ended above"]
    return f"""## What extrapolation gains
Plain EM / with leaps, {report["classes"]} classes, from the same starts, the same tolerance ({report["tol"]:g} nats a row).

{table(head, rows)}

{how(report)}
"""


def retail() -> str:
    report = load("retail")
    f = report["figures"]
    fit = f["fit"]
    return f"""## A wide sparse table
`retail.dat` ({f["rows"]:,} baskets x {f["columns"]:,} items, {f["ones"]:,} ones), 50 classes, one thread: {fit["passes"]} passes to
convergence in {fit["seconds"]} s, peak memory {fit["peak_memory_mb"]} MB (a dense float64 copy would take 11.6 GB). Mean log-likelihood
{fit["mean_log_likelihood"]} nats a basket; independent items {fit["mean_log_likelihood_independent_bits"]}.

Time a pass follows the ones: {f["milliseconds_a_pass"]} ms, and {f["milliseconds_a_pass_with_doubled_columns"]} ms with as many columns of zeros again;
the median of {len(f["ratios"])} paired ratios is {f["ratio"]} (from {min(f["ratios"])} to {max(f["ratios"])}: the machine is noisy). What is left
is the update of classes x columns parameters. {how(report)}
"""


def scale() -> str:
    report = load("scale_parquet")
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
128 columns in Parquet files, 20 classes, parts of at most 64 MB, two threads: a first pass that counts, one pass of online EM,
one full pass.

{table(head, rows)}

Reading and decoding Parquet is most of the time. {how(report)}
"""


def bare_logistic() -> str:
    report = load("bare_logistic")
    rows = [
        [
            f["dimensions"],
            f["dtype"],
            f"{f['cpu_seconds_a_pass']} s",
            f"{f['cpu_seconds_bare']} s",
            f"{f['ratio']} ({min(f['ratios'])} to {max(f['ratios'])})",
        ]
        for f in report["figures"]
    ]
    head = ["dimensions", "precision", "a pass", "bare", "ratio"]
    return f"""## Logistic PCA against its own arithmetic
One pass over {report["figures"][0]["rows"]:,} x 256 cells, divided by the same matrix products and one tanh a cell over the same blocks in plain NumPy, in
processor time, medians of paired turns. The goal is 1.5; it is not met. What is left: further steps over the cells at 2 dimensions, the inverse of
each row's precision at 10 and 40, which single precision does not make faster.

{table(head, rows)}

{how(report)}
"""


def shared_curvature() -> str:
    report = load("shared_curvature")
    rows = [
        [
            name,
            f"{f['rows']:,} x {f['columns']}",
            f"{100 * f['density']:.1f}%",
            f["independent"],
            f["cell"]["held_out"],
            f["shared"]["held_out"],
            "" if f["loss_share_of_gain"] is None else f"{100 * f['loss_share_of_gain']:.0f}%",
            f"{f['cell']['milliseconds_a_pass']} / {f['shared']['milliseconds_a_pass']} ms",
        ]
        for name, f in report["figures"]["tables"].items()
    ]
    head = ["table", "size", "ones", "independent", "cell", "shared", "share of the gain lost", "a pass"]
    return f"""## Logistic PCA with curvature shared by a column
`LogisticPCA(2, curvature="shared")` against `"cell"`: held-out log-likelihood a row, both without polish. The cost of a pass then follows the
ones, but the bound is looser, most of all on sparse tables.

{table(head, rows)}

{how(report)}
"""


if __name__ == "__main__":
    parts = [
        "# Performance\n\nWritten by `python benchmarks/report.py` from `benchmarks/results/`. Timings are medians of side-by-side runs"
        " on a small, noisy machine: ratios mean more than seconds.\n",
        stepmix(),
        leaps(),
        retail(),
        scale(),
        bare_logistic(),
        shared_curvature(),
    ]
    PAGE.write_text("\n".join(parts))
    print(f"{PAGE.name} written")
