"""What the experiments share: one way to record a result, to fill a page, to draw, to check, and the command.

The folder of a paper has run.py, which names its steps; a file for each measurement; claims.md, the table of the
paper's claims, and claims.py, a small function for each cell that has to be worked out; readme_template.md and
readme.py, which make README.md in the same way; pictures.py, checks.py, results/ and figures/.

A result whose code is gone is kept: it names the last commit that had the code ("commit" in its file), and what the
page says of it in words that this code wrote ("words" among its figures).
"""

import argparse
import json
import os
import platform
import re
import shutil
import string
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")
PACKAGES = ("hiddenbits", "numpy", "scipy", "scikit-learn", "matplotlib")
DATA = "HIDDENBITS_DATA"

Check = dict[str, Any]
Found = dict[str, Any]  # step -> its figures


def have_data(what: str) -> bool:
    """Whether the real tables are at hand; if not, the run says that it skips what needs them."""
    if os.environ.get(DATA):
        return True
    print(f"skipped: {what}: {DATA} is not set", flush=True)
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


def verdicts(found: dict[str, Check]) -> str:
    rows = [[name, spoken(check), "yes" if check["reached"] else "**no**"] for name, check in found.items()]
    return grid(["figure", "measured", "reached"], rows)


def missed(found: dict[str, Check]) -> str:
    names = [name for name, check in found.items() if not check["reached"]]
    return f"Missed: {'; '.join(names)}." if names else "All are reached."


# ----------------------------------------------------------------------------------------------------------- pages


def grid(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


HOLDS, PART, NOT, UNKNOWN = "holds", "holds in part", "not reproduced", "cannot be known"


def holds(*facts: bool) -> str:
    """All, some or none of what a claim says."""
    return HOLDS if all(facts) else PART if any(facts) else NOT


def counted(table: str) -> str:
    """Say how many claims of a table got each verdict, which is the last cell of a row."""
    many = {HOLDS: "hold", PART: "hold in part", NOT: "are not reproduced", UNKNOWN: UNKNOWN}
    one = {HOLDS: HOLDS, PART: PART, NOT: "is not reproduced", UNKNOWN: UNKNOWN}
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.strip().splitlines()[2:]]
    found = [cells[-1].strip() for cells in rows]
    for cells, verdict in zip(rows, found, strict=True):
        if len(cells) != 5 or verdict not in many:
            raise ValueError(f"Not five cells of which the last is a verdict: {' | '.join(cells)}")
    counts = {verdict: found.count(verdict) for verdict in many}
    said = ", ".join(f"{count} {(one if count == 1 else many)[verdict]}" for verdict, count in counts.items())
    return f"Of {len(found)} claims: {said}."


class Fields(string.Formatter):
    """Fills a text: `{step[key][2]:.3f}` is a value of a result, `{name}` what a function makes of all results.

    A function that returns a pair fills two cells of a table, such as our figure and the verdict.
    """

    def __init__(self, found: Found, functions: Mapping[str, Callable[[Found], object]]) -> None:
        self.found, self.functions = found, functions

    def get_field(self, field_name: str, args: object, kwargs: object) -> tuple[Any, str]:
        name, *keys = re.findall(r"[^][]+", field_name)
        value: Any = self.found[name] if keys else self.functions[name](self.found)
        for key in keys:
            value = value[int(key) if isinstance(value, list) else key]
        return " | ".join(map(str, value)) if isinstance(value, tuple) else value, name


def page(here: Path, folder: Path, functions: Mapping[str, Callable[[Found], object]]) -> dict[Path, str]:
    """Return README.md, from readme_template.md, claims.md and the results in the folder."""
    reports = read_results(folder)
    found: Found = {name: report["figures"] for name, report in reports.items()}
    found["how"] = {name: how(report) for name, report in reports.items()}
    table = Fields(found, functions).format((here / "claims.md").read_text()).strip()
    shared: dict[str, Callable[[Found], object]] = {
        "claims": lambda _: f"{table}\n\n{counted(table)}",
        "verdicts": lambda found: verdicts(found["checks"]),
        "missed": lambda found: missed(found["checks"]),
    }
    text = Fields(found, {**functions, **shared}).format((here / "readme_template.md").read_text())
    return {folder / "README.md": text}


def how(report: dict[str, Any]) -> str:
    """Say what made a result; `commit` stands in those whose code is gone, and names the last one that had it."""
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    commit = f" at commit {report['commit']}, the last one with this code" if "commit" in report else ""
    return f"`{report['command']}`{commit}; {report['cores']} cores, {report['machine']}; {versions}."


def filled(text: str, mark: str, words: str) -> str:
    """Return a page with the part between `<!-- mark: ... -->` and `<!-- end of mark -->` written again."""
    begin = re.search(rf"<!-- {mark}: [^>]*-->", text)
    end = text.find(f"<!-- end of {mark} -->")
    if begin is None or end < begin.end():
        raise ValueError(
            f"The page has no part that begins with <!-- {mark}: ... --> and ends with <!-- end of {mark} -->."
        )
    return f"{text[: begin.end()]}\n{words}\n{text[end:]}"


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the reports of all steps."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((folder / "results").glob("*.json"))}


def save(figure: Any, folder: Path, name: str, dpi: int = 100) -> None:
    """Write a picture, without the mark of the program that would make equal pictures differ."""
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=dpi, metadata={"Software": None})
    plt.close(figure)


# --------------------------------------------------------------------------------------------------------- command


class Run:
    """One run of an experiment: where it writes, and since when it has been running.

    A run that writes elsewhere begins with a copy of the results and figures that are committed. A quick one, and one
    without the data, writes what it measured over them, so that every page can be written.
    """

    def __init__(self, here: Path, out: Path, arguments: list[str], *, full: bool, only: str | None = None) -> None:
        self.here, self.out, self.full, self.only = here, out, full, only
        self.command = " ".join([f"python experiments/{here.name}/run.py", *arguments])
        self.figures = out / "figures"
        self.begin = time.perf_counter()
        self.measured: Found = {}
        for part in ("results", "figures"):
            for path in (here / part).iterdir() if out != here else ():
                (out / part).mkdir(parents=True, exist_ok=True)
                if not (out / part / path.name).exists():
                    shutil.copy(path, out / part)

    def seconds(self) -> float:
        return time.perf_counter() - self.begin

    def step(self, name: str, figures: Any, seeds: object) -> None:
        """Write the figures of a step, with all that is needed to make them again."""
        self.measured[name] = figures
        path = self.out / "results" / f"{name}.json"
        if path.exists() and not (self.full and os.environ.get(DATA)):
            figures = over(json.loads(path.read_text())["figures"], figures)
        report = {
            "command": self.command,
            "seeds": seeds,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            "cores": os.cpu_count(),
            "machine": platform.machine(),
            "figures": figures,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report, indent=1) + "\n")
        print(f"{name}: done after {self.seconds():.0f} s", flush=True)

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


def over(old: Any, new: Any) -> Any:
    """Return new figures with what only the old ones have.

    Dictionaries are joined, and so are lists of dictionaries, which are cells of one kind. All else is replaced.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{name: over(old.get(name), value) for name, value in new.items()}}
    if isinstance(old, list) and isinstance(new, list) and all(isinstance(one, dict) for one in [*old, *new]):
        return [over(*both) for both in zip(old, new, strict=False)] + new[len(old) :] + old[len(new) :]
    return new


def main(here: Path, words: str | None, steps: dict[str, str], arguments: list[str]) -> int:
    """Run an experiment from the command line; `steps` has the file of each step.

    The file has `SEEDS` and `measure(run)`, which returns figures that JSON can hold, or nothing where the data that
    it needs are not at hand. checks.py has `measure(found, full=...)`, which checks what was measured, and `OPEN`,
    the names of those that are known to be missed and were looked into.
    """
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true", help="less of everything, in a temporary folder")
    size.add_argument("--full", action="store_true", help="everything; writes results, figures and README.md here")
    parser.add_argument("--out", type=Path, help="where to write instead")
    parser.add_argument("--only", choices=list(steps), help="run this step alone; the others' results stay")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        out = options.out or (here if options.full else Path(folder))
        return done(Run(here, out, arguments, full=options.full, only=options.only), steps)


def done(run: Run, steps: dict[str, str]) -> int:
    """Run the steps, check what they measured and write the page; return the exit status."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # matrices are small: threads would only wait for each other
        for name, file in steps.items():
            module = import_module(file)
            if run.only in (None, name) and (figures := module.measure(run)):
                run.step(name, figures, module.SEEDS)
        if run.only is not None:
            run.measured = {name: report["figures"] for name, report in read_results(run.out).items()}
        checks = import_module("checks")
        verdict = checks.measure(run.measured, full=run.full)
    for name, check in verdict.items():
        check["open"] = name in checks.OPEN
    run.step("checks", verdict, {})
    for path, text in import_module("readme").pages(run.out).items():
        path.write_text(text)
    return run.conclude(verdict)
