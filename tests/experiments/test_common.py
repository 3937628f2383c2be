"""What the experiments share: how verdicts are counted."""

import pytest
from experiments.common import HOLDS, NO_DATA, NOT, PART, Run, claims_table, have_data

pytestmark = pytest.mark.core


def test_one_claim_holds_and_several_hold():
    rows = [["a", "", "", "", HOLDS], ["b", "", "", "", NOT], ["c", "", "", "", PART], ["d", "", "", "", PART]]
    said = claims_table(rows).splitlines()[-1]
    assert said == "Of 4 claims: 1 holds, 2 hold in part, 1 is not reproduced, 0 cannot be known."


def test_a_run_without_data_says_what_it_skips(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    assert not have_data("the digits")
    assert capsys.readouterr().out == "skipped: the digits: HIDDENBITS_DATA is not set\n"
    run = Run(tmp_path, tmp_path, ["--quick"], full=False)
    run.step("digits", NO_DATA, {})
    assert "digits: no figures" in capsys.readouterr().out
    run.step("others", {"table": 1.0}, {})
    assert "others: done" in capsys.readouterr().out
    monkeypatch.setenv("HIDDENBITS_DATA", "anywhere")
    assert have_data("the digits")
    assert capsys.readouterr().out == ""
