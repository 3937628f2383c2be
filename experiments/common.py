"""What the experiments share: results on disk, checks with tolerances, pages written from results, and the command.

An experiment is a folder with a run.py, which puts this file on the path and hands `main` its steps.
"""

import argparse
import json
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")
PACKAGES = ("hiddenbits", "numpy", "scipy", "scikit-learn", "matplotlib")
WHY = "HIDDENBITS_DATA is not set"
NO_DATA = f"skipped: {WHY}"  # in place of the figures

Check = dict[str, Any]


def have_data(what: str) -> bool:
    """Whether the real tables are at hand; if not, the run says that it skips what needs them."""
    if os.environ.get("HIDDENBITS_DATA"):
        return True
    print(f"skipped: {what}: {WHY}", flush=True)
    return False


# ---------------------------------------------------------------------------------------------------------- checks


def near(value: float, goal: float, tolerance: float) -> Check:
    return {
        "measured": float(value),
        "goal": goal,
        "tolerance": tolerance,
        "reached": bool(abs(value - goal) <= tolerance),
    }


def below(value: float, goal: float) -> Check:
    return {"measured": float(value), "goal": goal, "tolerance": None, "reached": bool(value <= goal)}


def above(value: float, goal: float) -> Check:
    return {
        "measured": float(value),
        "goal": goal,
        "tolerance": None,
        "wanted": "at least",
        "reached": bool(value >= goal),
    }


def spoken(check: Check) -> str:
    """Return a check in words."""
    goal, tolerance = check["goal"], check["tolerance"]
    wanted = f"{check.get('wanted', 'at most')} {goal:g}" if tolerance is None else f"{goal} ± {tolerance:g}"
    measured = f"{check['measured']:.3g}" if tolerance is None else f"{check['measured']:.5f}"
    return f"{measured}, wanted {wanted}"


# ----------------------------------------------------------------------------------------------------------- pages


def grid(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


HOLDS, PART, NOT, UNKNOWN = "holds", "holds in part", "not reproduced", "cannot be known"


def claims_table(rows: list[list[Any]]) -> str:
    """Every claim of a paper: how it was tested, its figure, ours, the verdict; and how many got each verdict."""
    many = {HOLDS: "hold", PART: "hold in part", NOT: "are not reproduced", UNKNOWN: UNKNOWN}
    one = {HOLDS: HOLDS, PART: PART, NOT: "is not reproduced", UNKNOWN: UNKNOWN}
    counts = {verdict: sum(row[-1] == verdict for row in rows) for verdict in many}
    said = ", ".join(f"{count} {(one if count == 1 else many)[verdict]}" for verdict, count in counts.items())
    table = grid(["the paper claims", "how we tested it", "paper", "ours", "verdict"], rows)
    return f"{table}\n\nOf {len(rows)} claims: {said}."


def how(report: dict[str, Any]) -> str:
    """Say what made a result; `commit` stands in those whose code is gone, and names the last one that had it."""
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    commit = f" at commit {report['commit']}, the last one with this code" if "commit" in report else ""
    return f"`{report['command']}`{commit}; {report['cores']} cores, {report['machine']}; {versions}."


def picture(folder: Path, name: str, words: str) -> str:
    there = (folder / "figures" / f"{name}.png").is_file()
    return f"![{words}](figures/{name}.png)\n" if there else f"*{words}: not drawn, the data were not at hand.*\n"


def verdicts(found: dict[str, Check]) -> str:
    rows = [[name, spoken(check), "yes" if check["reached"] else "**no**"] for name, check in found.items()]
    return grid(["figure", "measured", "reached"], rows)


def missed(found: dict[str, Check]) -> str:
    names = [name for name, check in found.items() if not check["reached"]]
    return f"Missed: {'; '.join(names)}." if names else "All are reached."


def filled(text: str, mark: str, words: str) -> str:
    """Return a page with the part between `<!-- mark: ... -->` and `<!-- end of mark -->` written again."""
    begin = re.search(rf"<!-- {mark}: [^>]*-->", text)
    end = text.find(f"<!-- end of {mark} -->")
    if begin is None or end < begin.end():
        raise ValueError(
            f"The page has no part that begins with <!-- {mark}: ... --> and ends with <!-- end of {mark} -->."
        )
    return f"{text[: begin.end()]}\n{words}\n{text[end:]}"


def write(pages: dict[Path, str]) -> None:
    for path, text in pages.items():
        path.write_text(text)


def read_results(folder: Path, names: tuple[str, ...] | None = None) -> dict[str, dict[str, Any]]:
    """Return the reports of these steps, by default of all that the folder has."""
    if names is None:
        names = tuple(sorted(path.stem for path in (folder / "results").glob("*.json")))
    return {name: json.loads((folder / "results" / f"{name}.json").read_text()) for name in names}


def save(figure: Any, folder: Path, name: str, dpi: int = 100) -> None:
    """Write a picture, without the mark of the program that would make equal pictures differ."""
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=dpi, metadata={"Software": None})
    plt.close(figure)


# --------------------------------------------------------------------------------------------------------- command


class Run:
    """One run of an experiment: where it writes, and since when it has been running."""

    def __init__(self, here: Path, out: Path, arguments: list[str], *, full: bool, only: str | None = None) -> None:
        self.here, self.out, self.full, self.only = here, out, full, only
        self.command = " ".join([f"python experiments/{here.name}/run.py", *arguments])
        self.begin = time.perf_counter()

    def seconds(self) -> float:
        return time.perf_counter() - self.begin

    def wants(self, name: str) -> bool:
        """Whether a step is to be run."""
        return self.only in (None, name)

    def step(self, name: str, figures: object, seeds: object) -> None:
        """Write the figures of a step, with all that is needed to make them again."""
        report = {
            "command": self.command,
            "seeds": seeds,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            "cores": os.cpu_count(),
            "machine": platform.machine(),
            "figures": figures,
        }
        folder = self.out / "results"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")
        print(f"{name}: {'no figures' if figures == NO_DATA else 'done'} after {self.seconds():.0f} s", flush=True)

    def kept(self, *names: str) -> None:
        """Take over the committed results of measurements whose code is gone."""
        folder = self.out / "results"
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if not (folder / f"{name}.json").exists():
                shutil.copy(self.here / "results" / f"{name}.json", folder)

    def conclude(self, found: dict[str, Check]) -> int:
        """Say what was reached and what was missed; return the exit status."""
        names = [name for name, check in found.items() if not check["reached"]]
        for name, check in found.items():
            print(f"{'reached' if check['reached'] else 'MISSED '}  {name}: {spoken(check)}")
        open_questions = [name for name in names if found[name]["open"]]
        if open_questions and not self.full:
            print(f"Known and open, counted by --full only: {', '.join(open_questions)}.")
            names = [name for name in names if name not in open_questions]
        print(f"{len(names)} missed; {self.seconds():.0f} s.")
        return 1 if names else 0


def main(
    here: Path, words: str | None, steps: Callable[[Run], int], arguments: list[str], names: tuple[str, ...] = ()
) -> int:
    """Run an experiment's steps from the command line; those in `names` can be run again one by one."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true", help="less of everything, in a temporary folder")
    size.add_argument("--full", action="store_true", help="everything; writes results, figures and README.md here")
    parser.add_argument("--out", type=Path, help="where to write instead")
    if names:
        parser.add_argument("--only", choices=names, help="run this step again; needs the results of the others")
    options = parser.parse_args(arguments)
    only = getattr(options, "only", None)
    if only is not None and options.out is None and not options.full:
        parser.error("--only needs the results of the other steps: give --full, or --out with a folder that has them")
    if options.out is not None or options.full:
        return steps(Run(here, options.out or here, arguments, full=options.full, only=only))
    with tempfile.TemporaryDirectory() as folder:
        return steps(Run(here, Path(folder), arguments, full=False))
