"""The paper's Figure 2: strengths of both layers as squares, the lines' on their grid."""

from pathlib import Path
from typing import Any

from common import save

from hiddenbits import NoisyOrNetwork, plots
from hiddenbits.datasets import simulate_lines

SEEDS = {"data and start": 100}


def draw(figures: Path) -> dict[str, Any]:
    truth = simulate_lines(2000, seed=100)
    model = NoisyOrNetwork((10, 5), random_state=100).fit(truth.X)
    ax = plots.hinton(model.layers_[0], (5, 5), across=5)
    save(ax.figure, figures, "lines")
    above = plots.hinton(model.layers_[1], names=[f"cause {i}" for i in range(10)])
    save(above.figure, figures, "sets")
    return {"priors": model.priors_.tolist(), "sentences": model.explain(truth.X[:3])}
