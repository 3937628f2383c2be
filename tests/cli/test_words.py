"""Errors and notes name the options of the command line, not Python's."""

import re

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
from hiddenbits.cli.models import make_estimator
from hiddenbits.cli.words import in_options
from tests.cli.test_commands import run


@pytest.mark.parametrize(
    ("python", "own"),
    [
        ("choose one with key=. They are", "choose one with --key. They are"),
        ("leave it out with drop=['my age', 'b'];", "leave it out with --drop 'my age' --drop b;"),
        ("open the table with open_table(..., empty='zero').", "open the table with --empty zero."),
        ("threshold=1.5.", "--threshold 1.5."),
        ("random_state= an integer", "--random-state an integer"),
        ("Raise max_iter=, or tol=0.1.", "Raise --set max_iter=, or --set tol=0.1."),
        ("column 'key=' and \"drop=x\" stay", "column 'key=' and \"drop=x\" stay"),
        ("x=1 and n_estimators=2 stay", "x=1 and n_estimators=2 stay"),
        ("The 'n_components' parameter of LatentClassAnalysis must be", "The value of --n-components must be"),
        ("say missing=[-99, 'k. A.'].", "say --missing -99 --missing 'k. A.'."),
        ("say missing={'q1': []} and", "say --missing q1:none and"),
        ("recode={'a b': {'x': 1, '': 0}};", "--recode 'a b:x=1' --recode 'a b:=0';"),
        ("recode={'c': 'one-hot'}.", "--recode c:one-hot."),
        ("missing={'q: 1': [-99, '12:30']}.", r"--missing 'q: 1:-99' --missing 'q: 1:12\:30'."),
        ("recode={\"it's\": {'a]}': 1}}.", """--recode 'it'"'"'s:a]}=1'."""),
        ("Set header=True, otherwise header=False.", "Set --header, otherwise --no-header."),
        ("with encoding='cp1252'.", "with --encoding cp1252."),
        ("Give both row=, the keys, and item=.", "Give both --row, the keys, and --item."),
        ("Set layer=.", "Set layer=. (The command line has no layer=: use open_table in Python.)"),
        ("Give n_columns=.", "Give n_columns=. (The command line has no n_columns=: use open_table in Python.)"),
    ],
)
def test_translation(python, own):
    assert in_options(python) == own


@pytest.mark.parametrize(
    ("settings", "option"),
    [
        (["chains.n_chains=50", "tol=0.1", "chains.batch_rows=9"], "chains=Chains(batch_rows=9, n_chains=50)"),
        (["start.n_candidates=2"], "start=Growth(n_candidates=2)"),
        (["start=pursuit", "start.n_steps=4"], "start=Pursuit(n_steps=4)"),
        (["start=[1]", "tol=0.1"], "start=[1]"),
    ],
)
def test_one_number_of_an_option_can_be_set(settings, option):
    assert option in repr(make_estimator("influences", 30, 0, settings))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("chains.color=1", "Invalid parameter 'color' for estimator Chains"),
        ("color=1", "the name is one of: bias, chains,"),
        ("tol", "write name=value"),
        ("tol.much=1", "write name=value"),
    ],
)
def test_what_cannot_be_set(setting, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make_estimator("influences", 4, 0, [setting])


def test_errors_name_the_command_lines_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).integers(0, 2, (30, 3))
    np.savez("two.npz", a=X, b=X)
    np.save("gray.npy", 3 * X)
    (tmp_path / "ages.csv").write_text("a,age\n0,3\n1,\n")
    cases = [
        (["look", "two.npz"], "choose one with --key. They are: 'a', 'b'."),
        (["look", "gray.npy"], "set --threshold to make"),
        (["look", "ages.csv", "--drop", "b"], "--drop names 'b'"),
        (["look", "ages.csv", "--empty", "one"], "--empty one is not one of"),
        (
            ["fit", "two.npz", "classes", "--key", "a", "-o", "m.hb", "--n-components", 0],
            "The value of --n-components must be",
        ),
    ]
    for words, message in cases:
        output = run(*words, code=1).stderr
        assert message in output
        assert not re.search(r"(?<!-)\b(key|threshold|drop|blank|n_components)=", output)
    assert run("look", "two.npz", "--key", "a").stderr == ""  # the advice works


def test_fit_warns_of_a_table_without_zeros(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a,b\n" + "1,\n,1\n1,1\n" * 10)
    fit = ("fit", "x.csv", "classes", "--n-components", 1, "-o", "m.hb", "--n-jobs", 1)
    output = run(*fit).stderr
    assert "1s and missing values (33.3% of all cells) but no 0s" in output
    assert "--empty zero" in output
    assert "no 0s" not in run(*fit, "--empty", "zero").stderr
