"""README.md from results/: no number is typed by hand."""

from pathlib import Path
from typing import Any

import numpy as np
from common import grid, how, missed, picture, read_results, verdicts
from digits import MIXTURE, PROGRAMS
from every_claim import every_claim
from synthetic import GREEDY, TRUTH

HERE = Path(__file__).resolve().parent

CHAINS = PROGRAMS[4]
KINDS = {
    "means even in [-1, 1]": "means drawn evenly between -1 and 1",
    "mean 0, then all 1": "one mean 0, all others 1",
}
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
    "mixture, split 1, 2, 4, ... 32, 45": "0.19 / 0.26, 0.55 / 0.70",
    "projection pursuit, 4 EM steps a unit": "0.19 / 0.20, 0.60 / 0.64",
}


def pair(train: float, test: float, digits: int = 4) -> str:
    return f"{train:.{digits}f} / {test:.{digits}f}"


def synthetic(found: dict[str, Any], table: str) -> str:
    if table not in found:
        return "*Not part of a quick run.*"
    true = {cell["rows"]: cell["test"]["log-loss"] for cell in found[table][TRUTH]}
    rows: list[list[object]] = []
    for name, cells in found[table].items():
        line: list[object] = [f"**{name}**" if name == GREEDY else name]
        known = PAPER[table].get(name)
        for number, measure in enumerate(MEASURES):
            ours = (float(np.mean([cell[part][measure] for cell in cells])) for part in ("train", "test"))
            line.append(pair(*ours))
            line.append(pair(*known[2 * number : 2 * number + 2], 3) if known else "")
        excess = np.array([cell["test"]["log-loss"] - true[cell["rows"]] for cell in cells])
        near = int((excess <= 0.01).sum())
        line += ["" if name == TRUTH else f"{excess.min():.4f} to {excess.max():.4f}", f"{near}/{len(cells)}"]
        line.append(f"{np.median([cell['seconds'] for cell in cells]):.0f}")
        rows.append(line)
    head = ["program", "log-loss", "paper", "single bit", "paper", "reconstruction", "paper"]
    return grid([*head, "excess over the truth, test", "within .01", "seconds"], rows)


def sizes(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, cells in found.items():
        excess = [cell["excess"] for cell in cells]
        units = ", ".join(str(cell["units"]) for cell in cells)
        seconds = np.median([cell["seconds"] for cell in cells])
        rows.append([name, units, f"{min(excess):.4f} to {max(excess):.4f}", f"{seconds:.0f}"])
    return grid(["target and machine", "units, by dataset", "excess over the true log-loss, test", "seconds"], rows)


def best(found: dict[str, Any]) -> str:
    """Say which of the paper's programs has the smallest test log-loss on each target."""
    said = []
    for table, programs in found.items():
        names = [name for name in programs if name in (PAPER["A"] | PAPER["A/7"]) and name != TRUTH]
        losses = {name: float(np.mean([cell["test"]["log-loss"] for cell in programs[name]])) for name in names}
        first, *others = sorted(losses, key=losses.__getitem__)
        behind = f" (next: {others[0]}, {losses[others[0]]:.4f})" if others else ""
        said.append(f"on {table}: {first}, {losses[first]:.4f}{behind}")
    return "; ".join(said)


def gaps(found: dict[str, Any]) -> str:
    """Test less train log-loss, the paper's and ours, of its programs on target A."""
    said = []
    for name, known in PAPER["A"].items():
        if name != TRUTH and name in found["A"]:
            cells = found["A"][name]
            ours = float(np.mean([cell["test"]["log-loss"] - cell["train"]["log-loss"] for cell in cells]))
            said.append(f"{known[1] - known[0]:.3f} against {ours:.4f} ({name})")
    return ", ".join(said)


def converged(found: dict[str, Any]) -> str:
    """How many fits by L-BFGS from noise ended by themselves."""
    cells = {table: found[table]["L-BFGS"] for table in found if "L-BFGS" in found[table]}
    said = [f"{sum(c['stop'] == 'converged' for c in some)} of {len(some)} on {t}" for t, some in cells.items()]
    return " and ".join(said) or "none"


def components(table: Any, found: Any) -> str:
    """Single-bit errors on the digits' test rows."""
    if isinstance(table, str) or CHAINS not in table:
        return "not part of this run"

    def error(cells: list[dict[str, Any]]) -> str:
        return f"{np.mean([cell['test']['bit'] for cell in cells]):.3f}"

    pursued, best, others = table[PROGRAMS[2]], table[CHAINS], list(found.values())[1]
    return f"{error(others)} against {error(pursued)} by pursuit and {error(best)} by our best learning"


def near(found: dict[str, Any]) -> str:
    """How often refitted pursuit is within one of the true number."""
    said = [
        f"{sum(abs(c['units'] - c['truth']) <= 1 for c in cells)} of {len(cells)} data sets of {name}"
        for name, cells in found.items()
    ]
    return " and ".join(said) or "not part of this run"


def digits(table: Any, paper: dict[str, str] = PAPER_DIGITS) -> str:
    if isinstance(table, str):
        return f"*{table}.*"
    rows: list[list[object]] = []
    for name, cells in table.items():
        line: list[object] = [name]
        for measure in ("bit", "reconstruction"):
            line.append(pair(*(float(np.mean([c[part][measure] for c in cells])) for part in ("train", "test")), 3))
        line += [paper.get(name, ""), said_loss(cells), f"{np.median([cell['seconds'] for cell in cells]):.1f}"]
        rows.append(line)
    return grid(["program", "single bit", "reconstruction", "paper: bit, reconstruction", "log-loss", "seconds"], rows)


def other_digits(table: dict[str, Any]) -> str:
    """Test single-bit errors on scikit-learn's digits: units by pursuit, classes, and the range of the latter."""
    pursued, classes = ([cell["test"]["bit"] for cell in table[name]] for name in (PROGRAMS[2], MIXTURE))
    each = f"{min(classes):.3f} to {max(classes):.3f} and {min(pursued):.3f} to {max(pursued):.3f} over data sets"
    return f"{np.mean(classes):.3f} against {np.mean(pursued):.3f} ({each})"


def said_loss(cells: list[dict[str, Any]]) -> str:
    """The test log-loss: exact, or estimated where a figure can be given."""
    if all("log-loss" in cell["test"] for cell in cells):
        return f"{np.mean([cell['test']['log-loss'] for cell in cells]):.3f}"
    given = [cell for cell in cells if cell.get("log_partition") is not None]
    if not given:
        return "no figure" if any("log_partition" in cell for cell in cells) else ""
    error = max(cell["log_partition_error"] for cell in given)
    of = "" if len(given) == len(cells) else f" of {len(given)} of {len(cells)} datasets"
    return f"{np.mean([cell['log-loss'] for cell in given]):.3f} (estimate{of}; ln Z ± {error:.2f} nats)"


def refused(table: Any) -> str:
    """Say why some datasets have no log-loss."""
    cells = [] if isinstance(table, str) else table.get(CHAINS, [])
    said = [f"Dataset {number} has no log-loss: {c['why']}" for number, c in enumerate(cells) if c.get("why")]
    return " ".join(said)


def universality(found: dict[str, Any]) -> str:
    rows: list[list[object]] = [
        [e, f"{cell['total_variation']:.1e}", f"{cell['divergence']:.1e}"] for e, cell in found.items()
    ]
    return grid(["epsilon", "largest total variation", "largest divergence, nats"], rows)


def projections(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, sizes in found.items():
        if isinstance(sizes, dict):
            rows += [[KINDS.get(name, name), size, f"{value:.3f}"] for size, value in sizes.items()]
    floor = found["normal numbers themselves"]
    return grid(["bits", "number", "distance from normal"], [["normal numbers, as many", "", f"{floor:.3f}"], *rows])


def real(found: dict[str, Any]) -> str:
    rows = [[name, f"{c['longest']:.2f}", f"{c['apart']:.2f}"] for name, c in found.items() if isinstance(c, dict)]
    return grid(["target", "longest weight vector", "ln Z real - ln Z binary - (n/2) ln(pi/2), nats"], rows)


def truncation(found: dict[str, Any]) -> str:
    shown = range(11)
    rows: list[list[object]] = []
    for name, cell in found.items():
        values = cell["missing"]
        if values is None:
            rows.append([name, cell["units"], f"{cell['active']:.1f}", "no figure", *[""] * 10])
            continue
        said = [f"{values[k]:.2f}" if k < len(values) else "" for k in shown]
        rows.append([name, cell["units"], f"{cell['active']:.1f}", *said])
    return grid(["machine", "units", "active in a row", *(f"k = {k}" for k in shown)], rows)


def of_digits(table: Any) -> dict[str, Any]:
    """The truncated sums of the machines with 45 units, one a dataset."""
    cells = [] if isinstance(table, str) else table.get(CHAINS, [])
    return {f"digits, rows {number}": cell["truncated"] for number, cell in enumerate(cells)}


def features(found: Any) -> str:
    if isinstance(found, str):
        return f"*{found}.*"
    sizes = [size for size in next(iter(found.values())) if size != "seconds"]
    rows = [
        [name, *(f"{100 * np.mean(cell[s]):.1f}% (± {100 * np.std(cell[s]):.1f})" for s in sizes)]
        for name, cell in found.items()
    ]
    table = grid(["features", *(f"{size} labels" for size in sizes)], rows)
    if "machine" not in found:
        return table
    said = []
    for size in sizes:
        # The same labelled images for all features: differences are taken draw by draw.
        gain = 100.0 * (np.array(found["raw bits"][size]) - np.array(found["machine"][size]))
        said.append(f"{gain.min():+.1f} to {gain.max():+.1f} points with {size} labels")
    return f"{table}\n\nWhat the machine's features gain on raw bits, over the three draws: {'; '.join(said)}."


def peers(found: Any) -> str:
    if isinstance(found, str):
        return f"*{found}.*"
    rows: list[list[object]] = [
        [
            name,
            *(
                pair(*(float(np.mean([c[part][measure] for c in cells])) for part in ("train", "test")), 3)
                if measure in cells[0]["test"]
                else ""
                for measure in ("bit", "reconstruction")
            ),
        ]
        for name, cells in found.items()
    ]
    return grid(["program", "single bit", "reconstruction"], rows)


def stopping(found: dict[str, Any]) -> str:
    """How many units pursuit keeps when it stops by itself, and what they are worth."""
    rows: list[list[object]] = []
    for name, cells in found.items():
        units = [cell["units"] for cell in cells]
        spread = f"{min(units)} to {max(units)}, median {np.median(units):g}"
        if "truth" not in cells[0]:
            rows.append([*name.split(", "), spread, "", ""])
            continue
        near = sum(abs(cell["units"] - cell["truth"]) <= 1 for cell in cells)
        excess = [cell["log-loss"] - cell["true log-loss"] for cell in cells if cell["log-loss"] is not None]
        rows.append([*name.split(", "), spread, f"{near} of {len(cells)}", f"{np.mean(excess):.3f}"])
    head = ["table", "removal", "rule", "units", "within one of the true ten", "test log-loss above the truth's"]
    return grid(head, rows)


def refitted(found: dict[str, Any]) -> str:
    """How many units pursuit keeps where all are refitted and some are taken away again."""
    if not found:
        return "*Not part of a quick run.*"
    rows: list[list[object]] = []
    for name, cells in found.items():
        near = [sum(abs(cell[key] - cell["truth"]) <= 1 for cell in cells) for key in ("forwards", "units")]
        excess = [cell["log-loss"] - cell["true log-loss"] for cell in cells]
        rows.append(
            [
                name,
                ", ".join(str(cell["forwards"]) for cell in cells),
                f"{near[0]} of {len(cells)}",
                ", ".join(str(cell["units"]) for cell in cells),
                f"**{near[1]} of {len(cells)}**",
                f"{np.mean(excess):.4f}",
                f"{np.median([cell['seconds'] for cell in cells]):.0f}",
            ]
        )
    head = ["target", "forwards alone", "within one of ten", "and backwards", "within one of ten"]
    return grid([*head, "test log-loss above the truth's", "seconds"], rows)


def coins(found: dict[str, Any]) -> str:
    said = [f"{', '.join(str(cell['units']) for cell in cells)} units on {name}" for name, cells in found.items()]
    return "; ".join(said) or "not part of a quick run"


def terms(found: dict[str, Any]) -> str:
    """The gradient from the largest terms next to chains."""
    rows: list[list[object]] = []
    for name, machine in found.items():
        for way, one in machine["ways"].items():
            share = f"{one['share']:.4f}" if one.get("share") is not None else ""
            exact = way == "all terms"
            error = "" if exact else f"{one['error']:.1e}"
            cosine = "" if exact or one["error"] == 0.0 else f"{one['cosine']:.4f}"
            rows.append([name, way, share, error if one["error"] else "", cosine, f"{one['seconds']:.2g}"])
    head = ["machine", "gradient by", "share of Z", "error of E[h x]", "cosine with the reference's", "seconds"]
    return grid(head, rows)


def long_chains(found: dict[str, Any]) -> str:
    """What the long chains say of themselves."""
    said = [
        f"{name}: {one['why']}"
        for name, machine in found.items()
        for way, one in machine["ways"].items()
        if "why" in one
    ]
    return " ".join(said)


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    reports = read_results(folder)
    tables, claims = reports["synthetic"]["figures"], reports["claims"]["figures"]
    page = {
        **{f"how_{name}": how(report) for name, report in reports.items()},
        "best": best(tables),
        "gaps": gaps(tables),
        "converged": converged(tables),
        "components": components(reports["digits"]["figures"]["table"], reports["peers"]["figures"]),
        "stops": near(reports["refitted"]["figures"]["bic"]),
        "turned": f"{reports['of_optima']['figures']['turned with a bias']['largest difference']:.0e}",
        "table_A": synthetic(tables, "A"),
        "table_B": synthetic(tables, "B"),
        "table_small": synthetic(tables, "A/7"),
        "sizes": sizes(reports["sizes"]["figures"]),
        "table_digits": digits(reports["digits"]["figures"]["table"]),
        "table_other_digits": digits(reports["other_digits"]["figures"]["table"], paper={}),
        "ink": str(reports["other_digits"]["figures"]["ink"]),
        "other_digits": other_digits(reports["other_digits"]["figures"]["table"]),
        "refused": refused(reports["digits"]["figures"]["table"]),
        "universality": universality(claims["universality"]),
        "projections": projections(claims["projections"]),
        "real": real(claims["real"]),
        "truncation": truncation(claims["truncation"] | of_digits(reports["digits"]["figures"]["table"])),
        "features": features(claims["features"]),
        "every_claim": every_claim({name: report["figures"] for name, report in reports.items()}, best(tables)),
        "peers": peers(reports["peers"]["figures"]),
        "stopping": stopping(reports["stopping"]["figures"]),
        "refitted": refitted(reports["refitted"]["figures"]["bic"]),
        "coins": coins(reports["refitted"]["figures"]["coins"]),
        "terms": terms(reports["terms"]["figures"]["machines"]),
        "gradients": ", ".join(
            f"{one['gradient']:.3f} ({name})" for name, one in reports["terms"]["figures"]["machines"].items()
        ),
        "long_chains": long_chains(reports["terms"]["figures"]["machines"]),
        "verdicts": verdicts(reports["checks"]["figures"]),
        "missed": missed(reports["checks"]["figures"]),
        "picture_gaussians": picture(folder, "figure2_2_gaussians", "Eight Gaussians of a machine with three units"),
        "picture_growth": picture(folder, "sizes", "BIC while units are added"),
        "picture_A": picture(folder, "figure4_weights_A", "Weights, target A: truth and programs"),
        "picture_B": picture(folder, "figure4_weights_B", "Weights, target B: truth and programs"),
        "picture_small": picture(folder, "figure4_weights_A_7", "Weights, target A divided by 7"),
        "picture_projections_A": picture(folder, "figure4_projections_A", "Rows along the weights, target A"),
        "picture_projections_B": picture(folder, "figure4_projections_B", "Rows along the weights, target B"),
        "picture_examples": picture(folder, "figure4_3_digits", "Some of the digits"),
        "picture_mixture": picture(folder, "figure4_8_mixture", "The 45 classes of the mixture"),
        "picture_pursuit": picture(folder, "figure4_9_pursuit", "The 45 units found by projection pursuit"),
        "picture_chains": picture(folder, "figure4_9_chains", "The 45 units after persistent chains"),
        "picture_passes": picture(folder, "figure4_6_passes", "Reconstruction of a mixture by passes"),
        "picture_curves": picture(folder, "figure4_6_curves", "Errors against the number of classes or units"),
    }
    return {folder / "README.md": (HERE / "readme_template.md").read_text().format(**page)}
