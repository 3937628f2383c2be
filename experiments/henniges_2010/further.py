"""Parts of the page: accuracy of the posterior, bars in their max form, superpositions, how many causes."""

import re
from typing import Any

import numpy as np
from common import grid


def in_letters(name: str) -> str:
    """Return the name of a setting with its states in the paper's letters."""
    return re.sub(r"(\d+) candidates of which (\d+)", r"H' = \1, gamma = \2", name)


def accuracy(found: dict[str, Any]) -> str:
    """Errors of <s> by the number of bars in an image."""
    names = [name for name in found if " of which " in name]
    bars = [str(k) for k in range(7)]
    table: list[list[object]] = []
    for name in names:
        one = found[name]
        by = [f"{one['by_bars'][k]['close']:.1%}" if k in one["by_bars"] else "" for k in bars]
        table.append(
            [in_letters(name), f"{one['close']:.1%}", *by, f"{one['within_cut']['close']:.1%}", f"{one['largest']:.2f}"]
        )
    return grid(
        [
            "states",
            "all images",
            *(f"{k} bar{'s' if k != '1' else ''}" for k in bars),
            "within the cut",
            "largest error",
        ],
        table,
    )


def costs(found: dict[str, Any]) -> str:
    """Seconds of a pass, as one size grows at a time."""
    table: list[list[object]] = [
        [
            what,
            *(one[size] for size in ("causes", "candidates", "active")),
            f"{one['states']:,}",
            f"{1000 * one['e_step']:.1f}",
            f"{1000 * one['m_step']:.1f}",
        ]
        for what in ("H", "H'", "gamma")
        for one in found[what]
    ]
    head = ["what grows", "H", "H'", "gamma", "states of a row", "E-step, ms", "M-step, ms"]
    return f"{found['rows']:,} rows of {found['columns']} numbers.\n\n{grid(head, table)}"


def wider(found: dict[str, Any]) -> str:
    """How often the paper's algorithm finds the bars with more states."""
    names = [name for name in found if name.startswith(("paper's, 7", "paper's, every"))]
    said = [in_letters(name.removeprefix("paper's, ")) for name in names]
    told = [
        f"{words}: {found[name]['recovered']} of {found[name]['sets']}" for words, name in zip(said, names, strict=True)
    ]
    return "; ".join(told)


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
        f"{found['passes']} passes, H' = {found['candidates']}, gamma = {found['max_active']}; no data cut; one seed, "
        "whose fit starts at the mean patch. This is a smaller size than above, because with the last two "
        "superpositions each state of a row is worked out pixel by pixel. "
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
    composed = [fit["composed_share"] for fit in fits if fit["way"] == "linear"]
    alone = max(1.0 - fit["gabor_share"] - fit["composed_share"] for fit in fits)
    return [
        f"Nearly every globular field is also counted as Gabor-like, for a Gabor function can be a blob: at most "
        f"{alone:.1%} of a fit's fields are globular only.",
        f"Next to the abstract: {parts}, {found}.",
        "With more causes the share of globular fields falls where causes hide each other. Where they add up it is too "
        f"small to tell; what grows there is the composed share, from {composed[0]:.1%} to {composed[-1]:.1%}.",
    ]


def superposed_answer(found: Any) -> str:
    """The answer to the section's question: which superposition held-out patches prefer, and what it shows."""
    if isinstance(found, str):
        return ""
    best = {
        way: max((fit for fit in found["fits"] if fit["way"] == way), key=lambda fit: float(fit["held_out"]))
        for way in dict.fromkeys(fit["way"] for fit in found["fits"])
    }
    order = sorted(best, key=lambda way: -float(best[way]["held_out"]))
    told = "; ".join(
        f"`{way}` {best[way]['held_out']:.0f} nats a patch, {best[way]['globular_share']:.1%} globular" for way in order
    )
    if order[0] == "linear":
        said = (
            "In part. Causes that hide each other do bring globular fields, on the same patches; but held-out patches "
            "prefer causes that add up, so that these patches give no reason to choose the other model"
        )
    else:
        said = "Yes: held-out patches, too, prefer causes that hide each other"
    return (
        f"**Answer.** {said} (at each one's best H: {told}). `max` is no fair rival here: the patches have both signs, "
        "and fields that are not negative cannot show what is below 0, which it takes for noise."
    )


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
