"""Write README.md from readme_template.md, claims.md and results/: no number of ours in it is typed."""

from pathlib import Path
from typing import Any

import claims
import numpy as np
from bars import DEFAULT, PAPER
from claims import RELIABLE, plus, rate
from common import Found, grid, page
from natural import AGAIN, FROM_NOISE, REDUCED, SETTINGS
from pictures import in_letters

HERE = Path(__file__).resolve().parent
PAPER_BARS = {
    PAPER: "978 of 1000",
    "paper's, N = 4000": "99%",
    "paper's, N = 2000, start pi H = 3": "96%",
    "paper's, N = 2000, start pi H = 1": "84%",
}


def beside(found: Found) -> str:
    """What the paper says, and what we find."""
    ours, paper = found["bars"][DEFAULT], found["bars"][PAPER]
    whole, drawn = found["full_size"], found["drawn_fields"]
    so_far = f"{whole['active'][-1]:.2f} after {whole['done']} of {whole['passes']} passes (other images)"
    size = f"pi H, {whole['patches']:,} patches of {whole['side']} x {whole['side']}, H = {whole['causes']}"
    shares = f"{drawn['gabor_share']:.1%} and {drawn['globular_share']:.1%} (of {drawn['shown']} fields)"
    reduced = (
        f"{over_seeds(found, names, 'gabor_share')} and {over_seeds(found, names, 'globular_share')}"
        for names in (AGAIN, FROM_NOISE)
    )
    rows: list[list[object]] = [
        ["bars, N = 1000: all recovered", "978 of 1000", rate(paper), f"**{rate(ours)}**"],
        ["pi H, truth 2", "2.0 ± .01", plus(paper["active"]), plus(ours["active"])],
        ["sigma, truth 2", "2.0 ± .06", plus(paper["noise"]), plus(ours["noise"])],
        [size, "7.49", so_far, ""],
        ["Gabor-like and globular fields, that size", "both seen, not counted", shares, ""],
        ["the same, reduced size, three seeds", "", *reduced],
    ]
    return grid(["", "paper", "its settings", "our defaults"], rows)


def over_seeds(found: Found, names: tuple[str, ...], key: str) -> str:
    """A share over seeds: from the least to the most."""
    shares = [found["natural"][name][key] for name in names]
    least, most = min(shares), max(shares)
    return f"{most:.0%}" if f"{least:.0%}" == f"{most:.0%}" else f"{100 * least:.0f} to {most:.0%}"


def apart(found: Found, paper: int = 978) -> str:
    """How far our number of recovered sets is from the paper's, in standard errors of a difference."""
    n, ours = (found["bars"][PAPER][what] for what in ("sets", "recovered"))
    if n != 1000:  # the paper's number is of as many sets
        return "(not in a quick run)"
    return f"{(paper - ours) / np.sqrt(sum(k * (n - k) / n for k in (ours, paper))):.1f}"


def paper_of_all(found: Found) -> str:
    one = found["bars"][PAPER]["of_all"]
    return f"pi H is {plus(one['active'])} and sigma {plus(one['noise'])}"


def bars_spread(found: Found) -> str:
    return plus(found["bars"][DEFAULT]["active"])


def beside_drawn(found: Found) -> str:
    return plus(found["bars"][DEFAULT]["beside_drawn"])


def bars_table(found: Found) -> str:
    """All settings; those of N = 2,000 with the start that they are compared with before them."""
    other = {name: one for name, one in found["bars_settings"].items() if name != "words"}
    first = {name: other[name] for name in other if name == "paper's, N = 4000"}
    every = found["bars"] | first | {"paper's, N = 2000": found["bars_starts"]} | other
    rows: list[list[object]] = [
        [
            f"**{name}**" if name == DEFAULT else in_letters(name),
            one["rows"],
            PAPER_BARS.get(name, ""),
            rate(one),
            *(plus(one[what]) if one[what] else "" for what in ("active", "noise")),
            f"{one['seconds']['mean']:.2f}",
        ]
        for name, one in every.items()
    ]
    head = ["settings", "N", "paper", "all bars recovered", "pi H", "sigma", "processor seconds a fit"]
    return grid(head, rows)


def stops(found: Found) -> str:
    """How the fits by our defaults ended, and which sets the paper's settings miss."""
    names = {"converged": "converged", "max_iter": "came to its last pass first", "schedule_done": "ended as planned"}
    ended = [f"{n:,} {names.get(stop, stop)}" for stop, n in found["bars"][DEFAULT]["stops"].items()]
    failed = found["bars"][PAPER]["failed"]
    few = ", ".join(map(str, failed[:12])) + (", ..." if len(failed) > 12 else "")
    return (
        f"Of the fits by our defaults {', '.join(ended)}. With the paper's settings a bar is missed in {len(failed)} "
        f"sets: {few or 'none'}."
    )


def natural_table(found: Found) -> str:
    def shares(one: dict[str, Any]) -> list[str]:
        keys = ("gabor_share", "gabor_share_of_squares", "globular_share", "near_origin_share")
        return [f"{one[key]:.0%}" for key in keys]

    rows: list[list[object]] = [
        [
            in_letters(name),
            f"{one['active'][-1]:.2f}",
            f"{one['noise'][-1]:.2f}",
            *shares(one),
            f"{one['width']:.2f}",
            f"{one['objective']:.2f}",
            f"{one['processor_seconds']:.0f}",
        ]
        for name, one in found["natural"].items()
    ]
    head = ["", "pi H", "sigma", "Gabor", "Gabor, of squares", "globular", "near Ringach's origin", "width"]
    return grid([*head, "free energy a row", "seconds"], rows)


def natural_words(found: Found) -> str:
    keys = ("gabor_share", "gabor_share_of_squares", "globular_share")
    paper, ours = (
        "{} by their variance and {} by their squares, and {} are globular".format(
            *(over_seeds(found, names, key) for key in keys)
        )
        for names in (AGAIN, FROM_NOISE)
    )
    widths = ", ".join(
        f"{found['natural'][name]['width']:.2f} ({name.split(',')[0]})" for name in ("H = 50", REDUCED, "H = 200")
    )
    return (
        f"Over {len(AGAIN)} seeds, Gabor functions are {paper}, from the mean as in the paper; from noise with "
        f"annealing they are {ours}. The goal was 85% Gabor functions. More causes, or more "
        "that may be on, bring curved and composed fields; fewer of either bring Gabor functions. "
        f"The patches' standard deviation is {found['natural'][REDUCED]['spread']:.2f}. The paper says that with fewer "
        f"causes the fields are spatially more constrained; here the widths are {widths}."
    )


def reduced_size(_: Found) -> str:
    one = SETTINGS[REDUCED]
    return f"{one.patches:,} patches of {one.side} x {one.side}, {one.passes} passes"


def reliable(_: Found) -> str:
    return f"{RELIABLE:.0%}"


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    return page(HERE, folder, vars(claims) | globals())
