"""Files of earlier versions: each is read, and means what it meant."""

import json
import shutil

import pytest

import hiddenbits
from hiddenbits.engine.checkpoint import FORMAT
from hiddenbits.families.registry import ESTIMATORS
from hiddenbits.store import read
from tests.store import golden

pytestmark = pytest.mark.core

SCORES = json.loads(golden.SCORES.read_text())
CLOSE = 1e-9  # nats a row: another processor rounds otherwise, and nothing else may differ


@pytest.mark.parametrize("name", golden.MODELS)
def test_models_are_read_and_score_as_they_did(name):
    model = hiddenbits.load(golden.FOLDER / f"{name}.hb")
    assert golden.score(model, name) == pytest.approx(SCORES[name], abs=CLOSE, rel=0)


def test_every_family_has_a_golden_file():
    files = sorted(golden.FOLDER.glob("*.hb"))
    kinds = {read(path).kind for path in files}
    assert kinds == {*ESTIMATORS, "checkpoint"}
    assert {path.stem for path in files} >= {*golden.MODELS, f"checkpoint_{FORMAT}"}
    assert max(path.stat().st_size for path in files) < 10_000


def test_a_checkpoint_of_this_format_is_resumed(tmp_path):
    path = shutil.copy(golden.FOLDER / f"checkpoint_{FORMAT}.hb", tmp_path / "fit.hb")
    model = golden.resumed(path)
    assert model.n_iter_ == 8
    assert golden.score(model, "checkpoint") == pytest.approx(SCORES["checkpoint"], abs=CLOSE, rel=0)


@pytest.mark.parametrize("number", range(1, FORMAT))
def test_a_checkpoint_of_another_format_is_refused(tmp_path, number):
    path = shutil.copy(golden.FOLDER / f"checkpoint_{number}.hb", tmp_path / "fit.hb")
    with pytest.raises(hiddenbits.CheckpointError, match=f"format number {number}.*reads only {FORMAT}"):
        golden.resumed(path)
    assert path.read_bytes() == (golden.FOLDER / f"checkpoint_{number}.hb").read_bytes()
