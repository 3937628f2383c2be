"""The figures of logistic PCA, for docs/performance.md."""

from report_parts import how, load, table


def logistic() -> str:
    report = load("against_logistic")
    rows, missed = [], []
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
    head += ["our fit, and without polish", "to its likelihood, it / ours", "times faster than its fit / both to it"]
    peers = "; ".join(", ".join(f"{k} {v}" for k, v in versions.items()) for versions in report["peers"].values())
    return f"""## Logistic PCA against mirt and logisticpca
Figures are held-out log-likelihoods in nats a row. One function computes them for all programs: on a grid for 2 dimensions, by importance sampling for 5 (with an error of
at most {max(f["sampling_error"] for f in report["figures"]):.1g} nats a row). mirt's GVEM maximises the bound of our first stage, without a prior; logisticpca projects rows and has no
likelihood, so we give it the best Gaussian on its plane. Every program runs with its own defaults on two threads. "To its likelihood" is the time after which a fit stays within
{report["close"]:g} nats a row of the peer's final value. The goal is to be ahead, and {report["goal"]:g} times faster.

{table(head, rows)}

Where the goal is missed:

{chr(10).join(missed) or "- nowhere."}

For SAT12 and news100, a fifth of the rows is held out. {how(report)} Peers: {peers}.
"""
