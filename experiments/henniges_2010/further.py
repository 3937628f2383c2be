"""Parts of the page: accuracy of the posterior, bars in their max form, superpositions, how many causes."""

from typing import Any

import numpy as np
from common import grid


def accuracy(found: dict[str, Any]) -> str:
    """Errors of <s> by the number of bars in an image."""
    names = [name for name in found if " of which " in name]
    bars = [str(k) for k in range(7)]
    table: list[list[object]] = []
    for name in names:
        one = found[name]
        by = [f"{one['by_bars'][k]['close']:.1%}" if k in one["by_bars"] else "" for k in bars]
        table.append([name, f"{one['close']:.1%}", *by, f"{one['within_cut']['close']:.1%}", f"{one['largest']:.2f}"])
    return grid(["states", "all images", *(f"{k} bars" for k in bars), "within the cut", "largest error"], table)


def max_bars(found: dict[str, Any]) -> str:
    table: list[list[object]] = []
    sets = min(one["sets"] for one in found.values())  # that all have
    for name, one in found.items():
        best = [max(starts) for starts in one["starts"][:sets]]
        table.append(
            [
                f"`{name}`",
                f"{one['recovered']} of {one['sets']}",
                spread(one["of_all"]["active"]),
                spread(one["of_all"]["noise"]),
                f"{np.mean(best):.2f}",
                f"{one['seconds']['mean']:.1f}" if one["seconds"] else "",
            ]
        )
    head = ["superposition", "all bars", "pi H", "sigma", f"free energy a row, first {sets} sets", "seconds a fit"]
    return grid(head, table)


def spread(one: dict[str, float] | None) -> str:
    return f"{one['mean']:.3f} ± {one['std']:.3f}" if one else ""


def missed(found: dict[str, Any]) -> str:
    """Which sets of the max form were missed, and by how much."""
    one = found["max"]
    said = ", ".join(str(seed) for seed in one["failed"])
    return f"Missed by `max`: sets {said}." if said else "`max` missed no set."


def superposed(found: Any) -> str:
    if isinstance(found, str):
        return f"*{found}.*"
    table: list[list[object]] = [
        [
            f"`{fit['way']}`",
            fit["causes"],
            f"{fit['active']:.2f}",
            f"{fit['noise']:.2f}",
            f"{fit['gabor_share']:.1%}",
            f"{fit['globular_share']:.1%}",
            f"{fit['composed_share']:.1%}",
            f"{fit['width']:.2f}",
            f"{fit['objective']:.2f}",
            f"{fit['held_out']:.2f} ± {fit['held_out_error']:.2f}",
            f"{fit['processor_seconds']:.0f}",
        ]
        for fit in found["fits"]
    ]
    head = ["superposition", "H", "pi H", "sigma", "Gabor", "globular", "composed", "width", "free energy a row"]
    return grid([*head, "held out", "seconds"], table)


def superposed_words(found: Any) -> str:
    """The sizes, the trend with H next to the abstract, and the number of causes that held-out patches choose."""
    if isinstance(found, str):
        return ""
    said = [
        f"{found['patches']:,} patches of {found['side']} x {found['side']}, {found['held_out']:,} held out, "
        f"{found['passes']} passes, {found['candidates']} candidates of which {found['max_active']}; no data cut, one "
        "start at the mean patch, one seed: less than above, because a row of the last two costs states x pixels. "
        "±: standard error of the mean over patches, not of differences on the same patches."
    ]
    for way in dict.fromkeys(fit["way"] for fit in found["fits"]):
        fits = [fit for fit in found["fits"] if fit["way"] == way]
        best = max(fits, key=lambda fit: fit["held_out"])
        edge = ", the most that were tried" if best["causes"] == fits[-1]["causes"] and len(fits) > 1 else ""
        shares = " to ".join(f"{fit['globular_share']:.1%}" for fit in (fits[0], fits[-1]))
        gabors = " to ".join(f"{fit['gabor_share']:.1%}" for fit in (fits[0], fits[-1]))
        said.append(
            f"`{way}`: from H = {fits[0]['causes']} to {fits[-1]['causes']} the globular share goes from {shares}, "
            f"that of Gabor functions from {gabors}; held-out patches choose H = {best['causes']}{edge}."
        )
    return "\n".join(f"- {line}" for line in [*said, *abstract_words(found["fits"])])


def abstract_words(fits: list[dict[str, Any]]) -> list[str]:
    """What the shares say of the abstract: which superposition has globular fields, and whether more causes help."""
    ways = ("linear", "max_magnitude")
    shares = {way: [fit["globular_share"] for fit in fits if fit["way"] == way] for way in ways}
    if len(shares["linear"]) < 2:
        return []
    few, many = max(shares["linear"]), min(shares["max_magnitude"])
    parts = (
        f"at least {many:.1%} globular fields where the largest in size shows, at most {few:.1%} where causes add up"
    )
    found = "as the study of 2013 found" if many > 2.0 * few else "no clear difference"
    rising = [way for way, each in shares.items() if each == sorted(each)]
    composed = [fit["composed_share"] for fit in fits if fit["way"] == "linear"]
    trend = (
        f"The globular share rises with H for {', '.join(rising)}, as the abstract says."
        if rising
        else "For neither does the globular share rise steadily with H, as the abstract would have it; the composed "
        f"share of `linear` goes from {composed[0]:.1%} to {composed[-1]:.1%}."
    )
    return [f"Next to the abstract: {parts}, {found}.", trend]


def causes(found: dict[str, Any]) -> str:
    """Held-out free energy of bars for each number of causes."""
    table: list[list[object]] = [
        [
            f"**{n}**" if int(n) == found["truth"] else n,
            f"{np.mean([fit['fitted'] for fit in fits]):.3f}",
            *(f"{fit['held_out']:.3f}" for fit in fits),
            f"{np.mean([fit['error'] for fit in fits]):.2f}",
            fits[0]["likelihood"],
        ]
        for n, fits in found["causes"].items()
    ]
    sets = [f"held out, set {s}" for s in range(len(found["chosen"]))]
    return grid(["H", "fitted rows", *sets, "standard error", "score is"], table)


def causes_words(found: dict[str, Any]) -> str:
    chosen = ", ".join(str(n) for n in found["chosen"])
    right = sum(n == found["truth"] for n in found["chosen"])
    return f"The sets choose H = {chosen}: the truth of {found['truth']} in {right} of {len(found['chosen'])}."
