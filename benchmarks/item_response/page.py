"""The figures of item response models: benchmarks/results/item_response.md."""

from pathlib import Path
from typing import Any

from benchmarks.record import how, load, table, topic_page, write

PARTS = ("fit", "fit and standard errors")
HEADS = {
    "peers": "table; mirt's nodes, EM; our log-likelihood higher by, nats of the table; our seconds; its seconds; times faster; our seconds, with errors; its seconds, with errors; times faster, with errors",
    "nodes": "table; fit; nodes; many nodes; log-likelihood, nats a row; of the worst row; largest relative difference of a slope",
    "recovery": "design; of; sandwich; information",
}
WORDS = {"number_slopes": "slope of the continuous column", "number_intercepts": "its intercept", "noise": "its noise"}
WORDS |= {"noise variance": "mean noise variance"}


def shown(part: str, lines: list[list[object]]) -> str:
    return table(HEADS[part].split("; "), lines)


def peers() -> str:
    report = load("item_response/peers")
    slower, lower, lines = dict[str, float](), list[str](), list[tuple[float, list[object]]]()
    for name, ways in report["figures"].items():
        for way in ways:
            beside = f"{name}, mirt with {way['n_quadpts']} nodes"
            cells = [name, f"{way['n_quadpts']}, {'plain' if way['accelerate'] == 'none' else 'accelerated'}"]
            cells.append(f"{way['higher_by']:+.3f}")
            for part, seconds, times in zip(PARTS, way["seconds"], way["times_faster"], strict=True):
                cells += [*seconds, times]
                slower |= {f"{beside}, {part} ({1.0 / times:.2f} times its time)": times} if times < 1.0 else {}
            lower += [f"{beside} ({way['higher_by']:+.3f})"] * (way["higher_by"] < -0.01)
            lines.append((min(way["times_faster"]), cells))
    versions = ", ".join(f"{name} {number}" for name, number in report["peers"].items())
    return f"""## Beside Python's mirt
**Ours is slower** on: {"; ".join(sorted(slower, key=slower.__getitem__)) or "none"}.
**Ours ends lower** by more than .01 nats of the whole table on: {"; ".join(lower) or "none"}.

Processor seconds on one thread, medians; opening our table is included. For each table, mirt at its fastest with 21 nodes, its default, and at its fastest with a log-likelihood within {report["close"]:g} nats a row of ours, if that is another way; its EM is plain or accelerated. Standard errors are those of the observed information. The log-likelihoods of both programs are sums over the same 1,001 nodes.

{shown("peers", [cells for _, cells in sorted(lines, key=lambda line: line[0])])}

{how(report)} Peer: {versions}.
"""


def nodes() -> str:
    report = load("item_response/nodes")
    of_mean, of_slopes = report["goals"]
    figures = sorted(report["figures"].items(), key=lambda pair: -(pair[1]["slopes"] or 0.0))
    missed = [name for name, f in figures if f["log_likelihood"] > of_mean or (f["slopes"] or 0.0) > of_slopes]
    lines: list[list[Any]] = []
    for name, f in figures:
        slopes = "" if f["slopes"] is None else f"{f['slopes']:.1g}"
        lines.append([*name.split("; "), f["nodes"], f["many"], f["log_likelihood"], f["worst_row"], slopes])
    return f"""## Default number of nodes
Goal: the log-likelihood within {of_mean:g} nats a row of that with many nodes, slopes and noise variances within {of_slopes:.1%} of those of a fit with 1,001 nodes. Missed: {"; ".join(missed) or "none"}. {report["rows"]:,} rows. With the smaller tolerance, what is left comes from the nodes alone; with the default one, also from where the iterations stop.

{shown("nodes", lines)}

{how(report)}
"""


def recovery() -> str:
    report = load("item_response/recovery")
    lines, missed = list[list[object]](), list[str]()
    for name, found in report["figures"].items():
        for key, share in found.items():
            what, _, errors = key.partition(", ")
            low, high = report["goals"].get(key, (0.0, 1.0))
            missed += [f"{name}, {key} ({share:.3f})"] * (not low <= share <= high)
            if errors == "sandwich":
                lines.append([name, WORDS.get(what, what), f"{share:.3f}", f"{found[f'{what}, information']:.3f}"])
            elif not errors:
                lines.append([name, WORDS.get(what, what), f"{share:.3f}", ""])
    goals = "; ".join(f"{what} {low:.2f} to {high:.2f}" for what, (low, high) in report["goals"].items())
    return f"""## Intervals
{report["tables"]} simulated tables of {report["rows"]:,} rows a design. Share of 95% intervals that contain the true parameter; of positions, of intervals of 1.645 standard deviations around the posterior mean; of the noise variance, the mean estimate. Goals: {goals}. Missed: {"; ".join(missed) or "none"}.

{shown("recovery", lines)}

{how(report)}
"""


def pages() -> dict[Path, str]:
    return topic_page("item_response", "item_response", "Item response models", peers(), nodes(), recovery())


if __name__ == "__main__":
    write(pages())
