"""Which files are read: the rule of docs/saving.md."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits.families._base import persistence
from hiddenbits.store import read, write
from tests.store import golden
from tests.store.damage import META, join, split

pytestmark = pytest.mark.core


@pytest.fixture
def rewritten(tmp_path):
    """Return a function that writes a golden file again after a change of its description, and returns the path."""

    def rewrite(name, change, kind=None):
        stored = read(golden.FOLDER / f"{name}.hb")
        change(stored.meta)
        write(tmp_path / f"{name}.hb", kind or stored.kind, stored.meta, stored.arrays)
        return tmp_path / f"{name}.hb"

    return rewrite


@pytest.mark.parametrize("name", golden.MODELS)
def test_a_file_has_every_hyperparameter_of_its_class_and_no_other(rewritten, name):
    for gone in read(golden.FOLDER / f"{name}.hb").meta["hyperparameters"]:
        with pytest.raises(
            hiddenbits.exceptions.FileError, match=f"{name}.hb is not .* it lacks the hyperparameter '{gone}'"
        ):
            hiddenbits.load(rewritten(name, lambda meta, gone=gone: meta["hyperparameters"].pop(gone)))


def test_what_is_not_known_is_a_matter_of_versions(rewritten):
    path = rewritten("mixture", lambda meta: meta["hyperparameters"].update(later=1))
    with pytest.raises(
        hiddenbits.exceptions.FileError, match=r"'later' that this version.*does not have.*may not match"
    ):
        hiddenbits.load(path)
    path = rewritten("mixture", lambda meta: meta.update(later=1, written_by="9.0"))
    with pytest.raises(
        hiddenbits.exceptions.FileError, match=r"hiddenbits '9.0' wrote the file: the versions may not match"
    ):
        hiddenbits.load(path)
    with pytest.raises(hiddenbits.exceptions.FileError, match=r"'Later'.*upgrade hiddenbits"):
        hiddenbits.load(rewritten("mixture", lambda meta: None, kind="Later"))


@pytest.mark.parametrize("number", ["0", "2", "01", "", 1, None])
@pytest.mark.parametrize("name", ["mixture", "checkpoint"])
def test_a_file_of_another_format_says_so(tmp_path, name, number):
    header, data = split((golden.FOLDER / f"{name}.hb").read_bytes())
    header[META]["version"] = number
    path = tmp_path / "m.hb"
    path.write_bytes(join(header, data))
    load = {"mixture": hiddenbits.load}.get(name, golden.resumed)
    with pytest.raises(
        hiddenbits.exceptions.FileError, match=rf"m.hb.*number is {number!r}, and .* reads only '1'; use the"
    ):
        load(path)


def test_the_version_of_the_package_does_not_decide(rewritten, tmp_path):
    for version in ("0.0.1", "99.0", 7, None):
        model = hiddenbits.load(rewritten("mixture", lambda meta, version=version: meta.update(written_by=version)))
    model.save(tmp_path / "again.hb")
    assert read(tmp_path / "again.hb").meta["written_by"] == hiddenbits.__version__


def test_files_know_estimators_by_the_names_of_the_registry(tmp_path, monkeypatch):
    """A class that has moved or has another name is found under the old one; what could not be read is not written."""

    class Moved(hiddenbits.LatentClassAnalysis):
        pass

    X = np.repeat(np.eye(3), 20, axis=0)
    model = Moved(2, n_init=1, random_state=0).fit(X)
    with pytest.raises(TypeError, match="Moved is not an estimator of hiddenbits"):
        model.save(tmp_path / "m.hb")
    monkeypatch.setitem(persistence.ESTIMATORS, "LatentClassAnalysis", lambda: Moved)
    model.save(tmp_path / "m.hb")
    assert read(tmp_path / "m.hb").kind == "LatentClassAnalysis"
    assert type(hiddenbits.load(tmp_path / "m.hb")) is Moved
