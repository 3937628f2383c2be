"""What the experiments share: how claims are counted, how pages are filled, and what a run measures over what."""

import json
import re
from pathlib import Path

import pytest
from experiments.common import HOLDS, NOT, PART, Fields, Run, counted, grid, have_data, over

pytestmark = pytest.mark.core

PAPERS = sorted(path.parent for path in (Path(__file__).parents[2] / "experiments").glob("*/run.py"))


def table(*verdicts):
    head = ["the paper claims", "how we tested it", "paper", "ours", "verdict"]
    return grid(head, [["a", "", "", "", verdict] for verdict in verdicts])


def test_one_claim_holds_and_several_hold():
    said = "Of 4 claims: 1 holds, 2 hold in part, 1 is not reproduced, 0 cannot be known."
    assert counted(table(HOLDS, NOT, PART, PART)) == said


def test_a_claim_without_a_verdict_is_an_error():
    for verdict in ("5.3", f"5.3 | {HOLDS}"):
        with pytest.raises(ValueError, match="Not five cells of which the last is a verdict"):
            counted(table(HOLDS, verdict))


def test_fields_are_values_of_results_and_functions_of_all_of_them():
    found = {"step": {"a, 0.5": [{"error": 0.123}], "": 7}}
    functions = {"cell": lambda found: ("ours", HOLDS), "first": lambda found: found["step"]["a, 0.5"][0]["error"]}
    filled = Fields(found, functions).format("| {step[a, 0.5][0][error]:.0%} | {first:.2f} | {cell} |")
    assert filled == f"| 12% | 0.12 | ours | {HOLDS} |"
    with pytest.raises(KeyError, match="other"):
        Fields(found, functions).format("{other}")


def test_what_was_not_measured_stays():
    old = {"a": {"1": [1, 2], "2": 3}, "b": [{"x": 1}, {"x": 2}]}
    new = over(old, {"a": {"1": [5]}, "b": [{"x": 3}], "c": None})
    assert new == {"a": {"1": [5], "2": 3}, "b": [{"x": 3}, {"x": 2}], "c": None}
    assert over([{"x": 1}], [{"x": 2}, {"x": 3}]) == [{"x": 2}, {"x": 3}]


def test_a_run_without_data_says_what_it_skips(monkeypatch, capsys):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    assert not have_data("the digits")
    assert capsys.readouterr().out == "skipped: the digits: HIDDENBITS_DATA is not set\n"
    monkeypatch.setenv("HIDDENBITS_DATA", "anywhere")
    assert have_data("the digits")
    assert capsys.readouterr().out == ""


def test_a_run_elsewhere_begins_with_what_is_committed_and_measures_over_it(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")  # its version is recorded
    here, out = tmp_path / "paper", tmp_path / "out"
    (here / "results").mkdir(parents=True)
    (here / "figures").mkdir()
    (here / "figures" / "one.png").write_bytes(b"")
    for name in ("kept", "step"):
        (here / "results" / f"{name}.json").write_text(json.dumps({"commit": "b1", "figures": {"a": 1, "b": 2}}))
    for full, data, expected in (
        (False, True, {"a": 3, "b": 2}),
        (True, False, {"a": 3, "b": 2}),
        (True, True, {"a": 3}),
    ):
        monkeypatch.setenv("HIDDENBITS_DATA", "somewhere" if data else "")
        run = Run(here, out, ["--quick"], full=full)
        run.step("step", {"a": 3}, {})
        assert run.measured == {"step": {"a": 3}}
        report = json.loads((out / "results" / "step.json").read_text())
        assert report["figures"] == expected
        assert "commit" not in report
    assert (out / "figures" / "one.png").exists()
    assert json.loads((out / "results" / "kept.json").read_text())["commit"] == "b1"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: path.name)
def test_all_that_a_paper_has_is_on_its_page(paper):
    """Functions that take the results, the results themselves and the pictures: none is left over."""
    texts = [(paper / name).read_text() for name in ("claims.md", "readme_template.md")]
    fields = {name for text in texts for name in re.findall(r"\{(\w+)[:}]", text)}
    code = "".join((paper / name).read_text() for name in ("claims.py", "readme.py"))
    for name in re.findall(r"^def (\w+)\(\w+: Found\)", code, re.MULTILINE):
        assert name in fields or len(re.findall(rf"\b{name}\b", code)) > 1, name
    unread = [
        path.stem
        for path in (paper / "results").glob("*.json")
        if not any(f"{{{path.stem}[" in text or f"how[{path.stem}]" in text for text in texts)
        and f'"{path.stem}"' not in code + (paper.parent / "papers.py").read_text()
        and path.stem != "checks"  # {verdicts} and {missed} read it
    ]
    assert unread == []
    drawn = {path.name for path in (paper / "figures").glob("*.png")}
    assert drawn == set(re.findall(r"\(figures/([^)]+)\)", texts[1]))
