"""Coverage curves, reliability curves and log-losses, from what was measured."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from common import save
from completion import DEFAULT, OURS, TRUTH
from interval_coverage import BASE, LEVEL

# Okabe and Ito's colours: colour-blind people can tell them apart.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8c8c8c"
LINES = {"before the polish": (ORANGE, "s"), "polished": (BLUE, "o"), "exact": (GREEN, "^")}


def draw(folder: Path, intervals: dict[str, Any], cells: dict[str, Any]) -> None:
    found = {name: table for name, table in cells["tables"].items() if not isinstance(table, str)}
    coverages(folder, intervals)
    reliability(folder, found)
    losses(folder, found)


def coverages(folder: Path, intervals: dict[str, Any]) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained", width_ratios=[1.15, 1.0])
    figure.get_layout_engine().set(wspace=0.05)
    for name, measured in intervals["settings"][BASE].items():
        method, source = name.rsplit(", ", 1)
        colour, marker = LINES[method]
        levels = np.array([float(level) for level in measured["levels"]])
        excess = np.array(list(measured["levels"].values())) - levels
        style = {"ls": "-" if source == "fitted" else "--", "mfc": colour if source == "fitted" else "white"}
        words = f"{method}, parameters {source}"
        left.plot(100 * levels, 100 * excess, color=colour, marker=marker, ms=5, label=words, **style)
    left.axhline(0.0, color=GREY, lw=1)
    left.axhspan(-2, 2, color=GREY, alpha=0.15, lw=0)
    left.set(xlabel="level of the intervals, %", ylabel="true coordinates held, less the level, points")
    left.set_title(BASE, fontsize=10, loc="left")
    left.legend(fontsize=8, frameon=False, loc="upper center", ncols=2)
    left.set_ylim(top=7.0)  # room for the legend
    for method, numbers in intervals["by_rows"].items():
        colour, marker = LINES[method]
        rows = [int(n) for n in numbers]
        right.plot(rows, [100 * c for c in numbers.values()], color=colour, marker=marker, ms=5, label=method)
    right.axhline(100 * LEVEL, color=GREY, lw=1)
    right.axhspan(100 * LEVEL - 2, 100 * LEVEL + 2, color=GREY, alpha=0.15, lw=0)
    right.set_xscale("log")
    right.set_xticks(rows, [str(n) for n in rows])
    right.minorticks_off()
    right.set(xlabel="rows of the fit", ylabel="true coordinates held by 90% intervals, %")
    right.set_title("fitted parameters", fontsize=10, loc="left")
    right.legend(fontsize=8, frameon=False, loc="lower right")
    save(figure, folder, "coverage")


def reliability(folder: Path, tables: dict[str, Any]) -> None:
    """Above: shares of ones against probabilities. Below: how far they are apart, with three standard errors."""
    figure, axes = plt.subplots(
        2,
        len(tables),
        figsize=(3.4 * len(tables), 5.6),
        layout="constrained",
        sharex=True,
        sharey="row",
        squeeze=False,
        height_ratios=[1.4, 1.0],
    )
    series = {DEFAULT: (ORANGE, "s", -0.008), OURS: (BLUE, "o", 0.008)}
    for (above, below), (name, table) in zip(axes.T, tables.items(), strict=True):
        above.plot([0, 1], [0, 1], color=GREY, lw=1)
        below.axhline(0.0, color=GREY, lw=1)
        for method, (colour, marker, shift) in series.items():
            bins = table["methods"][method]["bins"]
            p = np.array([b["predicted"] for b in bins])
            style = {"color": colour, "marker": marker, "ms": 4, "label": words_of(method)}
            above.plot(p, [b["observed"] for b in bins], **style)
            apart, error = (np.array([b[key] for b in bins]) for key in ("apart", "error"))
            below.errorbar(p + shift, apart, 3.0 * error, ls="", lw=1.2, **style)
        above.set_title(f"{name}\n{' x '.join(str(n) for n in table['shape'])}", fontsize=10, loc="left")
        below.set_xlabel("P(bit = 1) as guessed")
    axes[0, 0].set_ylabel("share of ones")
    axes[1, 0].set_ylabel("share of ones less P,\nwith 3 standard errors")
    axes[0, 0].legend(fontsize=8, frameon=False, loc="upper left")
    save(figure, folder, "reliability")


def words_of(method: str) -> str:
    return "ridge 0.1, the default" if method == DEFAULT else "ridge chosen on visible cells"


def losses(folder: Path, tables: dict[str, Any]) -> None:
    """How much more each method loses a cell than LogisticPCA; column means are off the scale and written down."""
    figure, axes = plt.subplots(
        1, len(tables), figsize=(3.2 * len(tables) + 1.6, 2.8), layout="constrained", sharey=True, squeeze=False
    )
    names = ["BernoulliMixture", "logistic regressions, C = 1", "logistic regressions", DEFAULT, OURS, TRUTH]
    shown = [name for name in names if any(name in table["methods"] for table in tables.values())][::-1]
    for ax, (name, table) in zip(axes[0], tables.items(), strict=True):
        ax.axvline(0.0, color=GREY, lw=1)
        for place, method in enumerate(shown):
            if (found := table["methods"].get(method)) is not None:
                colour = BLUE if method in (OURS, DEFAULT) else ORANGE if method != TRUTH else GREEN
                ax.errorbar(found["more"], place, xerr=2.0 * found["paired_error"], color=colour, marker="o", ms=4)
        worse = table["methods"]["column means"]["more"]
        ax.set_title(f"{name}; column means +{worse:.2f}", fontsize=9, loc="left")
        ax.set_xlabel("log-loss above LogisticPCA's, nats a cell", fontsize=8)
        ax.tick_params(labelsize=8)
    axes[0, 0].set_yticks(range(len(shown)), shown)
    save(figure, folder, "losses")
