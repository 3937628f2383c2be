"""The paper's settings, read from `BinarySparseCoding.paper`, so that the page cannot differ from what was run."""

from typing import Any

from bars_data import N_BARS, SHAPE, images
from common import grid
from full_size import FULL

from hiddenbits import BinarySparseCoding


def course(model: BinarySparseCoding) -> tuple[str, Any]:
    """When the data cut sets in, and the schedule."""
    plan = model._group("schedule")
    first, last = (round(share * plan.n_passes) for share in (plan.cut_from, plan.cut_to))
    cut = f"all N for {first} passes, evenly fewer to N^cut at pass {last}, then N^cut to pass {plan.n_passes}"
    return cut, plan


def table() -> str:
    """Bars and natural images next to each other."""
    bars, patches = BinarySparseCoding.paper("bars"), BinarySparseCoding.paper("images")
    (cut, plan), (late, slow) = course(bars), course(patches)
    _, fields = images(0, 1)
    half = int((fields.sum(axis=1) < 0).sum())
    kind = f"{N_BARS} horizontal and vertical bars on {SHAPE[0]} x {SHAPE[1]} pixels, {half} of -10, {half} of +10"
    rows: list[list[object]] = [
        ["data", f"{kind}; they add up; pi H = 2, noise of 2", f"{FULL.patches:,} patches, {FULL.side} x {FULL.side}"],
        ["H, H', gamma", *(f"{one.n_components}, {one.n_candidates}, {one.max_active}" for one in (bars, patches))],
        ["rows that count, M", cut, late],
        ["first W", f"N(0, {plan.start_scale:g}), drawn anew", 'the mean patch, and "small" noise'],
        ["first pi H", f"{plan.start_active:g}", f"{slow.start_active:g}"],
        ["first sigma", "root of the mean variance of a pixel", "eq. 7 over all patches, with the first W"],
        ["noise on W after a pass", f"{plan.jitter:g}", "not mentioned; none"],
        [
            "preparation",
            "none",
            "the brightest 2% of the pixels clamped, then a difference of Gaussians; the paper chose images without "
            "man-made structures, we did not choose ours",
        ],
    ]
    return grid(["", "bars", "natural images"], rows)
