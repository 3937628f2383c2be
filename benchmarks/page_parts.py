"""What the pages of figures share."""

import json
from pathlib import Path
from typing import Any

from benchmarks.record import HERE, result

DOCS = HERE.parent / "docs"
# Results say which command printed them. Those printed before the scripts were sorted by topic have another name today.
TODAY = {
    "benchmarks/against_logistic.py": "-m benchmarks.logistic.peers",
    "benchmarks/against_machines.py": "-m benchmarks.machines.peers",
    "benchmarks/against_stepmix.py": "-m benchmarks.mixture.stepmix",
    "benchmarks/against_tetrachoric.py": "-m benchmarks.tetrachoric.peers",
    "benchmarks/cluster_overhead.py": "-m benchmarks.cluster.run",
    "benchmarks/cooccurrence.py": "-m benchmarks.tetrachoric.cooccurrence",
    "benchmarks/leaps.py": "-m benchmarks.mixture.extrapolation",
    "benchmarks/look_large.py": "-m benchmarks.scale.look",
    "benchmarks/machine_mnist.py": "-m benchmarks.machines.mnist",
    "benchmarks/machine_settings.py": "-m benchmarks.machines.settings",
    "benchmarks/machine_states.py": "-m benchmarks.machines.states",
    "benchmarks/noisy_or.py": "-m benchmarks.noisy_or.sweep",
    "benchmarks/noisy_or_large.py": "-m benchmarks.noisy_or.large",
    "benchmarks/noisy_or_lists.py": "-m benchmarks.noisy_or.lists",
    "benchmarks/noisy_or_ways.py": "-m benchmarks.noisy_or.methods",
    "benchmarks/partial_fit.py": "-m benchmarks.partial_fit.run",
    "benchmarks/pass_rates.py": "-m benchmarks.scale.pass_rates",
    "benchmarks/retail.py": "-m benchmarks.mixture.retail",
    "benchmarks/scale_parquet.py": "-m benchmarks.scale.parquet",
    "benchmarks/sparse_coding.py": "-m benchmarks.coding.run",
    "benchmarks/starts.py": "-m benchmarks.starts.run",
}


def load(name: str) -> dict[str, Any]:
    """Return a result by its topic and name, such as "mixture/stepmix"."""
    return json.loads(result(name).read_text())


def table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write(pages: dict[Path, str]) -> None:
    for path, text in pages.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        print(f"{path.name} written")


def topic_page(name: str, topic: str, title: str, *sections: str) -> dict[Path, str]:
    """Return the page docs/performance/NAME.md of a topic, a folder of the benchmarks."""
    written = f"Written by `python -m benchmarks.{topic}.page` from `benchmarks/{topic}/results/`."
    return {DOCS / "performance" / f"{name}.md": "\n".join([f"# {title}\n\n{written}\n", *sections])}


def command_today(report: dict[str, Any]) -> str:
    """Return the command that printed a result, by its name of today."""
    return " ".join(TODAY.get(word, word) for word in report["command"].split(" "))


def how(report: dict[str, Any]) -> str:
    """Return the command that prints a result, and the versions with which it did."""
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    return f"`{command_today(report)}`; {report['cores']} cores, {versions}."
