"""Bars: rows a second and the share done on what is slow, nothing on what is not, nothing on the output stream."""

import io
import json
import os
import pickle
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
from rich.console import Console
from typer.testing import CliRunner

import hiddenbits
from hiddenbits import LatentClassAnalysis, run_on
from hiddenbits.cli import progress as module
from hiddenbits.cli.app import app
from hiddenbits.cli.console import set_output
from hiddenbits.cli.execution import fit_with_progress
from hiddenbits.cli.progress import Bar, Quiet
from hiddenbits.datasets import simulate_mixture

WIDTH = 160


def terminal():
    return Console(force_terminal=True, file=io.StringIO(), width=WIDTH, color_system=None)


def shown(console):
    """Return what was drawn, without the codes that move the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())


def test_speed_and_share_done(monkeypatch):
    """20,000 of 50,000 rows in two seconds, by a clock of our own: a busy machine cannot change the values."""
    now = [100.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    bar = Bar("Looking", 50_000, terminal())
    bar.rows(20_000)
    now[0] += 2.0
    assert bar.speed == "10,000 rows/s"
    assert bar.share == "40% done"
    now[0] += 2.0  # at half the speed
    assert (bar.speed, bar.share) == ("5,000 rows/s", "40% done")
    bar.close()


def test_the_bar_of_a_report_advances_and_estimates_nothing(short, monkeypatch):
    """Its steps take from milliseconds to minutes: an estimate from the steps before rises, so there is none."""
    pytest.importorskip("jinja2")
    monkeypatch.setattr("hiddenbits.reporting.fits.MODELS", ["IndependentColumns", "LatentClassAnalysis"])
    now, shown_shares, bar = [100.0], [], Quiet("Reading the table")
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def on_progress(step, done, total):
        bar.set_step(step, done, total)
        now[0] += 1.0 + 2.0 * len(shown_shares)  # each step takes longer than the one before
        shown_shares.append(bar.share)

    hiddenbits.report(simulate_mixture(80, 5, 2, random_state=0).X, on_progress=on_progress)
    bar.close()
    assert len(shown_shares) > 5
    assert all(re.fullmatch(r"\d+% done", share) for share in shown_shares)
    numbers = [int(share.partition("%")[0]) for share in shown_shares]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 100


@pytest.mark.parametrize(
    ("bar_class", "console", "patience"),
    [(Bar, terminal, 2.0), (Bar, lambda: Console(file=io.StringIO()), 0.0), (Quiet, terminal, 0.0)],
)
def test_no_bar_for_short_work_files_and_quiet(bar_class, console, patience, monkeypatch):
    monkeypatch.setattr(module, "SLOW", patience)
    shown_on = console()
    bar = bar_class("Looking", 10, shown_on)
    bar.rows(10)
    bar.close()
    assert shown_on.file.getvalue() == ""


@pytest.mark.slow
def test_lines_where_there_is_no_terminal(files, monkeypatch):
    """A batch job: a line on the error stream now and then, with what a bar would show; none with --quiet or --json."""
    words = ["fit", str(files / "t.csv"), "classes", "-n", "3", "-o", str(files / "lines.hb"), "--n-jobs", "1"]
    words += ["--set", "tol=1e-13", "--set"]
    code = "from hiddenbits.cli import progress; progress.SLOW = .01; from hiddenbits.cli.app import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "n_init=20"],
        capture_output=True,
        text=True,
        timeout=200,
        env=os.environ | {"HIDDENBITS_SECONDS_A_LINE": "0.05"},
        check=True,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("Fitting")]
    assert len(lines) >= 2, done.stderr
    assert all(re.match(r"Fitting( LatentClassAnalysis)?: \d+:\d\d", line) for line in lines)
    assert any(re.search(r"[\d,]+ rows/s, restart \d+ of 20, iteration \d+", line) for line in lines)
    assert "rows/s" not in done.stdout
    monkeypatch.setattr(module, "SLOW", 0.0)
    monkeypatch.setattr(module, "EVERY", 0.02)
    words.append("n_init=5")
    assert "Fitting LatentClassAnalysis: 0:0" in CliRunner().invoke(app, words).stderr
    for quiet in (["--quiet", *words], [*words, "--json"]):
        assert "Fitting" not in CliRunner().invoke(app, quiet).stderr


def test_the_log_of_a_fit(files):
    words = ["fit", str(files / "t.csv"), "classes", "-n", "2", "-o", str(files / "log.hb"), "--set", "n_init=2"]
    try:
        result = CliRunner().invoke(app, ["--log-level", "info", *words])
        assert result.exit_code == 0, result.output
        assert re.search(
            r" INFO hiddenbits\.engine\.loops\.restarts: Restart 2 of 2 stopped: converged after", result.stderr
        )
        assert " DEBUG " not in result.stderr
        result = CliRunner().invoke(app, ["--log-level", "debug", *words])
        assert re.search(r" DEBUG hiddenbits\.engine\.loops\.restarts: Restart 1: pass 1, objective -", result.stderr)
        assert result.stderr.count("Restart 2 of 2 stopped") == 1
        assert "Restart" not in result.stdout
    finally:
        set_output()
    assert "Restart" not in CliRunner().invoke(app, words).stderr
    assert CliRunner().invoke(app, ["--log-level", "loud", *words]).exit_code == 2


def test_a_fit_shows_its_restart_and_iteration(monkeypatch):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    monkeypatch.setattr(module, "SLOW", 0.0)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 12))
    steps = []

    class RecordingBar(Bar):
        def set_step(self, step, done, total, note=""):
            steps.append((step, done, total, note))
            super().set_step(step, done, total, note)

    bar = RecordingBar("Fitting", console=terminal())
    model = LatentClassAnalysis(3, n_init=3, max_iter=500, random_state=0)
    with run_on(on_progress=bar.rows):
        fit_with_progress(model, X, bar)
    bar.close()
    assert "rows/s" in shown(bar._console)
    iterations = [step for step in steps if step[3]]
    assert len(iterations) == sum(restart.n_iter for restart in model.restarts_)
    first = model.restarts_[0].n_iter
    for number, (step, _, total, note) in enumerate(iterations[:first], 1):
        assert (step, total) == ("Fitting LatentClassAnalysis", 3)
        assert note == f"restart 1 of 3, iteration {number} of at most 500"
    assert all(re.fullmatch(r"restart [23] of 3, iteration \d+ of at most 500", step[3]) for step in iterations[first:])
    assert sorted(done for _, done, _, _ in iterations) == [done for _, done, _, _ in iterations]
    assert not hasattr(model, "_skl_callbacks")  # neither kept nor sent to a cluster


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bars")
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (4, 6))[rng.integers(0, 4, 200)] ^ (rng.random((200, 6)) < 0.1)
    lines = [",".join(f"q{j}" for j in range(6)), *(",".join(map(str, row)) for row in X.astype(int))]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    (folder / "small.csv").write_text("\n".join(",".join(line.split(",")[:3]) for line in lines[:31]) + "\n")
    LatentClassAnalysis(2, random_state=0).fit(X.astype(int)).save(folder / "m.hb")
    return folder


COMMANDS = {
    "look": ["look", "t.csv"],
    "fit": ["fit", "t.csv", "classes", "-n", "2", "-o", "new.hb"],
    "compare": ["compare", "t.csv", "-m", "independent", "-m", "classes"],
    "score": ["score", "t.csv", "m.hb"],
    "each score": ["score", "t.csv", "m.hb", "-o", "each.csv"],
    "map": ["map", "t.csv", "m.hb", "-o", "map.csv"],
    "complete": ["complete", "t.csv", "m.hb", "-o", "full.csv"],
    "sample": ["sample", "m.hb", "-o", "drawn.csv"],
    "convert": ["convert", "t.csv", "t.npz"],
    "report": ["report", "small.csv", "-o", "r.html"],
}


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_bar(name, files, short, monkeypatch):
    """With no patience at all each shows its bar, on the error stream and not with --json."""
    if name == "report":
        pytest.importorskip("jinja2")
        if short:
            monkeypatch.setattr("hiddenbits.reporting.fits.MODELS", ["IndependentColumns", "LatentClassAnalysis"])
    words = [str(files / word) if "." in word else word for word in COMMANDS[name]]
    monkeypatch.setattr(module, "SLOW", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    bar = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", result.stderr)
    assert re.search(r"[\d,]+ rows/s", bar)
    assert "% done" in bar or "at most" in bar
    assert " left" not in bar
    assert "rows/s" not in result.stdout
    if name in ("look", "score", "fit"):
        quiet = CliRunner().invoke(app, [*words, "--json"])
        assert json.loads(quiet.stdout)
        assert quiet.stderr == ""
    if name == "report":
        assert "3 of 3: drawing the evidence" in bar


@pytest.mark.skipif(not hasattr(LatentClassAnalysis, "set_callbacks"), reason="scikit-learn before 1.9")
def test_scikit_learns_bar_shows_a_fit(capsys):
    """It shows every restart, and goes neither into a file nor into a pickle."""
    from sklearn.callback import ProgressBar

    X = simulate_mixture(200, 6, 2, random_state=0).X
    model = LatentClassAnalysis(2, n_init=2, random_state=0).set_callbacks(ProgressBar()).fit(X)
    shown = capsys.readouterr().out
    assert "LatentClassAnalysis - fit" in shown
    assert shown.count("restart #") >= 2
    pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="not a bit"):
        model.fit(np.full((3, 6), 7))
