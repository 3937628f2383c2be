"""The speed guard names a path that has become slower, and lets one pass that has not."""

import json

import pytest
from benchmarks.bare.classes import mixture
from benchmarks.bare.jobs import jobs
from benchmarks.bare.tables import dense_bits
from benchmarks.bare.whole_pass import same, whole_pass

from benchmarks import guard
from hiddenbits.families.nodes.classes import Classes

pytestmark = pytest.mark.core


def small():
    return mixture("test", dense_bits(2_000, 64), 16)


@pytest.mark.full
def test_a_path_made_slower_is_named(monkeypatch, capsys):
    expect = Classes.expect

    def four_times(self, *args):
        for _ in range(3):
            expect(self, *args)
        return expect(self, *args)

    kept = {"mixture": guard.measured(small)}
    measure = lambda names: {name: guard.measured(small) for name in names}  # noqa: E731
    assert guard.slower(kept, guard.least(kept, measure, pause=0.0)) == []
    monkeypatch.setattr(Classes, "expect", four_times)
    (said,) = guard.slower(kept, guard.least(kept, measure, pause=0.0))
    assert f"the ratio kept in guard.json is {kept['mixture']:.2f}" in said
    assert "mixture: a pass takes" in said
    assert "--write" in said
    assert "SLOWER" in capsys.readouterr().out


def test_noise_that_does_not_come_back_is_no_alarm():
    asked, rounds = [], iter([{"a": 9.0, "b": 1.2}, {"a": 5.0}, {"a": 1.1}])

    def measure(names):
        asked.append(names)
        return next(rounds)

    assert guard.least({"a": 1.0, "b": 1.0}, measure, pause=0.0) == {"a": 1.1, "b": 1.2}
    assert asked == [["a", "b"], ["a"], ["a"]]
    assert guard.slower({"a": 1.0}, {"a": guard.SLACK}) == []
    assert len(guard.slower({"a": 1.0}, {"a": guard.SLACK + 0.1})) == 1


@pytest.mark.slow
def test_ratios_are_measured_in_a_fresh_process():
    assert 0.3 < guard.afresh(["counts of pairs"])["counts of pairs"] < 30


def test_a_path_without_a_kept_ratio_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(guard, "KEPT", tmp_path / "guard.json")
    guard.KEPT.write_text('{"mixture, dense": 1.0, "gone": 1.0}')
    assert guard.main(["--check"]) == 1
    said = capsys.readouterr().out
    assert "gone" in said
    assert "hidden tree" in said
    assert "mixture, dense" not in said


def test_every_path_has_a_kept_ratio():
    assert set(json.loads(guard.KEPT.read_text())) == set(guard.PATHS)
    assert len(guard.PATHS) >= 10


def test_whole_passes_are_those_of_em_by_hand():
    assert same(whole_pass(50, 6, 3, accelerate=False))


def test_jobs_of_every_model_run():
    names = {(job.model, job.what) for job in (make() for make in jobs("small")) if job.ours() is not None}
    assert ("LogisticPCA", "refine") in names  # what a default fit does, besides its first stage
    assert {model for model, _ in names} == {
        "LatentClassAnalysis",
        "BinarySparseCoding",
        "ClippedPCA",
        "CombinationMachine",
        "HiddenTree",
        "LogisticPCA",
        "NoisyOrNetwork",
        "TreeMixture",
    }
