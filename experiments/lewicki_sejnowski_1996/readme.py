"""Write README.md from readme_template.md and results/: no figure of ours in it is typed."""

from pathlib import Path
from typing import Any

import checks
from common import grid, how, missed, picture, read_results, verdicts
from lines import N_ROWS

HERE = Path(__file__).resolve().parent
RESULTS = ("pictures", "survey", "shifter", "lines")


def lines_table(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, f in found.items():
        heights = [f"{value:.2f}" for value in f["log-likelihood a row"]]
        counts = [f"{f['lines']}/{f['runs']}", f"{f['both']}/{f['runs']}"]
        rows.append([name, *counts, *heights, f"{f['seconds']:.1f}"])
    head = ["settings", "ten lines", "and four sets", "log-likelihood: least", "median", "most", "seconds a fit"]
    return grid(head, rows)


def shifter_table(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, f in found.items():
        accuracies = [f"{value:.4f}" for value in f["accuracy"]]
        counts = [f"{f['all causes']}/{f['runs']}", f"{f['success']}/{f['runs']}"]
        rows.append([name, *counts, *accuracies, f"{f['seconds']:.1f}"])
    head = ["settings", "all 16 causes", "and direction", "accuracy: least", "median", "most", "seconds a fit"]
    return grid(head, rows)


def survey_table(found: Any) -> str:
    if isinstance(found, str):
        return found
    rows = [[name, f"{f['train']:.3f}", f"{f['test']:.3f}", f"{f['seconds']:.1f}"] for name, f in found.items()]
    return grid(["model", "training rows", "test rows", "seconds"], rows)


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    results = read_results(folder, RESULTS)
    found = checks.of({name: report["figures"] for name, report in results.items()})
    page = (HERE / "readme_template.md").read_text()
    page = page.format(
        n_rows=f"{N_ROWS:,}",
        lines=lines_table(results["lines"]["figures"]),
        shifter=shifter_table(results["shifter"]["figures"]),
        survey=survey_table(results["survey"]["figures"]),
        picture_lines=picture(folder, "lines", "Strengths of the ten causes, each on the grid"),
        picture_sets=picture(folder, "sets", "Strengths of the layer above"),
        sentences="\n".join(f"- {sentence}" for sentence in results["pictures"]["figures"]["sentences"]),
        checks=verdicts(found),
        missed=missed(found),
        how=how(results["lines"]),
    )
    return {folder / "README.md": page}
