"""Write docs/performance.md and its chart: from the results of the benchmarks, and from the dated pages of those that are gone.

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
# Figures of results/maps.md, logistic.md, mixture.md, machines.md, noisy_or.md and tetrachoric.md, of commit 9d35279.
MAPS = (
    "**umap-learn shows classes better than `TopographicMap`** on zoo and news100, by the share of rows among their "
    "class (.88, ours .79; .68, ours .63), and its maps differ less from seed to seed (`maps.md`)."
)
SHORT_ITEMS = (
    "**mirt's `fit_mirt` (Python) is faster on 2 of 8 tables**, by maximum likelihood without standard errors: 2PL, "
    "1,000 x 20 (0.021 s, ours 0.032 s); nltcs (0.072 s, ours 0.13 s) (`logistic.md`)."
)
CLEAR_CLASSES = (
    "**StepMix is faster with its own defaults**, one start where ours makes several, on classes that lie apart: "
    "ours takes 2.6 times its time on 1,000 x 20 and 1.4 times on 20,000 x 50 (`mixture.md`)."
)
MACHINES = (
    "**Combination machines**: a default fit to a real table runs for up to 88 s, longer than a peer's "
    "whole run in 6 of 10 comparisons. It ends higher in all 10 (`machines.md`)."
)
NETWORKS = (
    "**`NoisyOrNetwork` learns by sampling**: 78,162 baskets and 100 causes take 223 s of processor time, a mixture of "
    "20 classes 8.8 s (`noisy_or.md`)."
)
REAL_MIXTURES = "to 4 real tables with 20 classes 10.9 to 280 times (`mixture.md`)"
PAIRS = (
    "**Tetrachoric correlations** of small real tables are 59 times faster than psych's and 258 times faster than "
    "ordinalcorr's (`tetrachoric.md`)."
)


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


def better_peers(points: list[Compared]) -> list[str]:
    """Return the lines on what peers do better: quality, time, memory."""
    lines = [MAPS]
    worse = [
        p.named(" against ours ".join(shown(point["quality"], p.theirs["job"]) for point in (p.theirs, p.default)))
        for p in points
        if p.loses_quality
    ]
    if worse:
        lines.append(f"**Our default ends lower** than {', '.join(worse)} (`peers.md`).")
    slower = [p for p in points if p.loses_time]
    if slower:
        named = [p.named(f"{p.theirs['seconds']:.3g} s, ours {p.default['seconds']:.3g} s") for p in slower]
        sooner = sum(p.best is not None and p.best["seconds"] < p.theirs["seconds"] for p in slower)
        lines.append(
            f"**Our default takes longer** than {', '.join(named)}. In {sooner} of {len(slower)} another setting "
            "of ours, picked afterwards, is as good sooner (`peers.md`)."
        )
    more = [p for p in points if p.default["peak_mb"] > MORE_MEMORY * p.theirs["peak_mb"]]
    small = sum(p.theirs["rows"] <= 20_000 for p in more)
    memory = (
        f"**Peers take less memory**, by more than a tenth, in {len(more)} of {len(points)} comparisons, {small} of them "
        "with at most 20,000 rows (`peers.md`)."
    )
    return [*lines, SHORT_ITEMS, CLEAR_CLASSES, memory]


def slow() -> list[str]:
    """Return the lines on what is slow."""
    bare = load("bare/bare")
    passes = list(bare["figures"].values())
    over = [f for f in passes if f["ratio"] > bare["goal"]]
    worst = max((f for f in passes if f["size"] != "small"), key=lambda f: f["ratio"])
    return [
        MACHINES,
        "**Fits to long tables begin on a subsample of the rows**, and may end lower for it. "
        f"{lower(load('starts/long_tables'))} (`long_tables.md`)",
        f"**{len(over)} of {len(passes)} passes over a table take more than {bare['goal']:g} times their bare arithmetic**; "
        f"the worst, leaving out the smallest tables, is `{worst['model']}` ({worst['what']}) at {worst['ratio']:g} times "
        f"({worst['table']}, {worst['hidden']}) (`bare.md`).",
        NETWORKS,
    ]


def fast(points: list[Compared]) -> list[str]:
    """Return the lines on what is fast."""
    drawn = [
        f"{p.theirs['seconds'] / p.default['seconds']:.3g} times on {p.theirs['rows']:,}"
        for p in points
        if p.theirs["program"] == "StepMix"
    ]
    rows = load("scale/scale")["figures"]["threads"][-1]
    return [
        "**Mixtures** are faster than StepMix to the same likelihood from as many starts: to simulated rows of ten classes "
        f"that overlap {', '.join(drawn)} (`peers.md`), {REAL_MIXTURES}.",
        PAIRS,
        f"**Large tables**: {rows['rows']:,} rows of 1,000 columns with 1% ones are fitted (`BernoulliMixture(32)`, two "
        f"passes) and scored from disk in {rows['seconds'] / 60:.1f} minutes on two cores, with "
        f"{rows['peak_memory_mb'] / 1000:.2f} GB of memory (`large_tables.md`).",
    ]


def picture(points: list[Compared]) -> str:
    """Draw each peer at its largest size."""
    ordered = sorted(points, key=lambda p: p.theirs["rows"])
    largest = {(p.theirs["job"], p.theirs["program"]): p for p in ordered}.values()
    peers = [
        Peer(
            label(p.theirs["program"]),
            p.theirs["rows"],
            p.theirs["seconds"] / (p.best or p.default)["seconds"],
            p.theirs["seconds"] / p.default["seconds"],
            p.best is not None,
        )
        for p in largest
    ]
    return chart(sorted(peers, key=lambda peer: (peer.as_good, peer.default)))


def wrapped(line: str) -> str:
    return textwrap.fill(line, 120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def pages() -> dict[Path, str]:
    points = all_compared()
    lines = [*better_peers(points), *slow(), *fast(points)]
    numbered = "\n".join(wrapped(f"{number}. {line}") for number, line in enumerate(lines, 1))
    page = f"""# Performance

First what peers do better, then what is slow, then what is fast. Written by `python -m benchmarks.page`; the files in
brackets are in `benchmarks/results/` and have all figures. Programs ran in turn on a noisy machine with 2 cores: ratios
mean more than seconds.

![Times faster than each peer, on the largest table that it got through](pictures/performance.svg)

{numbered}
"""
    return {PAGE: page, CHART: picture(points)}


if __name__ == "__main__":
    write(pages())
