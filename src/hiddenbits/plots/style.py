"""What all pictures share: axes, colours that colour-blind people can tell apart, names as plain text, legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Text

# Okabe and Ito's colours without their yellow, which is lost on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#8c8c8c"
INK = "#404040"
NUMBERS = "viridis"  # even steps to the eye, with and without colour vision, and in grey print
SMALL = 7  # font size of names inside a picture
LONGEST = 40  # characters of a name that are drawn


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'hiddenbits[plot]'.") from error
    return plt


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (6.0, 4.5)) -> Axes:
    """Return the axes to draw on: those given, or those of a new figure that leaves room for its legend."""
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def has_the_page(ax: Axes) -> bool:
    """Whether the axes are alone in their figure, and its layout makes room for a legend beside them."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    whole: Any = ax.figure.canvas.figure
    return len(ax.figure.axes) == 1 and isinstance(whole.get_layout_engine(), ConstrainedLayoutEngine)


def glyph(number: int) -> tuple[str, str]:
    """Return colour and marker of a category. The first seven differ in both, and no two of the first 49 agree."""
    turn, place = divmod(number, len(COLOURS))
    return COLOURS[place], MARKERS[(place + turn) % len(MARKERS)]


def shortened(name: object) -> str:
    """Return a name as it is drawn."""
    text = str(name)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def as_plain(text: Text) -> Text:
    """Have a text drawn as it is: a dollar sign in a name is a dollar sign, not the beginning of a formula."""
    text.set_parse_math(False)
    text.set_usetex(False)
    return text


def legend(ax: Axes, handles: Sequence[Any], names: Sequence[object], *, beside: bool, **options: Any) -> Legend:
    """Draw a legend, beside the axes where the layout makes room for it, or else inside them.

    The names are put in afterwards: handed over directly, one that begins with an underscore would be left out.
    """
    owner: Any = ax.figure if beside else ax
    options = {"loc": "outside right upper" if beside else "best", "frameon": not beside, **options}
    names = [shortened(name) for name in names]
    if len(names) > 12:
        options = {"ncols": 2, "columnspacing": 1.0, **options}
    drawn: Legend = owner.legend(handles, ["."] * len(names), fontsize=8, **options)
    for text, name in zip(drawn.get_texts(), names, strict=True):
        as_plain(text).set_text(name)
    return drawn


def trim(ax: Axes) -> None:
    """Make a figure of our own as wide and as high as axes of equal scales need."""
    figure = settle(ax)
    allowed, used = ax.get_position(original=True), ax.get_position()
    width, height = figure.get_size_inches()
    figure.set_size_inches(width * (1.0 - allowed.width + used.width), height * (1.0 - allowed.height + used.height))
    settle(ax)


def settle(ax: Axes) -> Any:
    """Let the layout come to rest, and return the whole figure.

    matplotlib lays out once a drawing, with the ticks of the drawing before: the first one may cut off a label.
    """
    figure: Any = ax.figure.canvas.figure  # the whole one, where the axes are in a figure within it
    figure.draw_without_rendering()
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
    return figure


def note(ax: Axes, sentences: Sequence[str]) -> None:
    """Say above the frame what the picture leaves out."""
    if sentences:
        text = "; ".join(sentences)
        ax.text(1.0, 1.005, text, transform=ax.transAxes, ha="right", va="bottom", fontsize=SMALL, color=INK)
