"""Write README.md from readme_template.md and results/: no figure of ours in it is typed."""

from pathlib import Path
from typing import Any

from common import Check, grid, how, missed, picture, read_results, verdicts


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


def write(folder: Path, found: dict[str, Check]) -> None:
    results = read_results(folder, ("pictures", "survey", "shifter", "lines"))
    template = (Path(__file__).resolve().parent / "readme_template.md").read_text()
    page = template.format(
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
    (folder / "README.md").write_text(page)
