"""Write README.md from readme_template.md, claims.md and results/: no number of ours in it is typed."""

from pathlib import Path

import claims
import numpy as np
import programs
from claims import TABLES, error_of, lowest, median, spoken_times
from common import Found, grid, page

HERE = Path(__file__).resolve().parent
# The paper's Table 1: seconds and negative log-likelihood a row.
PAPER = {
    "Synthetic-16": {"variational": (7.8, 5.14), "sampling": (331.1, 4.93)},
    "Digit-256": {"variational": (25.6, 30.23), "sampling": (1204.5, 30.19)},
}


def table1(found: Found) -> str:
    rows: list[list[object]] = []
    for title, published in PAPER.items():
        for name, fit in found["table1"][title].items():
            if name == "independent bits":
                rows.append([title, name, "", "", "", f"{fit:.2f}", ""])
                continue
            seconds, error = (f"{number:g}" for number in published[name]) if name in published else ("", "")
            ours = [f"{fit['seconds']:.2f} s", error_of(fit, 3), fit["passes"]]
            rows.append([title, name, f"{seconds} s" if seconds else "", error, *ours])
    return grid(["data", "program", "paper: time", "paper: error", "ours: time", "ours: error", "passes"], rows)


def spread(found: Found) -> str:
    rows: list[list[object]] = [
        [name, f"{min(values):.2f}", f"{np.median(values):.2f}", f"{max(values):.2f}"]
        for name, values in found["table1"]["spread"].items()
    ]
    return grid(["program", "smallest", "median", "largest"], rows)


def printed(found: Found) -> str:
    """Both programs as printed: time, passes and error."""
    rows: list[list[object]] = []
    for title in TABLES:
        runs = found["printed"][title]["runs"]
        for name in ("variational", "sampling"):
            seconds, passes, *errors = (
                median(runs, key, name) for key in ("seconds", "passes", "error", "error_on_the_draws")
            )
            rows.append([title, name, f"{seconds:.2f} s", f"{passes:.0f}", *(f"{error:.3f}" for error in errors)])
    return grid(["data", "program", "time", "passes", "error", "error on the draws"], rows)


def inner(found: Found) -> str:
    rows: list[list[object]] = [
        [title, words, f"{one['warm']['2']:.1e}", *(f"{one['cold'][n]:.1e}" for n in ("2", "5", "10"))]
        for title in TABLES
        for words, one in found["printed"][title]["inner"].items()
    ]
    head = ["data", "parameters after the", "ξ goes on, 2", "ξ begins at the prior, 2", "5", "10 updates"]
    return grid(head, rows)


def claim(found: Found) -> str:
    rows: list[list[object]] = [
        [
            title,
            columns,
            f"{one['error']:.3f}",
            f"{one['excess']:.3f} ({one['excess_percent']:.2f}%)",
            f"{one['gap']:.3f}",
            f"{one['width']:.2f}",
            f"{one['total_variation']:.3f}",
            f"{one['total_variation_of_the_best_gaussian']:.3f}",
        ]
        for title in ("Synthetic", "Digit 2")
        for columns, one in found["claim"][title].items()
    ]
    head = ["data", "columns", "error", "excess", "gap", "width", "distance", "distance of the best Gaussian"]
    return grid(head, rows)


def lowest_error(found: Found) -> str:
    return error_of(lowest(found["table1"]["Digit-256"]), 1)


def times_synthetic(found: Found) -> str:
    return spoken_times(found["printed"]["Synthetic-16"]["runs"])


def times_digits(found: Found) -> str:
    return spoken_times(found["printed"]["Digit-256"]["runs"])


def settings(_: Found) -> str:
    """What the printed programs have beyond the paper."""
    return (
        f"Both programs have a ridge of {programs.RIDGE}, because pixels that never change would send a bias to "
        f"infinity. A regression has at most {programs.IRLS} steps, and none of its steps is longer than "
        f"{programs.LONGEST:g}, because the regressions of rare pixels run away otherwise."
    )


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    return page(HERE, folder, vars(claims) | globals())
