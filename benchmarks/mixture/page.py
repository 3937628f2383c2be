"""The figures of Bernoulli mixtures: docs/performance/mixture.md."""

import statistics
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
    return f"""## Against StepMix on real tables
{report["classes"]} classes, maximum likelihood, both programs from the same starts. StepMix stops when a step gains less than
{report["tol"]:g} nats a row. hiddenbits stops a restart when it reaches StepMix's best likelihood. If no restart reaches it,
further restarts follow until one does. The last two columns are StepMix / hiddenbits.

{table(head, rows)}

Reasons for the speed: equal rows are merged (not on audio, which has none), EM is extrapolated, and blocks stay in the
cache. {how(report)}
"""


def drawn() -> str:
    """Return the section on tables that are drawn: equal starts, and each program's own defaults."""
    report = load("mixture/stepmix_drawn")
    rows, slower = [], []
    for name, f in report["figures"].items():
        for way, words in (("own_defaults", "own defaults"), ("equal_starts", "equal starts")):
            g, each = f[way], f[way]["times_faster_each"]
            seconds = {program: statistics.median(g[program]["seconds"]) for program in ("stepmix", "hiddenbits")}
            best = {program: max(g[program]["log_likelihood_a_row"]) for program in seconds}
            if g["times_faster"] < 1.0:
                slower.append(f"{name}: {1.0 / g['times_faster']:.1f} times StepMix's time with {words}")
            rows.append(
                [
                    name,
                    words,
                    " / ".join(f"{value:.3g}" for value in seconds.values()),
                    f"{g['times_faster']:g} ({min(each):g} to {max(each):g})",
                    " / ".join(f"{statistics.median(g[program]['passes']):g}" for program in seconds),
                    " / ".join(f"{value:.4f}" for value in best.values()),
                    f"{g['seeds_where_ours_is_lower']} / {g['seeds_where_ours_is_higher']}",
                ]
            )
    head = ["classes and table", "both with", "seconds, StepMix / ours", "times faster (over seeds)", "passes"]
    head += ["best likelihood a row", "seeds where ours is lower / higher"]
    first = "; ".join(
        f"{name} {f['seconds_of_the_first_call_stepmix']:.2g} / {f['seconds_of_the_first_call_hiddenbits']:.2g} s"
        for name, f in report["figures"].items()
    )
    return f"""## Classes apart, classes that overlap
**Slower than StepMix**: {"; ".join(slower) or "nowhere in this table"}. By default StepMix makes one start; ours makes four, each the best of three short runs on small tables, and has a prior. From equal starts the lead is smaller where classes are far
apart, because few passes are needed. One start may end in a poor maximum: the last column counts the seeds where likelihoods differ by more than {report["close"]:g} nats a row.

{table(head, rows)}

"Apart": each column has .15 or .85 in a class, at random. "Equal starts": StepMix begins where ours is after its first pass, both with a tolerance of {report["tol"]:g} nats a row and without a prior; StepMix's own is 1e-10. One thread each, {report["turns"]} turns, {len(report["seeds"])} seeds, medians of seconds
of processor time after a first call. The first call in a process, by default, StepMix / ours: {first}.

{how(report)} StepMix {report["peers"]["stepmix"]["stepmix"]}, numpy {report["peers"]["stepmix"]["numpy"]}.
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
    return topic_page("mixture", "mixture", "Bernoulli mixtures", drawn(), stepmix(), extrapolation(), retail())


if __name__ == "__main__":
    write(pages())
