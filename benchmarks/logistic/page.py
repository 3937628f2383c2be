"""The figures of logistic PCA: docs/performance/logistic.md."""

from pathlib import Path

from benchmarks.page_parts import how, load, table, topic_page, write


def logistic() -> str:
    report = load("logistic/peers")
    rows, missed, slower = [], [], []
    for f in report["figures"]:
        for name, p in f["peers"].items():
            ours = p["polished"]
            where = f"{f['table']}, {f['dimensions']} dimensions, {name}"
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
                    name,
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
    return f"""## Against mirt and logisticpca
Our default fit takes longer than the peer's in {len(slower)} of {len(rows)} lines ({"; ".join(slower)}). The last column compares the time that ours takes to the peer's likelihood, which a user cannot stop at.

Figures are held-out log-likelihoods in nats a row. One function computes them for all programs: on a grid for 2 dimensions, by importance sampling for 5 (with an error of
at most {max(f["sampling_error"] for f in report["figures"]):.1g} nats a row). mirt's GVEM maximises the bound of our first stage, without a prior; logisticpca projects rows and has no
likelihood, so we give it the best Gaussian on its plane. Both are the Python packages. Every program runs with its own defaults on two threads; "its held-out" is the better of its default fit and a longer one. "±" is one standard error over held-out rows, so that some leads are within
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
Passes whose cost follows the ones of a sparse table without blanks ([how](../decisions/passes_by_the_ones.md)). Whole fits by default to retail.dat (88,162 x 16,470, 200 rows held out), two threads. The goals were
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
    return topic_page("logistic", "logistic", "Logistic PCA", logistic(), by_ones())


if __name__ == "__main__":
    write(pages())
