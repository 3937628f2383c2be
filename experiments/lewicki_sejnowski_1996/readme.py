"""Write README.md from readme_template.md, claims.md and results/: no number of ours in it is typed."""

from pathlib import Path

import claims
from common import Found, grid, page

HERE = Path(__file__).resolve().parent


def lines_table(found: Found) -> str:
    rows: list[list[object]] = [
        [
            name,
            *(f"{one[what]}/{one['runs']}" for what in ("lines", "both")),
            *(f"{value:.2f}" for value in one["log-likelihood a row"]),
            f"{one['seconds']:.1f}",
        ]
        for name, one in found["lines"].items()
    ]
    head = ["settings", "ten lines", "and four sets", "log-likelihood: least", "median", "most", "seconds a fit"]
    return grid(head, rows)


def shifter_table(found: Found) -> str:
    rows: list[list[object]] = [
        [
            name,
            *(f"{one[what]}/{one['runs']}" for what in ("all causes", "success")),
            *(f"{value:.4f}" for value in one["accuracy"]),
            f"{one['seconds']:.1f}",
        ]
        for name, one in found["shifter"].items()
    ]
    head = ["settings", "all 16 causes", "and direction", "accuracy: least", "median", "most", "seconds a fit"]
    return grid(head, rows)


def survey_table(found: Found) -> str:
    rows: list[list[object]] = [
        [name, f"{one['train']:.3f}", f"{one['test']:.3f}", f"{one['seconds']:.1f}"]
        for name, one in found["survey"].items()
    ]
    return grid(["model", "training rows", "test rows", "seconds"], rows)


def sentences(found: Found) -> str:
    return "\n".join(f"- {sentence}" for sentence in found["pictures"]["sentences"])


def commands(found: Found) -> str:
    """The command of each step, and its commit where the code is gone; then the machines and versions of all."""
    made = {name: how.partition("; ") for name, how in found["how"].items() if name != "checks"}
    lines = [f"- {name}: {command}" for name, (command, _, _) in made.items()]
    return "\n".join([*lines, "", f"All with {' / '.join(dict.fromkeys(rest for _, _, rest in made.values()))}"])


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    return page(HERE, folder, vars(claims) | globals())
