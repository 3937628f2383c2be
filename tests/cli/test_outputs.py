"""Every command checks its outputs before it begins to work."""

import os

import numpy as np
import pytest

import hiddenbits
from hiddenbits import LatentClassAnalysis

pytest.importorskip("typer")
pytest.importorskip("rich")
from hiddenbits.cli import app as commands
from tests.cli.test_commands import run

COMMANDS = {
    "fit": (["fit", "x.csv", "classes", "-o"], ".hb"),
    "checkpoint": (["fit", "x.csv", "classes", "-o", "m.hb", "--checkpoint"], ".ckpt"),
    "score": (["score", "x.csv", "m.hb", "-o"], ".csv"),
    "map": (["map", "x.csv", "-o"], ".npz"),
    "drawn map": (["map", "x.csv", "-o"], ".png"),
    "map by a model": (["map", "x.csv", "m.hb", "-o"], ".csv"),
    "report": (["report", "x.csv", "-o"], ".html"),
    "complete": (["complete", "x.csv", "m.hb", "-o"], ".parquet"),
    "sample": (["sample", "m.hb", "-o"], ".csv"),
    "convert": (["convert", "x.csv"], ".npz"),
}


def refused(words, why):
    assert why in run(*words, code=1).stderr


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).integers(0, 2, (40, 3))
    np.savetxt("x.csv", X, "%d", ",", header="a,b,c", comments="")
    LatentClassAnalysis(2, max_iter=3, tol=1.0).fit(hiddenbits.open_table("x.csv")).save("m.hb")
    return tmp_path


@pytest.fixture
def no_work(monkeypatch):
    def work(*_, **__):
        raise AssertionError("work began")

    monkeypatch.setattr(hiddenbits, "load", work)
    monkeypatch.setattr(commands, "open_input", work)


@pytest.mark.parametrize("name", COMMANDS)
def test_outputs_are_checked_first(folder, no_work, name):
    words, suffix = COMMANDS[name]
    (folder / f"taken{suffix}").mkdir()
    for out, why in [
        (f"missing/folder/out{suffix}", "there is no folder"),
        (f"x.csv/out{suffix}", "is not a folder"),
        (f"taken{suffix}", "it is a folder"),
    ]:
        refused([*words, out], why)
    assert sorted(path.name for path in folder.iterdir()) == ["m.hb", f"taken{suffix}", "x.csv"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes in folders")
@pytest.mark.parametrize("name", ["fit", "convert", "drawn map"])
def test_a_pipe_is_no_output(folder, no_work, name):
    words, suffix = COMMANDS[name]
    os.mkfifo(folder / f"pipe{suffix}")
    refused([*words, f"pipe{suffix}"], "not a regular file")


@pytest.mark.parametrize("name", COMMANDS)
def test_no_output_replaces_what_is_read(folder, no_work, name):
    words, suffix = COMMANDS[name]
    held = folder / f"data{suffix}"
    held.write_bytes((folder / "x.csv").read_bytes())
    (folder / f"link{suffix}").symlink_to(held)
    read = ["data*" if word == "x.csv" else word for word in words]
    read = [held.name if word == "m.hb" and name == "sample" else word for word in read]
    for out in (held, f"link{suffix}"):
        refused([*read, out], "is an input of this command")


def test_one_file_for_two_results_and_a_file_for_a_folder(folder, no_work):
    refused(["fit", "x.csv", "classes", "-o", "new.hb", "--checkpoint", "./new.hb"], "is given for two outputs")
    for out in ("x.csv", "x.csv/kept"):
        refused(["compare", "x.csv", "--folder", out], "is not a folder")


def test_errors_that_need_no_fit_come_before_it(folder, monkeypatch):
    def work(*_, **__):
        raise AssertionError("work began")

    monkeypatch.setattr(commands, "fit_with_progress", work)
    refused(["map", "x.csv", "-o", "map.png", "--color", "d"], "There is no column 'd'")
    monkeypatch.setattr("hiddenbits.cli.outputs.find_spec", lambda _: None)
    refused(["map", "x.csv", "-o", "map.parquet"], "Parquet files need pyarrow")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes in folders")
def test_pipes_are_not_waited_for(folder):
    os.mkfifo(folder / "pipe.csv")
    refused(["look", "pipe.csv"], "this is a pipe or a device")
    refused(["look", "x.csv", "--names", "pipe.csv"], "this is not a file")
