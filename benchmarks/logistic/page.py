"""The figures of logistic PCA: docs/performance/logistic.md."""

from pathlib import Path
from typing import Any

from benchmarks.page_parts import how, load, table, topic_page, write

CLOSE = 1e-3  # nats a row: held-out likelihoods that differ by less are equal
PROGRAMS = {"mirt": "mirt GVEM", "logisticpca": "logisticpca"}
BY_ITEMS = (  # ours next to mirt's `fit_mirt`: what is compared, its seconds, ours
    ("maximum likelihood", "seconds_without_errors", "seconds_of_likelihood"),
    ("maximum likelihood with standard errors", "seconds_by_default", "seconds_of_likelihood_and_errors"),
    ("our default against its estimates alone", "seconds_without_errors", "seconds_by_default"),
    ("the first call in a process, defaults", "seconds_of_the_first_call", "seconds_of_the_first_call"),
)


def slower_than_fit_mirt(figures: list[dict[str, Any]]) -> list[str]:
    """Return where ours takes longer than `fit_mirt`, comparison by comparison."""
    lines = []
    for what, its, our in BY_ITEMS:
        slower = [
            f"{f['table']} ({f['ours'][our]:.3g} s, mirt {f['mirt'][its]:.3g} s)"
            for f in figures
            if f["ours"][our] > f["mirt"][its]
        ]
        where = "; ".join(slower) or "nowhere"
        lines.append(f"- {what}, {len(slower)} of {len(figures)}: {where}.")
    return lines


def items() -> str:
    """Return the section on item response models, next to mirt's `fit_mirt`."""
    report = load("logistic/mirt")
    figures, nodes = report["figures"], report["nodes_of_mirt"]
    rows = []
    for f in figures:
        its, our = f["mirt"], f["ours"]
        stop = "" if its["converged"] else ", limit"
        rows.append(
            [
                f["table"],
                f"{f['rows']:,} x {f['columns']}",
                f"{its['seconds_without_errors']:.3g} / {our['seconds_of_likelihood']:.3g}",
                f"{its['seconds_without_errors'] / our['seconds_of_likelihood']:.2g}",
                f"{its['seconds_by_default']:.3g} / {our['seconds_of_likelihood_and_errors']:.3g}",
                f"{our['seconds_by_default']:.3g}",
                f"{its['seconds_of_the_first_call']:.3g} / {our['seconds_of_the_first_call']:.3g}",
                f"{its['iterations']}{stop} / {our['iterations']}",
                f"{its['likelihood_on_its_nodes']:.1f}",
                f"{its['log_likelihood']:.1f} / {our['likelihood']['log_likelihood']:.1f}",
                f"{its['held_out']:.4f} / {our['likelihood']['held_out']:.4f} / {our['default']['held_out']:.4f}",
            ]
        )
    head = ["table", "size", "estimates, s", "times faster", "with standard errors, s", "our default, s"]
    head += [
        "first call, s",
        "iterations",
        "likelihood that mirt reports",
        "on a fine grid",
        "held-out, and our default",
    ]
    off = max(figures, key=lambda f: abs(f["mirt"]["log_likelihood"] - f["mirt"]["likelihood_on_its_nodes"]))
    lower = [
        f"{f['table']} {gain:.1f}"
        for f in figures
        if (gain := f["ours"]["likelihood"]["log_likelihood"] - f["mirt"]["log_likelihood"]) > 1.0
    ]
    bound = [
        f"{f['table']} {f['mirt']['items_at_bounds']} of {f['columns']}"
        for f in figures
        if f["dimensions"] == 1 and f["mirt"]["items_at_bounds"]
    ]
    higher = [
        f"{f['table']} {-gain:.1f}"
        for f in figures
        if (gain := f["ours"]["likelihood"]["log_likelihood"] - f["mirt"]["log_likelihood"]) < -1.0
    ]
    behind = [
        f"{f['table']}, {words} ({f['mirt']['held_out'] - f['ours'][way]['held_out']:.4f})"
        for f in figures
        for way, words in (("likelihood", "maximum likelihood"), ("default", "our default"))
        if f["mirt"]["held_out"] > f["ours"][way]["held_out"] + CLOSE
    ]
    return f"""## Against mirt's fit_mirt
`fit_mirt` is the function with which Python's mirt fits item response models. Where ours takes longer:

{chr(10).join(slower_than_fit_mirt(figures))}

Lower than mirt on held-out rows by more than {CLOSE:g} nats a row: {"; ".join(behind) or "nowhere"}.

One thread each, processes in turn, seconds of processor time, medians; after a first call, which is listed apart because it loads or compiles what comes later. "Estimates" is `fit_mirt(compute_standard_errors=False)` / `LogisticPCA(q, method="quadrature", ridge=0)`:
both maximise the likelihood. "With standard errors" is `fit_mirt` by default / ours followed by `inference.information`. "Our default" is `LogisticPCA(q)`, with a prior, by a variational bound and its polish. mirt uses all cores unless it is told not to.

{table(head, rows)}

*The likelihood of mirt* is a sum over {nodes} fixed Gauss-Hermite nodes a dimension, in its fit and in what it reports. With many items a row's posterior lies between two nodes: of "{off["table"]}" it reports {off["mirt"]["likelihood_on_its_nodes"]:.1f}, and on a fine
grid the same estimates have {off["mirt"]["log_likelihood"]:.1f}. Its estimates are more than 1 nat below ours on {"; ".join(lower) or "no table"}, above on {"; ".join(higher) or "none"}, also where it reports convergence. One reason is the nodes; another is that in one dimension `fit_mirt`
keeps slopes between 0.1 and 5 and difficulties between -6 and 6. Items that end at such a bound: {"; ".join(bound) or "none"}. Columns that point the other way would have to be recoded first, which we did not do. More nodes can be asked for (`n_quadpts`). In 5 dimensions {nodes} nodes each are {nodes**5:,}: not run.

{how(report)} Peers: {", ".join(f"{k} {v}" for k, v in report["peers"]["mirt"].items())}.
"""


def logistic() -> str:
    report = load("logistic/peers")
    rows, missed, slower = [], [], []
    for f in report["figures"]:
        for name, p in f["peers"].items():
            ours = p["polished"]
            where = f"{f['table']}, {f['dimensions']} dimensions, {PROGRAMS[name]}"
            speeds = [ours.get(key) for key in ("times_faster_than_its_fit", "times_faster_both_reaching")]
            if ours["ahead_by"] <= 0:
                bare = p["variational"]
                missed.append(
                    f"- {where}: behind by {-ours['ahead_by']:.3f} ± {ours['standard_error']:.3f} nats a row;"
                    f" without polish {'ahead' if bare['ahead_by'] > 0 else 'behind'} by {abs(bare['ahead_by']):.4f}."
                )
            if None not in speeds and min(speeds) < report["goal"]:
                missed.append(
                    f"- {where}: {speeds[0]:g} times faster than its fit, {speeds[1]:g} times to the same likelihood."
                )
            if f["seconds"] > p["seconds_of_the_usual_fit"]:
                slower.append(where)
            stop = {"converged": "converged", "iterations": "limit", "time": "stopped after ten minutes"}[p["stop"]]
            rows.append(
                [
                    f"{f['table']}, {f['dimensions']}",
                    PROGRAMS[name],
                    f"{p['end']:.3f}",
                    f"{f['polished']:.3f} / {f['variational']:.3f}",
                    f"{ours['ahead_by']:+.3f} ± {ours['standard_error']:.3f}",
                    f"{p['seconds_of_the_usual_fit']:.3g} s ({p['iterations']}, {stop})",
                    f"{f['seconds']:.3g} / {f['seconds_variational']:.3g} s",
                    f"{p['seconds_to_reach']:.3g} / {ours['seconds_to_reach']:.3g} s" if speeds[0] else "not reached",
                    " / ".join(f"{speed:g}" for speed in speeds) if speeds[0] else "",
                ]
            )
    head = ["table, dimensions", "peer", "its held-out", "ours, and without polish", "ahead by", "its fit (iterations)"]
    head += [
        "our fit, and without polish",
        "to its likelihood, it / ours",
        "ours to its likelihood, times faster than its fit / than it",
    ]
    peers = "; ".join(", ".join(f"{k} {v}" for k, v in versions.items()) for versions in report["peers"].values())
    return f"""## Against mirt's GVEM and logisticpca
Our default fit takes longer than the peer's in {len(slower)} of {len(rows)} lines ({"; ".join(slower)}). The last column compares the time that ours takes to the peer's likelihood, which a user cannot stop at.

Figures are held-out log-likelihoods in nats a row. One function computes them for all programs: on a grid for 2 dimensions, by importance sampling for 5 (with an error of
at most {max(f["sampling_error"] for f in report["figures"]):.1g} nats a row). mirt's `GVEMEstimator`, which `fit_mirt` does not offer, maximises the bound of our first stage, without a prior, and
goes to any number of dimensions; logisticpca projects rows and has no likelihood, so we give it the best Gaussian on its plane. Both are the Python packages. These estimators run with their own defaults on two threads; "its held-out" is the better of its default fit and a longer one. "±" is one standard error over held-out rows, so that some leads are within
chance. "To its likelihood" is the time from which a fit is never more than {report["close"]:g} nats a row below the peer's final value. The goal is to be ahead, and {report["goal"]:g} times faster.

{table(head, rows)}

Where the goal is missed:

{chr(10).join(missed) or "- nowhere."}

For SAT12 and news100, a fifth of the rows is held out. {how(report)} Peers: {peers}.
"""


SECONDS, MEMORY = 60, 700  # goals of whole fits by the ones


def by_ones() -> str:
    """Return the section on passes by the ones: whole fits to retail.dat, both ways on smaller tables, and passes."""
    whole = [(q, load(f"logistic/by_ones_retail{q}")) for q in (2, 5)]
    fits = [
        [
            q,
            f"{f['wall_seconds']:g} s",
            f"{f['processor_seconds']:g} s",
            f"{f['passes']}, {f['stop']}",
            f"{f['peak_memory_mb']} MB",
            f"{f['held_out']:.3f}",
            f"{f['held_out_independent']:.3f}",
        ]
        for q, f in ((q, report["figures"]) for q, report in whole)
    ]
    missed = [
        f"{what} by {q} dimensions"
        for q, f in ((q, report["figures"]) for q, report in whole)
        for what, late in (
            (f"time ({f['wall_seconds']:g} s)", f["wall_seconds"] > SECONDS),
            (f"memory ({f['peak_memory_mb']} MB)", f["peak_memory_mb"] > MEMORY),
            ("convergence", f["stop"] != "converged"),
        )
        if late
    ]
    both = []
    for name, q in (("news100", 2), ("kdd", 2), ("retail500", 2), ("retail500", 5)):
        f = load(f"logistic/by_ones_{name}{q}")["figures"]
        cells, ones = f["cells"], f["ones"]
        both.append(
            [
                f"{name}, {q}",
                f"{f['rows']:,} x {f['columns']}",
                f"{cells['held_out']:.4f} / {ones['held_out']:.4f}",
                f"{100 * f['share_of_the_gain_lost']:+.1f}%",
                f"{cells['processor_seconds']:g} / {ones['processor_seconds']:g} s",
            ]
        )
    costs = load("logistic/by_ones_costs")["figures"]
    head = ["dimensions", "fit, wall clock", "processor time", "passes", "peak memory", "held-out", "independent bits"]
    table_head = [
        "table, dimensions",
        "rows x columns",
        "held-out, cells / ones",
        "of the gain lost (below 0: ones are better)",
    ]
    return f"""## By the ones
Passes whose cost follows the ones of a sparse table without blanks (how: `docs/design/passes_by_the_ones.md`). Whole fits by default to retail.dat (88,162 x 16,470, 200 rows held out), two threads. The goals were
convergence within {SECONDS} s and {MEMORY} MB. Missed: {", ".join(missed) or "none"}. The objective, which is no bound, wavers:
a fit has converged, too, when in 16 passes (8 in more than three dimensions) it rose by less than the tolerance a pass. Held-out figures are nats a row.

{table(head, fits)}

Against passes over all cells, one thread. "Of the gain lost" is what the map by the ones is behind, as a share of what the map over all cells gains over independent bits; the goal was 1%. The start was chosen on held-out rows of kdd, which flatters that line.

{table([*table_head, "processor time, cells / ones"], both)}

A pass in two dimensions took {costs["simulated_against_mixture_ratio"]:g} times that of a mixture with 20 classes on {costs["simulated"]["rows"]:,} x {costs["simulated"]["columns"]:,} bits with {costs["simulated"]["ones"]:,} ones. As many empty columns
again left a pass over retail.dat as long ({costs["doubled_columns_ratio"]:g} times). `score` of a map of two dimensions follows the ones too, with the extra `fast`, and held-out figures by the ones are integrated so (to about 0.0001 nats a row; those of all cells exactly); in more dimensions it draws 500 places for each row, at which groups of
columns stand for the zeros, and visits all cells of a row a few times.

{how(whole[-1][1])}
"""


def pages() -> dict[Path, str]:
    return topic_page("logistic", "logistic", "Logistic PCA", items(), logistic(), by_ones())


if __name__ == "__main__":
    write(pages())
