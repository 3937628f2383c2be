"""The speed guard names a path that has become slower, and lets one pass that has not."""

import json

import numpy as np
import pytest
from benchmarks.bare.classes import mixture
from benchmarks.bare.jobs import jobs
from benchmarks.bare.tables import dense_bits, sparse_bits
from benchmarks.bare.turns import Job, Turns, side_by_side

from benchmarks import guard
from hiddenbits.models.mixture import Mixture

pytestmark = pytest.mark.core


def small():
    return mixture("test", dense_bits(2_000, 64), 16)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "KEPT", tmp_path / "guard.json")
    monkeypatch.setattr(guard, "PATHS", {"mixture": small})
    assert guard.main(["--write"]) == 0
    return json.loads(guard.KEPT.read_text())


def test_a_path_made_slower_is_named(kept, monkeypatch, capsys):
    expect = Mixture.expect

    def three_times(self, *args):
        for _ in range(2):
            expect(self, *args)
        return expect(self, *args)

    assert guard.main(["--check"]) == 0
    monkeypatch.setattr(Mixture, "expect", three_times)
    assert guard.main(["--check"]) == 1
    said = capsys.readouterr().out
    assert f"the ratio kept in guard.json is {kept['mixture']:.2f}" in said
    assert "mixture: a pass takes" in said
    assert "--write" in said


def test_noise_that_does_not_come_back_is_no_alarm(monkeypatch):
    ratios = iter([9.0, 5.0, 1.1])
    monkeypatch.setattr(guard, "measured", lambda make: next(ratios))
    assert guard.slower({"mixture": 1.0}, {"mixture": small}) == []
    monkeypatch.setattr(guard, "measured", lambda make: 1.7)
    assert len(guard.slower({"mixture": 1.0}, {"mixture": small})) == 1


def test_a_path_without_a_kept_ratio_is_named():
    assert "no ratio is kept" in guard.slower({}, {"mixture": small})[0]


def test_every_path_has_a_kept_ratio():
    assert set(json.loads(guard.KEPT.read_text())) == set(guard.PATHS)
    assert len(guard.PATHS) >= 10


def test_turns_are_paired():
    turns = Turns([2.0, 9.0, 2.0], [1.0, 3.0, 4.0])
    assert turns.ratio == 2.0
    assert turns.least == 2.0
    calls = []
    job = Job("", "", "", "", "", "", lambda: calls.append("ours"), lambda: calls.append("bare"))
    assert len(side_by_side(job, 3, 5, 0.0).ours) == 3
    assert calls[0] == "ours"
    assert calls[-1] == "bare"


def test_tables_have_the_ones_they_should():
    assert abs(dense_bits(2_000, 64, 0.2).mean() - 0.2) < 0.03
    X = sparse_bits(2_000, 500, 0.01)
    assert X.has_sorted_indices
    assert 0.008 < X.nnz / np.prod(X.shape) <= 0.01


def test_jobs_of_every_model_run():
    names = {(job.model, job.what) for job in (make() for make in jobs("small")) if job.ours() is not None}
    assert {model for model, _ in names} == {
        "BernoulliMixture",
        "BinarySparseCoding",
        "ClippedPCA",
        "CombinationMachine",
        "HiddenTree",
        "LogisticPCA",
        "LogisticPCAMixture",
        "NoisyOrNetwork",
        "TreeMixture",
    }
