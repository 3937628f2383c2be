"""Write the first page on performance, docs/performance.md, and its chart from the figures of all topics.

python -m benchmarks.page
"""

import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.chart import Peer, chart
from benchmarks.page_parts import DOCS, load, write
from benchmarks.peers.page import MORE_MEMORY, at_size, fastest, label, shown
from benchmarks.starts.page import lower

PAGE, CHART = DOCS / "performance.md", DOCS / "pictures" / "performance.svg"
Point = dict[str, Any]


class Compared(NamedTuple):
    """A peer at a size that it got through, our default, and the fastest of our settings that is as good as the peer."""

    theirs: Point
    default: Point
    best: Point | None
    close: float  # qualities that differ by less are equal

    @property
    def loses_time(self) -> bool:
        return bool(self.default["seconds"] > self.theirs["seconds"])

    @property
    def loses_quality(self) -> bool:
        return bool(self.default["quality"] < self.theirs["quality"] - self.close)

    def named(self, figures: str) -> str:
        theirs = self.theirs
        return f"{label(theirs['program'])} on {theirs['rows']:,} rows ({theirs['job']}: {figures})"

    def qualities(self) -> str:
        its, ours = (shown(point["quality"], self.theirs["job"]) for point in (self.theirs, self.default))
        return f"quality {its}, ours {ours}"


def all_compared() -> list[Compared]:
    figures = load("peers/peers")["figures"]
    found = []
    for job, facts in figures["jobs"].items():
        points = [p for p in figures["points"] if p["job"] == job]
        for theirs in points:
            if theirs["program"] != "hiddenbits" and "failure" not in theirs:
                ways = at_size(points, theirs["rows"], next(iter(facts["ways"])))
                found.append(Compared(theirs, ways[0], fastest(ways, theirs, facts["close"]), facts["close"]))
    return found


def largest(points: list[Compared]) -> list[Compared]:
    """Return each peer at its largest size alone."""
    return list(
        {(p.theirs["job"], p.theirs["program"]): p for p in sorted(points, key=lambda p: p.theirs["rows"])}.values()
    )


def better_peers(points: list[Compared]) -> list[str]:
    """Return the lines on what peers do better: quality, time, memory."""
    maps = {
        name: (of["umap-learn"]["share"], of["TopographicMap"]["share"])
        for name, of in load("maps/run")["figures"].items()
    }
    behind = ", ".join(f"{name} ({its:.2f}, ours {our:.2f})" for name, (its, our) in maps.items() if its > our + 0.005)
    lines = [
        f"**umap-learn shows classes better than `TopographicMap`** on some real tables, by the share of rows for which most neighbours on the map have the same class: {behind}; and its maps "
        "differ less from seed to seed ([maps](performance/maps.md))."
    ]
    worse = [p.named(p.qualities()) for p in points if p.loses_quality]
    if worse:
        lines.append(f"**Our default ends lower** than {', '.join(worse)} ([peers](performance/peers.md)).")
    slower = [p for p in points if p.loses_time]
    if slower:
        seconds = [
            p.named(f"{p.theirs['seconds']:.3g} s, ours {p.default['seconds']:.3g} s; {p.qualities()}") for p in slower
        ]
        sooner = sum(p.best is not None and p.best["seconds"] < p.theirs["seconds"] for p in slower)
        lines.append(
            f"**Our default takes longer** than {', '.join(seconds)}. Quality is a log-likelihood in nats a row, for maps a share of rows; higher is better. In {sooner} of these {len(slower)} "
            f"another setting of ours, picked afterwards, is as good as the peer in less time than it ([peers](performance/peers.md))."
        )
    lines += [short_items(), clear_classes()]
    more = [p for p in points if p.default["peak_mb"] > MORE_MEMORY * p.theirs["peak_mb"]]
    small, small_more = (sum(p.theirs["rows"] <= 20_000 for p in some) for some in (points, more))
    lines.append(
        f"**Peers take less memory**, by more than a tenth, in {len(more)} of {len(points)} comparisons: {small_more} of the {small} with at most 20,000 rows, {len(more) - small_more} of the "
        f"{len(points) - small} with more ([peers](performance/peers.md))."
    )
    return lines


def short_items() -> str:
    """Return the line on item response models, next to mirt's `fit_mirt`."""
    figures = load("logistic/mirt")["figures"]
    slower = [
        f"{f['table']} ({f['mirt']['seconds_without_errors']:.2g} s, ours {f['ours']['seconds_of_likelihood']:.2g} s)"
        for f in figures
        if f["ours"]["seconds_of_likelihood"] > f["mirt"]["seconds_without_errors"]
    ]
    default = sum(f["ours"]["seconds_by_default"] > f["mirt"]["seconds_without_errors"] for f in figures)
    return (
        f"**mirt's `fit_mirt` (Python) is faster on some tables** of item responses, by maximum likelihood without standard errors: {'; '.join(slower) or 'none here'}. Our default takes longer than that in {default} of {len(figures)} lines "
        "([next to ours](performance/logistic.md))."
    )


def clear_classes() -> str:
    """Return the line on StepMix where classes are far apart."""
    slower = [
        f"{name} ({1.0 / f['own_defaults']['times_faster']:.1f} times its time)"
        for name, f in load("mixture/stepmix_drawn")["figures"].items()
        if f["own_defaults"]["times_faster"] < 1.0
    ]
    return (
        f"**StepMix is faster with its own defaults**, one start where ours makes several, on {'; '.join(slower) or 'none of our tables'} "
        "([mixtures](performance/mixture.md))."
    )


def machines() -> str:
    """Return the line on combination machines."""
    figures = load("machines/peers")["figures"]
    pairs = [
        (f, peer, "grown" if "grown" in f["ours"] else "chains")  # the default
        for f in figures
        for peer in f["peers"].values()
    ]
    longer = sum(f["ours"][way]["seconds"] > peer["seconds_in_all"] for f, peer, way in pairs)
    higher = sum((peer["ours"][way]["ahead_by"] or 0.0) > 0.0 for _, peer, way in pairs)
    late = sum((peer["ours"][way]["times_faster"] or 0.0) < 1.0 for _, peer, way in pairs)
    return (
        f"**Combination machines** (restricted Boltzmann machines) **take their time**: on real tables a default fit runs for up to {max(f['ours'][way]['seconds'] for f, _, way in pairs):.0f} s, longer than a "
        f"peer's whole run in {longer} of {len(pairs)} comparisons; it ends higher in {higher}. With the right limit of time, known only afterwards, ours reaches the peer's likelihood later than the peer in {late or 'none'} "
        "([machines](performance/machines.md))."
    )


def pass_name(figures: dict[str, Any]) -> str:
    return f"`{figures['model']}`" + ("" if figures["what"] == "pass" else f" ({figures['what']})")


def slow() -> list[str]:
    """Return the lines on what is slow."""
    behind = [
        f"{f['table']}, {f['dimensions']} dimensions, {label(name)}: {-p['polished']['ahead_by']:.3f} nats a row"
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
        machines(),
        f"**Fits to long tables begin on a subsample of the rows**, and may end lower for it than fits that use all rows throughout. {lower(load('starts/long_tables'))} In the other families most seeds end as high or higher ([long tables](performance/long_tables.md)).",
        f"**Many dimensions, few rows**: `LogisticPCA` with its polish is behind on held-out rows ({'; '.join(behind)}) ([logistic PCA](performance/logistic.md)).",
        f"**{len(over)} of {len(passes)} passes over a table take more than {bare['goal']:g} times their bare arithmetic**, the matrix products and sums that they cannot do without. The worst, leaving out the smallest tables, is {pass_name(worst)} at "
        f"{worst['ratio']:g} times ({worst['table']}, {worst['hidden']}, {worst['dtype']}) ([arithmetic](performance/bare.md)).",
        f"**`NoisyOrNetwork` learns by sampling**: it takes {network['models']['noisy-or']['seconds_of_cpu']:.0f} s of processor time for {network['rows']:,} baskets and {network['causes']} causes; "
        f"a mixture of 20 classes takes {network['models']['mixture 20']['seconds_of_cpu']:.1f} s ([noisy-OR](performance/noisy_or.md)).",
    ]


def fast(points: list[Compared]) -> list[str]:
    """Return the lines on what is fast."""
    apart = [
        f"{f['equal_starts']['times_faster']:g} on {f['rows']:,} x {f['columns']}"
        for name, f in load("mixture/stepmix_drawn")["figures"].items()
        if "apart" in name
    ]
    stepmix = [f["times_faster"] for f in load("mixture/stepmix")["figures"].values()]
    drawn = [
        f"{p.theirs['seconds'] / p.default['seconds']:.3g} times at {p.theirs['rows']:,}"
        for p in points
        if p.theirs["program"] == "StepMix"
    ]
    pairs = load("tetrachoric/peers")["figures"]["together"]["times_faster"]
    rows = load("scale/scale")["figures"]["threads"][-1]
    return [
        f"**Mixtures** are faster than StepMix to the same likelihood from as many starts: on simulated rows of ten classes that overlap {', '.join(drawn)} ([peers](performance/peers.md)); of four classes far apart, from equal starts, {', '.join(apart)}; "
        f"{min(stepmix):g} to {max(stepmix):g} times on {len(stepmix)} real tables with 20 classes ([mixtures](performance/mixture.md)). With each program's own defaults see above.",
        f"**Tetrachoric correlations** of small real tables: {pairs['psych']:g} times faster than psych, {pairs['ordinalcorr']:g} times faster than ordinalcorr ([pairs](performance/tetrachoric.md)).",
        f"**Large tables**: {rows['rows']:,} rows of 1,000 columns with 1% ones are fitted (`BernoulliMixture(32)`, one online pass and one of EM) and scored from disk in {rows['seconds'] / 60:.1f} minutes on two cores, with "
        f"{rows['peak_memory_mb'] / 1000:.2f} GB of memory ([large tables](performance/large_tables.md)).",
    ]


def picture(points: list[Compared]) -> str:
    peers = [
        Peer(
            label(p.theirs["program"]),
            p.theirs["rows"],
            p.theirs["seconds"] / (p.best or p.default)["seconds"],
            p.theirs["seconds"] / p.default["seconds"],
            p.best is not None,
        )
        for p in largest(points)
    ]
    return chart(sorted(peers, key=lambda peer: (peer.as_good, peer.default)))


def wrapped(line: str) -> str:
    return textwrap.fill(line, 120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def pages() -> dict[Path, str]:
    points = all_compared()
    lines = [*better_peers(points), *slow(), *fast(points)]
    numbered = "\n".join(wrapped(f"{number}. {line}") for number, line in enumerate(lines, 1))
    page = f"""# Performance

Where peers are better comes first, then what is slow, then what is fast. Written by `python -m benchmarks.page` from
the results in `benchmarks/`. Programs ran in turn on a small, noisy machine with 2 cores, short fits several times:
ratios mean more than seconds.

![Times faster than each peer, on the largest table that it got through](pictures/performance.svg)

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
