"""The golden files: each is read, and means what it meant."""

import json
import shutil

import pytest

import hiddenbits
from hiddenbits.families._base.persistence import ESTIMATORS
from hiddenbits.store import read
from tests.store import golden

pytestmark = pytest.mark.core

SCORES = json.loads(golden.SCORES.read_text())
CLOSE = 1e-9  # nats a row: another processor rounds otherwise, and nothing else may differ


@pytest.mark.parametrize("name", golden.MODELS)
def test_models_are_read_and_score_as_they_did(name):
    model = hiddenbits.load(golden.FOLDER / f"{name}.hb")
    assert golden.score(model, name) == pytest.approx(SCORES[name], abs=CLOSE, rel=0)


def test_every_family_has_one_golden_file():
    files = sorted(golden.FOLDER.glob("*.hb"))
    assert sorted(read(path).kind for path in files) == sorted([*ESTIMATORS, "checkpoint"])
    assert {path.stem for path in files} == {*golden.MODELS, "checkpoint"} == {*SCORES}
    assert max(path.stat().st_size for path in files) < 10_000


def test_the_checkpoint_is_resumed(tmp_path):
    path = shutil.copy(golden.FOLDER / "checkpoint.hb", tmp_path / "fit.hb")
    model = golden.resumed(path)
    assert model.n_iter_ == 5
    assert golden.score(model, "checkpoint") == pytest.approx(SCORES["checkpoint"], abs=CLOSE, rel=0)
