"""Write docs/performance.md from the figures in benchmarks/results.

python benchmarks/report.py
"""

from pathlib import Path

from report_bare import bare
from report_coding import coding
from report_logistic import logistic
from report_machines import machines, mnist, states
from report_noisy_or import noisy_or
from report_parts import how, load, table, write
from report_peers import peers
from report_rows import rows_in_millions
from report_tetrachoric import cooccurrence, tetrachoric

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


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
{report["tol"]:g} nats a row. hiddenbits stops a restart when it reaches StepMix's best likelihood. If no restart reaches it,
further restarts follow until one does. The last two columns are StepMix / hiddenbits.

{table(head, rows)}

Reasons for the speed: equal rows are merged (not on audio, which has none), EM is extrapolated, and blocks stay in the
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
Figures are for plain EM / EM with extrapolation, {report["classes"]} classes, from the same starts and with the same tolerance ({report["tol"]:g} nats a row).

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

The time of a pass follows the ones: {f["milliseconds_a_pass"]} ms, and {f["milliseconds_a_pass_with_doubled_columns"]} ms if the number of columns is doubled with columns of zeros.
The median of {len(f["ratios"])} paired ratios is {f["ratio"]} (from {min(f["ratios"])} to {max(f["ratios"])}: the machine is noisy). The remaining difference
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
128 columns in Parquet files, 20 classes, parts of at most 64 MB, two threads. A fit is a first pass that counts, one pass of online EM and
one full pass.

{table(head, rows)}

Most of the time goes into reading and decoding Parquet. {how(report)}
"""


def look() -> str:
    report = load("look_large")
    rows = [
        [f"{f['rows']:,}", f"{f['seconds']} s", f"{f['rows_a_second']:,}", f"{f['peak_memory_mb']} MB"]
        for f in report["figures"]
    ]
    return f"""## Looking at a large table
`hiddenbits look` on the same table. Times include the start of Python. The goal was under 60 s for 20 million rows, with memory that does not grow.

{table(["rows", "look", "rows a second", "peak memory"], rows)}

{how(report)}
"""


def pages() -> dict[Path, str]:
    parts = [
        "# Performance\n\nWritten by `python benchmarks/report.py` from `benchmarks/results/`. Timings are medians of side-by-side runs"
        " on a small, noisy machine: ratios mean more than seconds.\n",
        bare(),
        peers(),
        stepmix(),
        leaps(),
        retail(),
        scale(),
        look(),
        rows_in_millions(),
        logistic(),
        machines(),
        states(),
        mnist(),
        tetrachoric(),
        cooccurrence(),
        coding(),
        noisy_or(),
    ]
    return {PAGE: "\n".join(parts)}


if __name__ == "__main__":
    write(pages())
