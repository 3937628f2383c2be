"""The chart at the top of docs/performance.md: how many times faster than each peer, drawn as SVG."""

import math
from dataclasses import dataclass
from html import escape

WIDTH, LEFT, RIGHT, TOP, STEP = 800, 232, 40, 70, 26
FIRST, LAST = -1, 4  # powers of ten at the ends of the axis
BLUE, RED, GREY, INK = "#1f6fb2", "#c0392b", "#c9ced4", "#24292f"
FONT = "font-family='Helvetica, Arial, sans-serif'"


@dataclass
class Peer:
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


def text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = INK, size: int = 13) -> str:
    return (
        f"<text x='{x}' y='{y}' text-anchor='{anchor}' fill='{colour}' font-size='{size}' {FONT}>{escape(words)}</text>"
    )


def dot(times: float, y: float, *, filled: bool, colour: str) -> str:
    inside = colour if filled else "white"
    return f"<circle cx='{place(times)}' cy='{y}' r='5' fill='{inside}' stroke='{colour}' stroke-width='2'/>"


def legend() -> list[str]:
    y = 34
    marks = [(16, True, "fastest method as good as the peer"), (286, False, "default settings")]
    parts = [text(16, 18, "Times faster than each peer, at the largest table that it got through", size=14)]
    for x, filled, words in marks:
        inside = BLUE if filled else "white"
        parts.append(f"<circle cx='{x + 5}' cy='{y}' r='5' fill='{inside}' stroke='{BLUE}' stroke-width='2'/>")
        parts.append(text(x + 16, y + 4, words, size=12))
    parts.append(text(16, y + 22, "red: its quality is better, or our default is slower", colour=RED, size=12))
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
    """Return the picture."""
    bottom = TOP + STEP * len(peers) + 8
    parts = [*legend(), *axis(bottom)]
    for number, peer in enumerate(peers):
        y = TOP + STEP * number + 18
        colour = RED if peer.loses else BLUE
        parts.append(text(16, y + 4, f"{peer.name}, {peer.rows:,} rows", colour=RED if peer.loses else INK))
        low, high = place(min(peer.fastest, peer.default)), place(max(peer.fastest, peer.default))
        parts.append(f"<line x1='{low}' y1='{y}' x2='{high}' y2='{y}' stroke='{colour}' stroke-width='2'/>")
        parts.append(dot(peer.default, y, filled=False, colour=colour))
        if peer.as_good:
            parts.append(dot(peer.fastest, y, filled=True, colour=colour))
        words = f"{float(f'{peer.fastest:.3g}'):,g}" if peer.as_good else "its quality is better"
        parts.append(text(high + 12, y + 4, words, colour=colour, size=12))
    height = bottom + 48
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' height='{height}' role='img'>"
    title = "<title>Times faster than each peer</title>"
    back = f"<rect width='{WIDTH}' height='{height}' fill='white'/>"
    return "\n".join([head, title, back, *parts, "</svg>"]) + "\n"
