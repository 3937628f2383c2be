"""The figures of Bernoulli mixtures: docs/performance/mixture.md."""

from pathlib import Path

from benchmarks.page_parts import how, load, table, topic_page, write


def stepmix() -> str:
    report = load("mixture/stepmix")
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
    return f"""## Against StepMix
{report["classes"]} classes, maximum likelihood, both programs from the same starts. StepMix stops when a step gains less than
{report["tol"]:g} nats a row. hiddenbits stops a restart when it reaches StepMix's best likelihood. If no restart reaches it,
further restarts follow until one does. The last two columns are StepMix / hiddenbits.

{table(head, rows)}

Reasons for the speed: equal rows are merged (not on audio, which has none), EM is extrapolated, and blocks stay in the
cache. {how(report)}
"""


def extrapolation() -> str:
    report = load("mixture/extrapolation")
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
    report = load("mixture/retail")
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


def pages() -> dict[Path, str]:
    return topic_page("mixture", "mixture", "Bernoulli mixtures", stepmix(), extrapolation(), retail())


if __name__ == "__main__":
    write(pages())
