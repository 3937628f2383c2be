"""The paper's Figures 1 and 2, and what it does not show: the spread over data sets, and an image restored."""

from pathlib import Path
from typing import Any

import bars
import course
import denoise
import full_size
import further
import matplotlib.pyplot as plt
import natural
import numpy as np
import wall_pictures
from bars_data import SHAPE, drawn, images
from common import save
from walls import GREYS, tiled

from hiddenbits import load

BLUE, RED = "#0072B2", "#D55E00"
SHOWN = 200  # fields of Figure 2A


def draw(folder: Path, scratch: Path, found: dict[str, Any], *, full: bool) -> None:
    """Draw everything there are results of."""
    bar_images(folder, found["course"])
    two_courses(folder, found["course"])
    spread(folder, found["bars"])
    if not isinstance(found["natural"], str):
        name = natural.REDUCED if full else natural.SMALL
        if natural.place(scratch, name).is_file():  # else the pictures there are stay
            fields(folder, "natural_fields", natural.fitted(name, scratch).components_)
            globular(folder, "natural_globular", natural.fitted(name, scratch).components_, found["natural"][name])
        courses(folder, found["natural"], found["full_size"])
    if full_size.Course(scratch).model.is_file():
        wall_pictures.full_size(folder, chosen(load(full_size.Course(scratch).model).components_))
    for task in denoise.DAMAGED:
        if (scratch / f"{task}.npz").is_file():
            restored(folder, scratch, task, found["denoise"][task], full)


def shown(ax: Any, wall: np.ndarray) -> None:
    ax.imshow(wall, cmap=GREYS, vmin=-1.0, vmax=1.0, interpolation="nearest")
    ax.axis("off")


def bar_images(folder: Path, found: dict[str, Any]) -> None:
    """Figures 1A and 1B: images, and the fields after some passes."""
    X, _ = images(course.SEEDS["data"], found["rows"])
    kept = found["starts"]["pi H = 5"]["fields"]
    figure, axes = plt.subplots(len(kept) + 1, 1, figsize=(6.4, 6.0), layout="constrained")
    largest = np.abs(X[: course.SHOWN]).max()
    walls = {"images": X[: course.SHOWN] / largest} | {f"pass {n}": np.array(rows) for n, rows in kept.items()}
    for ax, (name, rows) in zip(axes, walls.items(), strict=True):
        framed = np.pad(tiled(rows, SHAPE, len(rows)), 1, constant_values=np.nan)  # white bars end at blue, not paper
        ax.imshow(framed, cmap=GREYS, vmin=-1.0, vmax=1.0, interpolation="nearest")
        ax.set(xticks=[], yticks=[], frame_on=False, xlim=(-0.5, course.SHOWN * (SHAPE[1] + 1) + 0.5))
        ax.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=8)
    save(figure, folder, "figure1_fields")


def two_courses(folder: Path, found: dict[str, Any]) -> None:
    """Figure 1C."""
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.0), layout="constrained")
    for (name, one), colour in zip(found["starts"].items(), (BLUE, RED), strict=True):
        active, noise = [course.STARTS[name], *one["active"]], [one["start_noise"], *one["noise"]]
        axes[0].plot(np.arange(len(active)), active, color=colour, label=f"start at {name}")
        axes[1].plot(np.arange(len(noise)), noise, color=colour)
    for ax, what in zip(axes, ("$\\pi H$", "$\\sigma$"), strict=True):
        ax.axhline(2.0, color="k", linestyle="--", linewidth=0.8)
        ax.set(xlabel="pass", ylabel=what, ylim=(0.0, None))
    axes[0].legend(fontsize=8)
    save(figure, folder, "figure1_courses")


def spread(folder: Path, found: dict[str, Any]) -> None:
    """What is learned of each data set, against what was drawn for it."""
    one = found[bars.DEFAULT]
    truth = [drawn(seed, one["rows"]) for seed in range(one["sets"])]
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
    axes[0].plot(truth, one["each"]["active"], ".", ms=3, color=BLUE)
    axes[0].plot([1.85, 2.15], [1.85, 2.15], "--", color="k", linewidth=0.8)
    axes[0].set(xlabel="bars that are on in an image, as drawn", ylabel="$\\pi H$, learned", aspect="equal")
    axes[1].hist(one["each"]["noise"], 30, color=BLUE)
    axes[1].axvline(2.0, color="k", linestyle="--", linewidth=0.8)
    axes[1].set(xlabel="$\\sigma$, learned", ylabel="data sets")
    save(figure, folder, "bars_spread")


def chosen(rows: np.ndarray) -> np.ndarray:
    """Some fields at random, as in Figure 2A."""
    return rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:SHOWN])]


def side_of(rows: np.ndarray) -> tuple[int, int]:
    side = round(rows.shape[1] ** 0.5)
    return side, side


def fields(folder: Path, name: str, rows: np.ndarray, across: int = 20) -> None:
    """Figure 2A: each field on its own scale, grey is 0."""
    down = -(-len(rows) // across)
    figure, ax = plt.subplots(figsize=(9.0, 9.0 * down / across), layout="constrained")
    shown(ax, tiled(rows, side_of(rows), across))
    save(figure, folder, name)


def globular(folder: Path, name: str, rows: np.ndarray, found: dict[str, Any], n: int = 20) -> None:
    """Figure 2B: the fields that a circle describes nearly as well as a Gabor function."""
    order = np.argsort(-np.array(found["roundness"]))[:n]
    figure, ax = plt.subplots(figsize=(9.0, 1.1), layout="constrained")
    shown(ax, tiled(rows[order], side_of(rows), n))
    save(figure, folder, name)


def courses(folder: Path, found: dict[str, Any], whole: Any) -> None:
    """Figure 2C: sparseness and noise after each pass; the full size as far as it has gone."""
    figure, axes = plt.subplots(1, 2, figsize=(10.0, 4.4), layout="constrained")
    for number, (name, one) in enumerate(found.items()):
        # Ten colours: what is beyond them is dashed.
        line = {"color": f"C{number % 10}", "linestyle": "-" if number < 10 else "--", "linewidth": 1.2}
        for ax, what in zip(axes, ("active", "noise"), strict=True):
            ax.plot(np.arange(1, len(one[what]) + 1), one[what], label=further.in_letters(name), **line)
    if not isinstance(whole, str):
        label = f"full size, {whole['side']} x {whole['side']}: {whole['done']} of {whole['passes']} passes"
        for ax, what in zip(axes, ("active", "noise"), strict=True):
            ax.plot(np.arange(1, whole["done"] + 1), whole[what], "k-", linewidth=2.0, label=label)
    for ax, what in zip(axes, ("$\\pi H$", "$\\sigma$"), strict=True):
        ax.set(xlabel="pass", ylabel=what, ylim=(0.0, None))
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=7, loc="outside lower center", ncols=3)
    save(figure, folder, "figure2_courses")


def restored(folder: Path, scratch: Path, task: str, found: dict[str, Any], full: bool) -> None:
    """The image, what was made of it, and what each way makes of that."""
    image = denoise.picture(full)
    damaged = denoise.noisy(image) if task == "denoising" else denoise.holey(image)
    with np.load(scratch / f"{task}.npz", allow_pickle=False) as stored:
        ways = {name: stored[name] for name in stored.files if name != denoise.DAMAGED["denoising"]}
    walls = {"image": image, "damaged": np.where(np.isnan(damaged), 0.0, damaged)}
    walls |= {f"{name}: {found[name]['psnr']:.2f} dB": picture for name, picture in ways.items()}
    figure, axes = plt.subplots(2, -(-len(walls) // 2), figsize=(4.0 * -(-len(walls) // 2), 8.4), layout="constrained")
    for ax in axes.flat:
        ax.axis("off")
    for ax, (name, picture) in zip(axes.flat, walls.items(), strict=False):
        ax.imshow(picture, cmap="gray", vmin=0.0, vmax=255.0, interpolation="nearest")
        ax.set_title(name, fontsize=8)
    save(figure, folder, task, dpi=80)
