"""Write README.md from readme_template.md, claims.md and results/: no number of ours in it is typed."""

from pathlib import Path
from typing import Any

import claims
import numpy as np
import peers
from claims import CHAINS, PLAIN_PURSUIT, Cells, mean
from common import Found, grid, page
from digits import MIXTURE
from synthetic import GREEDY, TRUTH

HERE = Path(__file__).resolve().parent
MEASURES = ("log-loss", "bit", "reconstruction")
PAPER: dict[str, dict[str, tuple[float, ...]]] = {  # train and test of the three measures
    "A": {
        "gradient ascent for 1000 epochs": (0.399, 0.425, 0.098, 0.100, 0.311, 0.338),
        "projection pursuit": (0.893, 0.993, 0.119, 0.114, 0.475, 0.480),
        "projection pursuit, then gradient for 100 epochs": (0.411, 0.430, 0.091, 0.089, 0.315, 0.334),
        "projection pursuit, then gradient for 1000 epochs": (0.377, 0.405, 0.071, 0.082, 0.261, 0.287),
        TRUTH: (0.401, 0.396, 0.077, 0.071, 0.286, 0.283),
    },
    "B": {},
    "A/7": {
        TRUTH: (0.939, 0.941, 0.36, 0.36, 0.86, 0.87),
        "gradient ascent for 400 epochs": (0.937, 0.944, 0.36, 0.37, 0.86, 0.87),
        "projection pursuit": (0.964, 0.966, 0.38, 0.39, 0.92, 0.92),
        "projection pursuit, then gradient for 400 epochs": (0.935, 0.943, 0.36, 0.37, 0.86, 0.87),
    },
}
PAPER_DIGITS = {
    "product distribution": "0.29 / 0.30, 0.78 / 0.80",
    MIXTURE: "0.19 / 0.26, 0.55 / 0.70",
    PLAIN_PURSUIT: "0.19 / 0.20, 0.60 / 0.64",
}


def pair(cells: Cells, measure: str, digits: int) -> str:
    return " / ".join(f"{mean(cells, measure, part):.{digits}f}" for part in ("train", "test"))


def synthetic(found: Found, table: str) -> str:
    programs = found["synthetic"][table]
    true = {cell["rows"]: cell["test"]["log-loss"] for cell in programs[TRUTH]}
    rows: list[list[object]] = []
    for name, cells in programs.items():
        line: list[object] = [f"**{name}**" if name == GREEDY else name]
        known = PAPER[table].get(name)
        for number, measure in enumerate(MEASURES):
            line.append(pair(cells, measure, 4))
            line.append(" / ".join(f"{value:.3f}" for value in known[2 * number : 2 * number + 2]) if known else "")
        excess = np.array([cell["test"]["log-loss"] - true[cell["rows"]] for cell in cells])
        line.append("" if name == TRUTH else f"{excess.min():.4f} to {excess.max():.4f}")
        line.append(f"{int((excess <= 0.01).sum())}/{len(cells)}")
        line.append(f"{np.median([cell['seconds'] for cell in cells]):.0f}")
        rows.append(line)
    head = ["program", "log-loss", "paper", "single bit", "paper", "reconstruction", "paper"]
    return grid([*head, "excess over the truth, test", "within .01", "seconds"], rows)


def table_a(found: Found) -> str:
    return synthetic(found, "A")


def table_b(found: Found) -> str:
    return synthetic(found, "B")


def table_small(found: Found) -> str:
    return synthetic(found, "A/7")


def gaps(found: Found) -> str:
    """Test less train log-loss, the paper's and ours, of its programs on target A."""
    said = []
    for name, known in PAPER["A"].items():
        if name != TRUTH:
            cells = found["synthetic"]["A"][name]
            ours = mean(cells, "log-loss") - mean(cells, "log-loss", "train")
            said.append(f"{known[1] - known[0]:.3f} against {ours:.4f} ({name})")
    return ", ".join(said)


def converged(found: Found) -> str:
    """How many fits by L-BFGS from noise ended by themselves."""
    cells = {table: found["synthetic"][table]["L-BFGS"] for table in "AB"}
    return " and ".join(
        f"{sum(c['stop'] == 'converged' for c in some)} of {len(some)} on {t}" for t, some in cells.items()
    )


def components_on_digits(found: Found) -> str:
    """Single-bit errors on the digits' test rows."""
    table = found["digits"]["table"]
    others, pursued, best = (
        mean(cells, "bit") for cells in (found["peers"][peers.PCA], table[PLAIN_PURSUIT], table[CHAINS])
    )
    return f"{others:.3f} against {pursued:.3f} by pursuit and {best:.3f} by our best learning"


def of_programs(table: dict[str, Cells], paper: dict[str, str]) -> str:
    """A table of programs on digits."""
    rows: list[list[object]] = [
        [
            name,
            *(pair(cells, measure, 3) for measure in ("bit", "reconstruction")),
            paper.get(name, ""),
            log_loss(cells),
            f"{np.median([cell['seconds'] for cell in cells]):.1f}",
        ]
        for name, cells in table.items()
    ]
    return grid(["program", "single bit", "reconstruction", "paper: bit, reconstruction", "log-loss", "seconds"], rows)


def digits_table(found: Found) -> str:
    return of_programs(found["digits"]["table"], PAPER_DIGITS)


def other_digits_table(found: Found) -> str:
    return of_programs(found["other_digits"]["table"], {})


def other_digits(found: Found) -> str:
    """Test single-bit errors on scikit-learn's digits: units by pursuit, classes, and the range of both."""
    table = found["other_digits"]["table"]
    pursued, classes = ([cell["test"]["bit"] for cell in table[name]] for name in (PLAIN_PURSUIT, MIXTURE))
    each = f"{min(classes):.3f} to {max(classes):.3f} and {min(pursued):.3f} to {max(pursued):.3f} over data sets"
    return f"{np.mean(classes):.3f} against {np.mean(pursued):.3f} ({each})"


def log_loss(cells: Cells) -> str:
    """The test log-loss: exact, or estimated where a figure can be given."""
    if all("log-loss" in cell["test"] for cell in cells):
        return f"{mean(cells, 'log-loss'):.3f}"
    given = [cell for cell in cells if cell.get("log_partition") is not None]
    if not given:
        return "no figure" if any("log_partition" in cell for cell in cells) else ""
    error = max(cell["log_partition_error"] for cell in given)
    of = "" if len(given) == len(cells) else f" of {len(given)} of {len(cells)} datasets"
    return f"{np.mean([cell['log-loss'] for cell in given]):.3f} (estimate{of}; ln Z ± {error:.2f} nats)"


def refused(found: Found) -> str:
    """Why some datasets have no log-loss."""
    cells = found["digits"]["table"][CHAINS]
    return " ".join(f"Dataset {n} has no log-loss: {c['why']}" for n, c in enumerate(cells) if c.get("why"))


def peers_table(found: Found) -> str:
    def shown(cells: Cells, measure: str) -> str:
        return pair(cells, measure, 3) if measure in cells[0]["test"] else ""

    rows: list[list[Any]] = [[name, *(shown(c, m) for m in MEASURES[1:])] for name, c in found["peers"].items()]
    return grid(["program", "single bit", "reconstruction"], rows)


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    return page(HERE, folder, vars(claims) | globals())
