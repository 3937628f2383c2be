"""What the benchmarks share: their command line, <topic>/results/*.json with the command, versions and seeds, and pages made of these."""

import argparse
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"


def asking(description: str) -> argparse.ArgumentParser:
    """Return a parser that wants --quick or --full, for programs that ask for more besides."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true")
    size.add_argument("--full", action="store_true")
    return parser


def asked_quick(description: str) -> bool:
    """Return whether the command line asks for the quick run (--quick) and not for the full one (--full)."""
    return bool(asking(description).parse_args().quick)


def versions(*packages: str) -> dict[str, str]:
    names = ("hiddenbits", "numpy", "scipy", "scikit-learn", *packages)
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def command() -> str:
    script = Path(sys.argv[0]).resolve().relative_to(HERE.parent)
    module = script.parent if script.name == "__main__.py" else script.with_suffix("")
    return " ".join(["python", "-m", ".".join(module.parts), *sys.argv[1:]])


def result(name: str, ending: str = ".json") -> Path:
    """Return where a result lies: "mixture/stepmix" is mixture/results/stepmix.json."""
    topic, _, stem = name.partition("/")
    return HERE / topic / "results" / f"{stem}{ending}"


def peak_memory_mb() -> float:
    """Return the largest resident size of this process so far, in MB.

    From /proc: getrusage's figure would begin at the size of the parent process.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000.0


def record(
    name: str,
    figures: object,
    *,
    seeds: object,
    packages: tuple[str, ...] = (),
    aloud: bool = True,
    **more: object,
) -> None:
    report = {
        "command": command(),
        "seeds": seeds,
        "versions": versions(*packages),
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        **more,
        "figures": figures,
    }
    path = result(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")
    if aloud:
        print(json.dumps(figures, indent=1))


def load(name: str) -> dict[str, Any]:
    """Return a result by its topic and name, such as "mixture/stepmix"."""
    return json.loads(result(name).read_text())


def kept(name: str) -> dict[str, Any]:
    """Return the figures of a result, or none if it has not been recorded yet."""
    return load(name)["figures"] if result(name).exists() else {}


def table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write(pages: dict[Path, str]) -> None:
    for path, text in pages.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        print(f"{path.name} written")


def topic_page(name: str, topic: str, title: str, *sections: str) -> dict[Path, str]:
    """Return the page results/NAME.md of a topic, a folder of the benchmarks."""
    written = f"Written by `python -m benchmarks.{topic}.page` from `benchmarks/{topic}/results/`."
    return {HERE / "results" / f"{name}.md": "\n".join([f"# {title}\n\n{written}\n", *sections])}


def how(report: dict[str, Any]) -> str:
    """Return the command that prints a result, and the versions with which it did."""
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    return f"`{report['command']}`; {report['cores']} cores, {versions}."
