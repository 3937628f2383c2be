"""The cells of claims.md that have to be worked out: our figure, with the verdict where it depends on the results."""

from typing import Any

from bars import PAPER
from common import HOLDS, NOT, PART, UNKNOWN, Found
from natural import AGAIN, REDUCED

RELIABLE = 0.95  # share of sets from which on we call an algorithm reliable; the paper sets no bar
ALIKE = 0.1  # shares that differ by less are called similar
SIZES = {50: "H = 50", 100: REDUCED, 200: "H = 200"}


def rate(one: dict[str, Any]) -> str:
    return f"{one['recovered']} of {one['sets']} ({one['recovered'] / one['sets']:.1%})"


def plus(one: dict[str, float]) -> str:
    return f"{one['mean']:.3f} ± {one['std']:.3f}"


def first_sigma(_: Found) -> tuple[str, str]:
    """Root of the mean variance of a pixel: two bars of 10 that are on with .2, and noise of 2."""
    noise = (2 * 100.0 * 0.2 * 0.8 + 4.0) ** 0.5
    return f"{noise:.2f}", HOLDS if abs(noise - 6.0) < 0.05 else NOT


def all_bars(found: Found) -> tuple[str, str]:
    one = found["bars"][PAPER]
    words = f"{rate(one)}: reliable, but somewhat less often than in the paper"
    return words, PART if one["recovered"] >= RELIABLE * one["sets"] else NOT


def sparseness(found: Found) -> tuple[str, str]:
    active = found["bars"][PAPER]["active"]
    return plus(active), NOT if abs(active["mean"] - 2.0) >= 0.05 else HOLDS if active["std"] < 0.015 else PART


def noise(found: Found) -> tuple[str, str]:
    one = found["bars"][PAPER]["noise"]
    return plus(one), HOLDS if abs(one["mean"] - 2.0) < 0.05 and one["std"] <= 0.065 else NOT


def small_patches(found: Found) -> str:
    ends = [one["active"][-1] for one in found["natural"].values()]
    return f"{min(ends):.1f} to {max(ends):.1f}"


def fields_by_size(found: Found) -> tuple[str, str]:
    shares = {n: found["natural"][name]["gabor_share"] for n, name in SIZES.items()}
    alike = max(shares.values()) - min(shares.values()) < ALIKE
    return ", ".join(f"{share:.0%} (H = {n})" for n, share in shares.items()), HOLDS if alike else UNKNOWN


def widths_by_size(found: Found) -> tuple[str, str]:
    few, _, many = (found["natural"][name]["width"] for name in SIZES.values())
    seeds = [found["natural"][name]["width"] for name in AGAIN]
    words = f"{few:.2f} (H = 50); {', '.join(f'{width:.2f}' for width in seeds)} (H = 100); {many:.2f} (H = 200)"
    return words, (NOT, PART, HOLDS)[(few < min(seeds)) + (many > max(seeds))]
