"""What is promised of lakes and databases is what the benchmark measured."""

import json

from benchmarks.record import result


def test_the_recorded_figures_keep_the_promises():
    recorded = json.loads(result("lakes/full").read_text())
    figures = recorded["figures"]
    assert recorded["command"] == "python -m benchmarks.lakes.run --full"
    assert figures["delta"]["rows"] == figures["parquet"]["rows"] == 20_000_000
    assert figures["delta"]["ones"] == figures["parquet"]["ones"]
    assert figures["postgresql"]["rows"] == 5_000_000
    assert figures["delta_over_parquet"] >= 0.7
    assert max(figures[kind]["peak_memory_mb"] for kind in ("delta", "postgresql")) < 1000
