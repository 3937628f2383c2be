"""The first page on performance: its lines and chart say what the figures say, and commands name scripts that exist."""

import json
import re
from pathlib import Path

import pytest

from benchmarks import page

ROOT = Path(__file__).parents[2]
RESULTS = sorted(ROOT.glob("benchmarks/*/results/*.json"))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_the_command_of_a_result_names_a_script_of_today(path):
    report = json.loads(path.read_text())
    if "command" in report:
        module = re.match(r"python -m ([\w.]+)", report["command"])
        assert module
        place_of = ROOT.joinpath(*module[1].split("."))
        assert place_of.with_suffix(".py").is_file() or (place_of / "__main__.py").is_file()


def test_where_a_peer_is_better_comes_first():
    text = page.pages()[page.PAGE]
    lines = re.findall(r"^(\d+)\. \*\*(.+?)\*\*", text, re.MULTILINE)
    assert [number for number, _ in lines] == [str(number) for number in range(1, len(lines) + 1)]
    titles = [words for _, words in lines]
    assert "umap-learn" in titles[0]
    assert titles.index("Our default takes longer") < titles.index("Peers take less memory") < titles.index("Mixtures")
    assert len(text.split()) <= 500
    assert not {name for name in re.findall(r"`(\w+\.md)`", text) if not (ROOT / "benchmarks/results" / name).is_file()}


def test_every_loss_of_the_default_is_named():
    # By the rule of the page on peers, which lists them as "quality" and "time".
    text = " ".join(page.better_peers(page.all_compared()))
    peers = (ROOT / "benchmarks/results/peers.md").read_text()
    lost = re.findall(r"^  - [\w ]+, ([^,]+), ([\d,]+) rows: \S+ (?:s )?against \S+(?: s)?[.,] ?", peers, re.MULTILINE)
    assert len(lost) >= 4
    for program, rows in lost:
        assert f"{program} on {rows} rows" in text
