"""The comparison with spflow: the size is chosen on `valid`, and `test` is scored by that fit alone."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.debd import spflow_peer
from benchmarks.peers import watched

pytestmark = pytest.mark.core

VALID = {4: -6.5, 12: -6.0, 20: None}


def fake_run(calls):
    """Return what runs in place of the programs; 20 states take too much memory."""

    def run(step: str, folder: Path, family: str) -> watched.Run:
        options = json.loads((folder / "options.json").read_text())
        calls.append((step, options["states"]))
        valid = VALID[options["states"]]
        if step == "score":
            (folder / "score.json").write_text("-6.1")
        elif valid is not None:
            found = {"valid": valid, "epochs": 3, "stop_reason": "time is up", "seconds": 2.0}
            (folder / "fit.json").write_text(json.dumps(found))
        return watched.Run(3.0, 100.0, None if valid is not None else "more than 6 GB of memory")

    return run


@pytest.mark.parametrize("quick", [True, False])
def test_only_the_best_on_valid_scores_test(monkeypatch, quick):
    X = np.zeros((4, 2), dtype=np.uint8)
    monkeypatch.setattr(spflow_peer, "load_debd", lambda name: SimpleNamespace(train=X, valid=X, test=X))
    calls = []
    monkeypatch.setattr(spflow_peer, "run", fake_run(calls))
    found = spflow_peer.best_of("small", [{"family": "HCLT", "states": states} for states in VALID], quick)
    assert found["options"]["states"] == 12
    assert calls == [("fit", 4), ("fit", 12), ("fit", 20)] + [("score", 12)] * (not quick)
    assert [fit["options"]["states"] for fit in found["tried"]] == [4, 20]
    json.dumps(found, allow_nan=False)


def test_the_table_shows_every_fit(tmp_path, monkeypatch):
    path = tmp_path / "spflow.json"
    fit = {"valid": -6.0, "seconds": 61.2, "stop_reason": "time is up", "peak_mb": 300}
    figures = {
        "nltcs": {
            "HCLT": {**fit, "test": -6.1, "options": {"states": 12}},
            "CM": {"failure": "Killed", "peak_mb": 9, "options": {"dimensions": 4, "points": 128}},
            "HiddenTree": {**fit, "test": -6.05, "options": {"settings": {"n_components": 12}}},
        }
    }
    path.write_text(json.dumps({"figures": figures}))
    monkeypatch.setattr(spflow_peer, "result", lambda name: path)
    lines = spflow_peer.spflow_table().splitlines()
    assert lines[2] == "| nltcs | spflow HCLT | 12 states | -6.000 | -6.100 | 61.2 | time is up | 300 |"
    assert lines[3] == "| nltcs | spflow CM | 4 dimensions, 128 points |  |  |  | Killed | 9 |"
    assert lines[4].startswith("| nltcs | `HiddenTree` | 12 states | -6.000 | **-6.050** |")
