"""Axes, colors for color-blind readers, names as plain text and legends, for all plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hiddenbits.quoting import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Text

# Okabe and Ito's colors without yellow, which is hard to see on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GRAY = "#8c8c8c"
INK = "#404040"
NUMBERS = "viridis"  # even steps to the eye, with and without color vision, and in gray print
SMALL = 7  # font size of names inside a plot
LONGEST_NAME = 40  # characters of a name that are drawn


def pyplot() -> Any:
    """Return matplotlib.pyplot; raise with the command to install it if it is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'hiddenbits[plot]'.") from error
    return plt


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (6.0, 4.5)) -> Axes:
    """Return the given axes, or those of a new figure that leaves room for a legend."""
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def fills_figure(ax: Axes) -> bool:
    """Whether the axes are alone in their figure, and its layout makes room for a legend next to them."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure: Any = ax.figure.canvas.figure
    return len(ax.figure.axes) == 1 and isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine)


def glyph(number: int) -> tuple[str, str]:
    """Return color and marker of a category. The first seven differ in both, and the first 49 in one of them."""
    turn, color = divmod(number, len(COLORS))
    return COLORS[color], MARKERS[(color + turn) % len(MARKERS)]


def shortened(name: object) -> str:
    """Return a name as it is drawn: printable, and shortened if it is long."""
    text = printable(name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def as_plain(text: Text) -> Text:
    """Draw a text literally: a dollar sign in a name does not begin a formula."""
    text.set_parse_math(False)
    text.set_usetex(False)
    return text


def legend(ax: Axes, handles: Sequence[Any], names: Sequence[object], *, outside: bool, **options: Any) -> Legend:
    """Draw a legend, next to the axes if the layout makes room for it, otherwise inside them.

    The names are set afterwards, because matplotlib would omit a name that begins with an underscore.
    """
    owner: Any = ax.figure if outside else ax
    options = {"loc": "outside right upper" if outside else "best", "frameon": not outside, **options}
    names = [shortened(name) for name in names]
    if len(names) > 12:
        options = {"ncols": 2, "columnspacing": 1.0, **options}
    drawn: Legend = owner.legend(handles, ["."] * len(names), fontsize=8, **options)
    for text, name in zip(drawn.get_texts(), names, strict=True):
        as_plain(text).set_text(name)
    return drawn


def trim(ax: Axes) -> None:
    """Shrink a new figure to the size that axes with equal scales need."""
    figure = settle(ax)
    frame, used = ax.get_position(original=True), ax.get_position()
    width, height = figure.get_size_inches()
    figure.set_size_inches(width * (1.0 - frame.width + used.width), height * (1.0 - frame.height + used.height))
    settle(ax)


def settle(ax: Axes) -> Any:
    """Finish the layout, and return the top-level figure.

    matplotlib computes the layout once per draw, with the ticks of the previous draw: the first may cut off a label.
    """
    figure: Any = ax.figure.canvas.figure  # the top-level one, if the axes are in a subfigure
    figure.draw_without_rendering()
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
    return figure


def note(ax: Axes, sentences: Sequence[str]) -> None:
    """Write notes above the frame, such as what is not drawn."""
    if sentences:
        text = "; ".join(sentences)
        ax.text(1.0, 1.005, text, transform=ax.transAxes, ha="right", va="bottom", fontsize=SMALL, color=INK)
