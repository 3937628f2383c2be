"""The benchmark of all peers: its limits end programs, its judges are right, and it goes on where it stopped."""

import dataclasses
import itertools
import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from benchmarks.peers import __main__ as command
from benchmarks.peers import drawn, judged, watched
from benchmarks.peers.jobs import JOBS

pytestmark = pytest.mark.core


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_a_program_that_takes_too_long_is_ended():
    assert watched.run(python("import time; time.sleep(60)"), 0.2, 1000.0).failure == "not done after 0.8 s"


def test_a_program_is_ended_with_all_that_it_started(tmp_path):
    """Its child is there before it takes more memory than it may, however slow the machine is."""
    note = tmp_path / "child"
    text = (
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(120)'])\n"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid))\n"
        "x = b'1' * 200_000_000\n"
        "time.sleep(120)\n"
    )
    assert watched.run(python(text), 100.0, 150.0).failure == "more than 0.15 GB of memory"
    stat = Path(f"/proc/{int(note.read_text())}/stat")
    deadline = time.monotonic() + 10.0
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":  # Z: ended, but not yet collected
        assert time.monotonic() < deadline, "the child of a program that was ended is still running"
        time.sleep(0.05)


def test_memory_is_measured_and_limited():
    hold = "x = b'1' * 300_000_000; import time; time.sleep({})"
    free = watched.run(python(hold.format(0.2)), 60.0, 1000.0)
    assert free.failure is None
    assert 300.0 < free.peak_mb < 350.0  # an interpreter alone has some 10 MB
    assert watched.run(python(hold.format(30)), 60.0, 150.0).failure == "more than 0.15 GB of memory"


@pytest.mark.parametrize("seed", range(2))
def test_the_mixture_judge_is_the_definition(seed):
    rng = np.random.default_rng(seed)
    w, p = rng.dirichlet(np.ones(3)), rng.random((3, 4))
    p[0, 0] = 0.0
    X = rng.integers(0, 2, (30, 4), dtype=np.uint8)
    by_hand = np.mean([np.log((w * np.where(x, p, 1.0 - p).prod(axis=1)).sum()) for x in X])
    table = drawn.Drawn(X, X, X, {})
    found = judged.MixtureJudge(table)({"weights": w, "probabilities": p, "seconds": [1.0, 2.0]})
    assert found.quality == pytest.approx(by_hand, abs=1e-12)
    assert found.seconds == 2.0


def test_the_machine_judge_takes_peers_in_their_own_convention():
    """A machine over 0 and 1 by enumeration, given as a peer gives it: the better of two places of its path."""
    rng = np.random.default_rng(0)
    U, b, a = rng.normal(0, 1, (4, 2)), rng.normal(0, 1, 2), rng.normal(0, 1, 4)
    all_x = np.array(list(itertools.product((0, 1), repeat=4)), dtype=np.uint8)
    free = all_x @ a + np.logaddexp(0.0, all_x @ U + b).sum(axis=1)
    log_p = free - np.log(np.exp(free).sum())
    X = all_x[rng.choice(16, 4000, p=np.exp(log_p))]
    judge = judged.MachineJudge(drawn.Drawn(X, X, X, {}))
    fit = {"weights": [0 * U, U], "hidden": [0 * b, b], "visible": [0 * a, a], "seconds": [1.0, 5.0]}
    found = judge(fit)
    assert found.quality == pytest.approx(log_p[X @ (8, 4, 2, 1)].mean(), abs=1e-10)
    assert found.seconds == 5.0


def test_correlations_and_maps_are_judged_by_the_truth():
    table = drawn.thresholded(10)
    R = table.truth["correlations"]
    judge = judged.TetrachoricJudge(table)
    assert judge({"correlations": R, "seconds": [1.0]}).quality == 0.0
    assert judge({"correlations": R - 0.1, "seconds": [1.0]}).quality == pytest.approx(-0.1, abs=1e-12)
    classes = np.repeat(np.arange(3), 40)
    apart = drawn.Drawn(table.train, table.valid, table.test, {"classes": classes})
    places = np.random.default_rng(0).normal(size=(120, 2))
    maps = judged.MapJudge(apart)
    assert maps({"places": places + 100.0 * classes[:, None], "seconds": [1.0]}).quality == 1.0
    assert maps({"places": places, "seconds": [1.0]}).quality < 0.6  # chance is a third


def test_what_was_measured_is_kept_and_a_peer_that_failed_is_not_tried_with_more_rows(monkeypatch):
    asked = []

    def measure(program, table, judge):
        asked.append((program.name, len(table.train)))
        if program.name == "gcimpute":
            return {"failure": "too slow", "peak_mb": 1}
        return {"quality": 0.0, "seconds": 1.0, "peak_mb": 1, "turns": 1}

    monkeypatch.setattr(command.turns, "measure", measure)
    job, points, kept = dataclasses.replace(JOBS["tetrachoric"], rows=5), [], []
    for _ in range(2):
        command.run(job, {"psych", "gcimpute"}, (1, 2), points, lambda: kept.append(len(points)))
    assert asked == [("hiddenbits", 5), ("psych", 5), ("gcimpute", 5), ("hiddenbits", 10), ("psych", 10)]
    assert kept == [1, 2, 3, 4, 5]


def test_where_a_peer_is_faster_the_default_has_half_of_its_time(monkeypatch):
    seconds = {"hiddenbits": 4.0, "BernoulliRBM": 3.0, "rbms": 5.0}
    monkeypatch.setattr(
        command.turns,
        "measure",
        lambda program, *_: {"quality": 0.0, "seconds": seconds[program.name], "peak_mb": 1, "turns": 1},
    )
    job, points = dataclasses.replace(JOBS["machine"], rows=5), []
    command.run(job, {"BernoulliRBM", "rbms"}, (1,), points, lambda: None)
    assert [p["way"] for p in points if p["program"] == "hiddenbits"] == [*job.ways, "default, max_time=1.5"]
    limited = list(command.programs(job, set(), 5, points))[-1][0]
    assert json.loads(limited.options["way"]) == {"max_time": 1.5}
