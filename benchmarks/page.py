"""Write the first page on performance, docs/performance.md, and its chart from the figures of all topics.

python -m benchmarks.page
"""

import textwrap
from pathlib import Path
from typing import Any

from benchmarks.chart import Peer, chart
from benchmarks.page_parts import DOCS, load, write
from benchmarks.peers.page import MORE_MEMORY, at_size, fastest, label, shown

PAGE, CHART = DOCS / "performance.md", DOCS / "pictures" / "performance.svg"
Point = dict[str, Any]


def compared() -> list[tuple[Point, Point, Point, bool]]:
    """Return each peer at each size that it got through: it, the best of ours, our default, and whether that is as good."""
    figures = load("peers/peers")["figures"]
    found = []
    for job, facts in figures["jobs"].items():
        points = [p for p in figures["points"] if p["job"] == job]
        for theirs in points:
            if theirs["program"] != "hiddenbits" and "failure" not in theirs:
                ways = at_size(points, theirs["rows"], next(iter(facts["ways"])))
                best = fastest(ways, theirs, facts["close"])
                found.append((theirs, best or ways[0], ways[0], best is not None))
    return found


def largest(points: list[tuple[Point, Point, Point, bool]]) -> list[tuple[Point, Point, Point, bool]]:
    """Return each peer at its largest size alone."""
    last: dict[tuple[str, str], tuple[Point, Point, Point, bool]] = {}
    for point in sorted(points, key=lambda p: p[0]["rows"]):
        last[point[0]["job"], point[0]["program"]] = point
    return list(last.values())


def better_peers(points: list[tuple[Point, Point, Point, bool]]) -> list[str]:
    """Return the lines on what peers do better: quality, time with default settings, memory."""
    lines = [
        f"**{theirs['program']} is better** than ours ({theirs['job']}, {theirs['rows']:,} rows): {shown(theirs['quality'], theirs['job'])}, ours "
        f"{shown(best['quality'], best['job'])}; higher is better ([peers](performance/peers.md))."
        for theirs, best, _, equal in largest(points)
        if not equal
    ]
    maps = {
        name: (of["umap-learn"]["share"], of["TopographicMap"]["share"])
        for name, of in load("maps/run")["figures"].items()
    }
    behind = ", ".join(f"{name} ({its:.2f}, ours {our:.2f})" for name, (its, our) in maps.items() if its > our + 0.005)
    lines.append(
        f"**umap-learn shows classes better than `TopographicMap`** on some real tables, by the share of rows most of whose neighbours are of their own class: {behind}; and its maps differ less "
        "from seed to seed ([maps](performance/maps.md))."
    )
    slower = [
        f"{label(theirs['program'])} ({theirs['seconds']:.3g} s, ours {default['seconds']:.3g} s; its quality {shown(theirs['quality'], theirs['job'])}, ours "
        f"{shown(default['quality'], theirs['job'])})"
        for theirs, _, default, equal in largest(points)
        if equal and default["seconds"] > theirs["seconds"]
    ]
    lines.append(
        f"**Our defaults take longer** than {', '.join(slower)} on the largest table. Quality is the log-likelihood of a held-out row, "
        f"in nats; for maps a share of rows; higher is better. {cheaper_settings(points)} ([peers](performance/peers.md))."
    )
    more = [theirs for theirs, _, default, _ in points if default["peak_mb"] > MORE_MEMORY * theirs["peak_mb"]]
    small = sum(theirs["rows"] <= 20_000 for theirs in more)
    lines.append(
        f"**Peers take less memory**, by more than a tenth, in {len(more)} of {len(points)} comparisons, {small} of them with at most 20,000 rows; compiled kernels need memory too "
        "([peers](performance/peers.md))."
    )
    return lines


def cheaper_settings(points: list[tuple[Point, Point, Point, bool]]) -> str:
    """Say in how many of the comparisons that the default loses in time another setting of ours is as good in less."""
    lost = [
        (theirs, best) for theirs, best, default, equal in points if equal and default["seconds"] > theirs["seconds"]
    ]
    sooner = sum(best["seconds"] < theirs["seconds"] for theirs, best in lost)
    return f"In {sooner} of all {len(lost)} comparisons that our default loses in time, other settings of ours are as good in less"


def slow() -> list[str]:
    """Return the lines on what is slow."""
    machines = [
        p["ours"]["grown" if "grown" in p["ours"] else "chains"]  # the default
        for f in load("machines/peers")["figures"]
        for p in f["peers"].values()
    ]
    longest = max(
        f["ours"]["grown" if "grown" in f["ours"] else "chains"]["seconds"] for f in load("machines/peers")["figures"]
    )
    late = sum(ours["times_faster"] is None or ours["times_faster"] < 1 for ours in machines)
    ahead = sum(ours["ahead_by"] is not None and ours["ahead_by"] > 0 for ours in machines)
    behind = [
        f"{f['table']}, {f['dimensions']} dimensions, {name}: {-p['polished']['ahead_by']:.3f} nats a row"
        for f in load("logistic/peers")["figures"]
        for name, p in f["peers"].items()
        if p["polished"]["ahead_by"] <= 0
    ]
    bare = load("bare/bare")
    passes = list(bare["figures"].values())
    over = [f for f in passes if f["ratio"] > bare["goal"]]
    worst = max((f for f in passes if f["size"] != "small"), key=lambda f: f["ratio"])
    network = load("noisy_or/large")["figures"]["retail"]
    return [
        f"**Combination machines take their time**: on real tables a default fit runs for up to {longest:.0f} s. It passes a peer's likelihood later than the peer in {late} of {len(machines)} comparisons, "
        f"and ends at a higher one in {ahead} ([machines](performance/machines.md)).",
        f"**Many dimensions, few rows**: `LogisticPCA` with its polish is behind on held-out rows ({'; '.join(behind)}) ([logistic PCA](performance/logistic.md)).",
        f"**{len(over)} of {len(passes)} passes over a table take more than {bare['goal']:g} times their bare arithmetic**. The worst, leaving out the smallest tables, is `{worst['model']}` at "
        f"{worst['ratio']:g} times ({worst['table']}, {worst['hidden']}, {worst['dtype']}) ([arithmetic](performance/bare.md)).",
        f"**`NoisyOrNetwork` learns by sampling**: {network['models']['noisy-or']['seconds_of_cpu']:.0f} s of processor time for {network['rows']:,} baskets and {network['causes']} causes, "
        f"a mixture of 20 classes {network['models']['mixture 20']['seconds_of_cpu']:.1f} s ([noisy-OR](performance/noisy_or.md)).",
    ]


def fast() -> list[str]:
    """Return the lines on what is fast."""
    stepmix = [f["times_faster"] for f in load("mixture/stepmix")["figures"].values()]
    pairs = load("tetrachoric/peers")["figures"]["together"]["times_faster"]
    rows = load("scale/scale")["figures"]["threads"][-1]
    return [
        f"**Mixtures**: {min(stepmix):g} to {max(stepmix):g} times faster than StepMix to the same likelihood on four small real tables, with older code ([mixtures](performance/mixture.md)).",
        f"**Tetrachoric correlations** of small real tables: {pairs['psych']:g} times faster than psych, {pairs['ordinalcorr']:g} times faster than ordinalcorr ([pairs](performance/tetrachoric.md)).",
        f"**Large tables**: {rows['rows']:,} rows of 1,000 columns with 1% ones are fitted (`BernoulliMixture(32)`, one online pass and one of EM) and scored from disk in {rows['seconds'] / 60:.1f} minutes on two cores, with "
        f"{rows['peak_memory_mb'] / 1000:.2f} GB of memory ([large tables](performance/large_tables.md)).",
    ]


def picture(points: list[tuple[Point, Point, Point, bool]]) -> str:
    peers = [
        Peer(
            label(theirs["program"]),
            theirs["rows"],
            theirs["seconds"] / best["seconds"],
            theirs["seconds"] / default["seconds"],
            equal,
        )
        for theirs, best, default, equal in largest(points)
    ]
    return chart(sorted(peers, key=lambda peer: (peer.as_good, peer.default)))


def wrapped(line: str) -> str:
    return textwrap.fill(line, 120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def pages() -> dict[Path, str]:
    points = compared()
    lines = [*better_peers(points), *slow(), *fast()]
    numbered = "\n".join(wrapped(f"{number}. {line}") for number, line in enumerate(lines, 1))
    page = f"""# Performance

Where peers are better comes first, then what is slow, then what is fast. Written by `python -m benchmarks.page` from
the results in `benchmarks/`. Programs ran in turn on a small, noisy machine with 2 cores, short fits several times:
ratios mean more than seconds. The pages on mixtures and logistic PCA predate two improvements: [fits to long
tables](performance/long_tables.md) now begin on a subsample, and more code is compiled.

![Times faster than each peer](pictures/performance.svg)

{numbered}

All figures by topic:

```{{toctree}}
:maxdepth: 1

performance/peers
performance/bare
performance/mixture
performance/logistic
performance/maps
performance/long_tables
performance/machines
performance/noisy_or
performance/coding
performance/tetrachoric
performance/large_tables
```
"""
    return {PAGE: page, CHART: picture(points)}


if __name__ == "__main__":
    write(pages())
