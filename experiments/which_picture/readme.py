"""Write README.md from readme_template.md and results/, and the confusion matrix into docs/compare.md."""

from pathlib import Path
from typing import Any

import checks
from common import filled, grid, how, missed, read_results, verdicts

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "compare.md"
STEPS = ("families", "sizes", "choosing", "answers", "news")


def confusion_table(found: list[dict[str, Any]]) -> str:
    from families import confusion

    counts = confusion(found)
    firsts = list(next(iter(counts.values())))
    rows: list[list[object]] = []
    for truth, by_first in counts.items():
        cases = [case for case in found if case["truth"] == truth]
        right = sum(case["right"] for case in cases)
        rows.append([truth, *(by_first[first] or "" for first in firsts), f"{right}/{len(cases)}"])
    return grid(["truth \\ named", *firsts, "named or within one standard error of the highest"], rows)


def cases_table(found: list[dict[str, Any]]) -> str:
    rows: list[list[object]] = []
    for case in found:
        own = case["truth"]
        behind = f"{case['behind']:.4f} ± {case['behind_error']:.4f}" if case["behind"] else "highest"
        rows.append([own, case["seed"], case["first"], behind, case["sizes"][own], f"{case['seconds']:.0f}"])
    return grid(
        ["truth", "seed", "named", "truth behind the highest, nats a row", "size of the truth", "seconds"], rows
    )


def sizes_table(found: list[dict[str, Any]]) -> str:
    rows: list[list[object]] = []
    for kind, truth in dict.fromkeys((case["hidden"], case["truth"]) for case in found):
        cases = [case for case in found if (case["hidden"], case["truth"]) == (kind, truth)]
        chosen = ", ".join(str(case["size"]) for case in cases)
        without = ", ".join(str(case["best"]) for case in cases)
        seconds = sum(case["seconds"] for case in cases) / len(cases)
        rows.append([f"{truth} {kind}", chosen, without, f"{seconds:.0f}"])
    return grid(["truth", "chosen, seed by seed", "without the one-standard-error rule", "seconds a table"], rows)


def choosing_table(found: Any) -> str:
    from choosing import counts

    if isinstance(found, str):
        return found
    rows: list[list[object]] = []
    for truth, (right, highest, number) in counts(found).items():
        sizes = [case["size"] for case in found if case["truth"] == truth]
        shown = "" if truth == "noise" else ", ".join(sizes)
        rows.append([truth, f"{right} of {number}", f"{highest} of {number}", shown])
    return grid(["truth", "named", "had the highest likelihood", "sizes, seed by seed"], rows)


def answers_table(found: Any) -> str:
    if isinstance(found, str):
        return found
    rows: list[list[object]] = []
    for case in found:
        said = {name: f"{model}({size})" if size else model for name, (model, size) in case["answers"].items()}
        one = "yes" if case["one answer"] else ", ".join(f"{name}: {answer}" for name, answer in said.items())
        rows.append([case["table"], " x ".join(map(str, case["shape"])), said["compare"], one, case["verdict"]])
    return grid(["table", "shape", "`compare`", "one answer", "in words"], rows)


def news_words(found: Any) -> str:
    if isinstance(found, str):
        return found
    done, again, spent = found["finished before the kill"], found["done again"], found["processor seconds"]
    same = "the same" if found["same table"] else "ANOTHER"
    return (
        f"{found['seconds']:.0f} seconds left alone, {spent:.0f} seconds of processors, {found['fits']} fits. Killed "
        f"after {done} and started again, it took {found['seconds after the kill']:.0f} seconds more, did {again} "
        f"finished fits again, and gave {same} table:\n\n```\n{found['text']}\n```"
    )


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder; and docs/compare.md, if they are those of the repository."""
    results = read_results(folder, STEPS)
    full = "--full" in results["news"]["command"]
    found = checks.of({name: report["figures"] for name, report in results.items()}, full=full)
    matrix = confusion_table(results["families"]["figures"])
    page = (
        (HERE / "readme_template.md")
        .read_text()
        .format(
            confusion=matrix,
            cases=cases_table(results["families"]["figures"]),
            sizes=sizes_table(results["sizes"]["figures"]),
            choosing=choosing_table(results["choosing"]["figures"]),
            answers=answers_table(results["answers"]["figures"]),
            news=news_words(results["news"]["figures"]),
            checks=verdicts(found),
            missed=missed(found),
            how=how(results["families"]),
        )
    )
    of_the_repository = {PAGE: filled(PAGE.read_text(), "confusion", matrix)} if folder == HERE else {}
    return {folder / "README.md": page} | of_the_repository
