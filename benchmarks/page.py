"""Write docs/performance.md and its chart: from the results of the benchmarks, and from the dated pages of those that are gone.

python -m benchmarks.page
"""

import math
import textwrap
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers.page import MORE_MEMORY, at_size, fastest, label, shown
from benchmarks.record import DOCS, load, write
from benchmarks.starts.page import lower

PAGE, CHART = DOCS / "performance.md", DOCS / "pictures" / "performance.svg"
Point = dict[str, Any]
WIDTH, LEFT, RIGHT, TOP, STEP = 800, 232, 40, 70, 26
FIRST, LAST = -1, 4  # powers of ten at the ends of the axis
BLUE, RED, GREY, INK = "#1f6fb2", "#c0392b", "#c9ced4", "#24292f"
FONT = "font-family='Helvetica, Arial, sans-serif'"
# Figures of results/maps.md, logistic.md, mixture.md, machines.md, noisy_or.md and tetrachoric.md, of commit 9d35279.
MAPS = (
    "**umap-learn shows classes better than `TopographicMap`** on zoo and news100, by the share of rows among their "
    "class (.88, ours .79; .68, ours .63), and its maps differ less by seed (`maps.md`)."
)
SHORT_ITEMS = (
    "**mirt's `fit_mirt` (Python) is faster on 2 of 8 tables**, by maximum likelihood without standard errors: 2PL, "
    "1,000 x 20 (0.021 s, ours 0.032); nltcs (0.072 s, ours 0.13) (`logistic.md`)."
)
MACHINES = (
    "**Combination machines**: a default fit to a real table runs for up to 88 s, longer than a peer's "
    "whole run in 6 of 10 comparisons (`machines.md`)."
)
NETWORKS = (
    "**`NoisyOrNetwork` learns by sampling**: 78,162 baskets and 100 causes take 223 s, a mixture of "
    "20 classes 8.8 s (`noisy_or.md`)."
)
REAL_MIXTURES = "to 4 real tables with 20 classes 10.9 to 280 times (`mixture.md`)"
PAIRS = (
    "**Tetrachoric correlations** of small tables are 59 times faster than psych's and 258 times than "
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
        named = [p.named(f"{p.theirs['seconds']:.3g} s, ours {p.default['seconds']:.3g}") for p in slower]
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
    return [*lines, SHORT_ITEMS, clear_classes(), *short_numbers(), memory]


def clear_classes() -> str:
    defaults, coded = (
        sorted(1.0 / f["times_faster"] for name, f in of.items() if kind in name and f["times_faster"] < 1.0)
        for of, kind in (
            (load("peers/class_defaults")["figures"], ""),
            (load("peers/classes")["figures"]["levels"], "one-hot"),
        )
    )
    alone = f"small tables of classes apart, ours up to {defaults[-1]:.2g} times its time; on " if defaults else ""
    return (
        f"**StepMix is faster** on {alone}levels that are one-hot already, {coded[-1]:.2g} times (`peers_classes.md`)."
    )


def short_numbers() -> list[str]:
    """Return the line on tables of numbers on which GaussianMixture is faster, if there are any."""
    slower = [
        (f["rows"], f["times_faster"])
        for of in (load("peers/numbers")["figures"][part] for part in ("times", "own starts"))
        for name, f in of.items()
        if "GaussianMixture" in name and f["times_faster"] < 1.0
    ]
    if not slower:
        return []
    times = (1.0 / min(faster for _, faster in slower), max(rows for rows, _ in slower))
    return [
        "**`GaussianMixture` is faster** on up to {1:,} rows, ours takes up to {0:.2g} times its time "
        "(`peers_numbers.md`).".format(*times)
    ]


def slow() -> list[str]:
    """Return the lines on what is slow."""
    bare = load("bare/bare")
    passes = list(bare["figures"].values())
    over = [f for f in passes if f["ratio"] > bare["goal"]]
    worst = max((f for f in passes if f["size"] != "small"), key=lambda f: f["ratio"])
    return [
        MACHINES,
        "**Fits to long tables begin on a subsample of the rows**, and may end lower. "
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
        "**Mixtures** are faster than StepMix to the same likelihood from as many starts: to ten simulated classes "
        f"that overlap {', '.join(drawn)} (`peers.md`), {REAL_MIXTURES}.",
        _levels(),
        PAIRS,
        f"**Large tables**: {rows['rows']:,} rows x 1,000 with 1% ones are fitted (`LatentClassAnalysis(32)`, two "
        f"passes) and scored from disk in {rows['seconds'] / 60:.1f} minutes on two cores, in "
        f"{rows['peak_memory_mb'] / 1000:.2f} GB (`large_tables.md`).",
    ]


def _levels() -> str:
    figures = load("peers/classes")["figures"]
    stepmix, polca = (
        sorted(f["times_faster"] for name, f in of.items() if "one-hot" not in name)
        for of in (figures["levels"], figures["election"])
    )
    return (
        f"**Columns of levels**, from the same start: {stepmix[0]:.2g} to {stepmix[-1]:.2g} times faster than StepMix, "
        f"{polca[0]:.2g} to {polca[-1]:.2g} times faster than poLCA (`peers_classes.md`)."
    )


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


class Peer(NamedTuple):
    """A peer at the largest number of rows that it got through: its seconds divided by ours."""

    name: str
    rows: int
    fastest: float  # with the fastest of our methods that is as good, or the default if none is
    default: float
    as_good: bool

    @property
    def loses(self) -> bool:
        return not self.as_good or self.default < 1.0


def place(times: float) -> float:
    """Return where a ratio is on the axis."""
    share = (math.log10(times) - FIRST) / (LAST - FIRST)
    return round(LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT), 1)


def text(x: float, y: float, words: str, *, anchor: str = "start", color: str = INK, size: int = 13) -> str:
    return (
        f"<text x='{x}' y='{y}' text-anchor='{anchor}' fill='{color}' font-size='{size}' {FONT}>{escape(words)}</text>"
    )


def dot(times: float, y: float, *, filled: bool, color: str) -> str:
    inside = color if filled else "white"
    return f"<circle cx='{place(times)}' cy='{y}' r='5' fill='{inside}' stroke='{color}' stroke-width='2'/>"


def legend() -> list[str]:
    y = 34
    marks = [(16, True, "fastest method as good as the peer"), (286, False, "default settings")]
    parts = [text(16, 18, "Times faster than each peer, at the largest table that it got through", size=14)]
    for x, filled, words in marks:
        inside = BLUE if filled else "white"
        parts.append(f"<circle cx='{x + 5}' cy='{y}' r='5' fill='{inside}' stroke='{BLUE}' stroke-width='2'/>")
        parts.append(text(x + 16, y + 4, words, size=12))
    parts.append(text(16, y + 22, "red: its quality is better, or our default is slower", color=RED, size=12))
    return parts


def axis(bottom: float) -> list[str]:
    parts = []
    for power in range(FIRST, LAST + 1):
        x = place(10.0**power)
        heavy = "1.5" if power == 0 else "1"
        parts.append(
            f"<line x1='{x}' y1='{TOP}' x2='{x}' y2='{bottom}' stroke='{INK if power == 0 else GREY}' stroke-width='{heavy}'/>"
        )
        parts.append(text(x, bottom + 18, f"{10**power:,}" if power >= 0 else "0.1", anchor="middle", size=12))
    parts.append(text(place(1.0), bottom + 36, "equally fast", anchor="middle", size=12))
    return parts


def chart(peers: list[Peer]) -> str:
    """Draw how many times faster we are than each peer, as SVG."""
    bottom = TOP + STEP * len(peers) + 8
    parts = [*legend(), *axis(bottom)]
    for number, peer in enumerate(peers):
        y = TOP + STEP * number + 18
        color = RED if peer.loses else BLUE
        parts.append(text(16, y + 4, f"{peer.name}, {peer.rows:,} rows", color=RED if peer.loses else INK))
        low, high = place(min(peer.fastest, peer.default)), place(max(peer.fastest, peer.default))
        parts.append(f"<line x1='{low}' y1='{y}' x2='{high}' y2='{y}' stroke='{color}' stroke-width='2'/>")
        parts.append(dot(peer.default, y, filled=False, color=color))
        if peer.as_good:
            parts.append(dot(peer.fastest, y, filled=True, color=color))
        words = f"{float(f'{peer.fastest:.3g}'):,g}" if peer.as_good else "its quality is better"
        parts.append(text(high + 12, y + 4, words, color=color, size=12))
    height = bottom + 48
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' height='{height}' role='img'>"
    title = "<title>Times faster than each peer</title>"
    back = f"<rect width='{WIDTH}' height='{height}' fill='white'/>"
    return "\n".join([head, title, back, *parts, "</svg>"]) + "\n"


def wrapped(line: str) -> str:
    return textwrap.fill(line, 120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def pages() -> dict[Path, str]:
    points = all_compared()
    lines = [*better_peers(points), *slow(), *fast(points)]
    numbered = "\n".join(wrapped(f"{number}. {line}") for number, line in enumerate(lines, 1))
    page = f"""# Performance

Losses first. Written by `python -m benchmarks.page`; files in
brackets are in `benchmarks/results/`. The machine was noisy: ratios mean more than seconds.

![Times faster than each peer, on the largest table that it got through](pictures/performance.svg)

{numbered}
"""
    return {PAGE: page, CHART: picture(points)}


if __name__ == "__main__":
    write(pages())
