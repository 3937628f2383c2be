"""The part of the page about depth: three levels that were simulated, and deep networks next to flat ones."""

from typing import Any

import numpy as np
from claims import against_flat
from common import grid
from levels import FITS, MIDDLE


def levels_table(found: dict[str, Any]) -> str:
    sizes, rows = found["sizes"], []
    for coupling, strength in found["couplings"].items():
        there = [name for name in FITS if f"{coupling}, {name}" in found]
        for name in there:
            runs = found[f"{coupling}, {name}"]
            counts = [
                f"{sum(run['found'][level] == size for run in runs)} of {len(runs)}" for level, size in enumerate(sizes)
            ]
            means = [
                np.mean([run["leaks above"][0] for run in runs]),
                np.mean([run["leaks above"][1] for run in runs]),
                np.mean([run["strengths of the top"] for run in runs]),
                np.mean([run["P(top on)"] for run in runs]),
            ]
            rows.append([strength, name, *counts, *(f"{mean:.3f}" for mean in means)])
        if not there:
            continue
        true = [MIDDLE[1], found["leaks"][coupling], strength, found["P(top on)"]]
        rows.append([strength, "*truth*", *(["" for _ in sizes]), *(f"{value:.3f}" for value in true)])
    head = ["top strengths", "fit", *(f"all {size} units of level {level}" for level, size in enumerate(sizes, 1))]
    return grid([*head, "leak of level 1", "of level 2", "strengths of the top", "P(top on)"], rows)


def one_table(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, one in found["models"].items():
        error = "exact" if one["error of a row"] == 0.0 else f"{one['error of a row']:.3f}, {one['bias']:.4f}"
        mark = " (chosen)" if name in found["chosen"] else ""
        rows.append(
            [
                f"{name}{mark}",
                f"{one['parameters']:,}",
                f"{np.mean(one['valid']):.3f}",
                f"{np.mean(one['test']):.3f}",
                ", ".join(f"{value:.3f}" for value in one["test"]),
                error,
                f"{one['disagree']:.1%}",
            ]
        )
    head = ["layers", "parameters", "valid", "test", "each start", "error and bias of a row", "rows in doubt"]
    return grid(head, rows)


def clear(one: dict[str, float]) -> str:
    """What a difference says at two standard errors."""
    if abs(one["mean"]) <= 2 * one["error"]:
        return "no difference"
    return "gain" if one["mean"] > 0 else "loss"


def differences_table(found: dict[str, Any]) -> str:
    rows = [
        [name, f"{one['mean']:+.4f}", f"{one['error']:.4f}", f"{one['rows']:.4f}", f"{one['starts']:.4f}", clear(one)]
        for name, one in found["differences"].items()
    ]
    head = ["test rows, nats a row", "difference", "standard error", "of rows", "of starts", "at two errors"]
    return grid(head, rows)


def verdict(name: str, found: dict[str, Any]) -> str:
    """A sentence on the deep network that the valid rows chose, against flat ones."""
    deep, flat = found["chosen"]
    equal = found["models"][deep]["equal"]
    parts = []
    for other in dict.fromkeys((equal, flat)):
        one = found["differences"][f"{deep} against {other}"]
        parts.append(f"{one['mean']:+.3f} ± {one['error']:.3f} against {other} ({clear(one)})")
    return f"- **{name}**: {deep} was chosen; {'; '.join(parts)}."


def deep_page(tables: dict[str, Any]) -> str:
    there = {name: found for name, found in tables.items() if not isinstance(found, str)}
    gains = [
        name
        for name, found in there.items()
        if name != "lines"
        and all(
            clear(found["differences"][f"{found['chosen'][0]} against {other}"]) == "gain"
            for other in (found["models"][found["chosen"][0]]["equal"], found["chosen"][1])
        )
    ]
    said = (
        f"Real tables on which depth gains more than two standard errors: {', '.join(gains)}."
        if gains
        else (
            "**No such gain was found on the real tables**; on lines, the control, there is one."
            if "lines" in there and clear(against_flat(there["lines"]) or {}) == "gain"
            else "No such gain was found."
        )
    )
    parts = [said, "\n".join(verdict(name, found) for name, found in there.items())]
    for name, found in tables.items():
        if isinstance(found, str):
            parts.append(f"*{name}*: {found}.")
            continue
        n_train, n_valid, n_test = found["rows"]
        parts.append(
            f"### {name}\n{found['columns']} columns; rows: {n_train:,} train, {n_valid:,} valid, {n_test:,} test.\n\n"
            f"{one_table(found)}\n\n{differences_table(found)}"
        )
    return "\n\n".join(parts)
