"""The figures that a right implementation shows, with their tolerances; a miss makes the run fail."""

from typing import Any

import bars
import denoise
import natural
from claims_of_images import GABORS as GABORS_LIKE
from claims_of_images import SEVERAL
from common import above, below, near

GABORS = "natural images: share of fields with Gabor R^2 above .8, mean of the seeds"
FROM_NOISE = GABORS + ", from noise with annealing"
FROM_MEAN = GABORS + ", from the mean as in the paper"
DRAWN_GABORS = "full size: share of drawn fields with Gabor R^2 above .8"
DRAWN_GLOBULAR = "full size: share of drawn fields that are globular"
# The first is so close that one field more or less, on another processor, decides. The others are missed: the paper
# gives no shares, these bars are ours.
OPEN = {FROM_MEAN, DRAWN_GABORS, DRAWN_GLOBULAR}
DRAWN = 1.6**0.5  # standard deviation of the number of bars that are on in one image


def measure(found: dict[str, Any], *, full: bool) -> dict[str, dict[str, Any]]:
    checks = linear_bars(found["bars"], full) | courses(found["course"]) | further(found)
    if not isinstance(found["full_size"], str):  # the images were at hand
        checks |= (
            full_size(found["full_size"], full)
            | drawn_fields(found["drawn_fields"])
            | natural_images(found["natural"], full)
            | restored(found["denoise"])
        )
    for name, check in checks.items():
        check["open"] = name in OPEN
    return checks


def linear_bars(found: dict[str, Any], full: bool) -> dict[str, dict[str, Any]]:
    ours, paper = found[bars.DEFAULT], found[bars.PAPER]
    # .02 either way for 1,000 sets; in a quick run four standard errors of what is drawn, and of the noise.
    few = 0.02 if full else 4.0 * DRAWN / (ours["rows"] * ours["sets"]) ** 0.5
    lost = "bars, our defaults: sets in which a bar is missed, of "
    return {
        f"{lost}{ours['sets']}": below(ours["sets"] - ours["recovered"], 1 if full else 0),
        "bars, our defaults: mean pi H": near(ours["of_all"]["active"]["mean"], 2.0, few),
        "bars, our defaults: mean sigma": near(ours["of_all"]["noise"]["mean"], 2.0, 0.02),
        # A quick run has 10 sets, of which even at 95% three or more are missed once in a hundred times.
        "bars, paper's settings: share of sets in which all are found": above(
            paper["recovered"] / paper["sets"], 0.95 if full else 0.8
        ),
    }


def further(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Bars in their max form, the accuracy of the truncated posterior, and the number of bars by held-out rows."""
    largest, few = found["max_bars"]["max"], found["accuracy"]["5 candidates of which 3"]
    rows = few["rows"]
    causes = found["number_of_causes"]
    wrong = sum(n != causes["truth"] for n in causes["chosen"])
    return {
        f"bars in their max form: sets in which a bar is missed, of {largest['sets']}": below(
            largest["sets"] - largest["recovered"], 5
        ),
        # 87.9% of images have at most three bars; three standard errors of a share.
        "truncated posterior: share of images with errors below .01": near(
            few["close"], 0.879, 3 * (0.879 * 0.121 / rows) ** 0.5
        ),
        "sets whose held-out rows choose another number of bars": below(wrong, 0),
    }


def courses(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    checks = {}
    for name, one in found["starts"].items():
        # Three standard deviations of what 500 images hold.
        checks[f"course from {name}: pi H at the end"] = near(one["active"][-1], 2.0, 3 * DRAWN / found["rows"] ** 0.5)
        checks[f"course from {name}: sigma at the end"] = near(one["noise"][-1], 2.0, 0.1)
    return checks


def full_size(found: dict[str, Any], full: bool) -> dict[str, dict[str, Any]]:
    begun = found["first_passes"]
    checks = {
        "full size: passes": above(found["done"], 10),
        "full size: processes, of which all but the last were killed": above(len(begun), 2),
        # A kill costs the pass that it falls into, and one more if it comes before the checkpoint is written.
        "full size: passes made twice": below(found["made_twice"], len(begun) - 1),
    }
    if "minutes_alone" in found:
        checks["full size: minutes for all passes, with both cores to itself"] = below(found["minutes_alone"], 30)
    if not full:
        same = float(not found["same_bits"])
        checks["full size, in small: killed and not killed differ (1 = yes)"] = below(same, 0)
    return checks


def drawn_fields(found: Any) -> dict[str, dict[str, Any]]:
    """The abstract's fields. It gives no shares: we ask for 85% Gabor-like, as in the reduced size, and 5% globular."""
    if isinstance(found, str):
        return {}
    return {
        DRAWN_GABORS: above(found["gabor_share"], GABORS_LIKE),
        DRAWN_GLOBULAR: above(found["globular_share"], SEVERAL),
    }


def natural_images(found: dict[str, Any], full: bool) -> dict[str, dict[str, Any]]:
    def like(*names: str) -> float:
        return round(sum(found[name]["gabor_share"] for name in names) / len(names), 9)

    if not full:
        return {GABORS: above(like(natural.SMALL), 0.6)}
    return {
        FROM_NOISE: above(like(*natural.FROM_NOISE), GABORS_LIKE),
        FROM_MEAN: above(like(*natural.AGAIN), GABORS_LIKE),
    }


def restored(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Ours must be a gain over the damaged image; the page says where others gain more."""
    gain = {task: ways[denoise.OURS]["psnr"] - ways[denoise.DAMAGED[task]]["psnr"] for task, ways in found.items()}
    return {f"{task}: decibels gained": above(value, 1.0) for task, value in gain.items()}
