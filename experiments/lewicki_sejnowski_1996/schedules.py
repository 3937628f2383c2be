"""Which layers learn when: layer by layer, when the last is stable, or all at once from a random start."""

from typing import Any

import numpy as np
from learning import blocks_of, learn
from lines import judged
from sampling import as_model

from hiddenbits.datasets import simulate_lines
from hiddenbits.families.noisy_or.model import NoisyOr

SEEDS = {"data and start": "100 to 119 (quick: 100)"}
SCHEDULES = ("layer by layer", "by stability", "at once")
DEAD = 0.5  # a unit none of whose strengths is above


def one(schedule: str, seed: int, n_rows: int) -> dict[str, Any]:
    data, epochs = simulate_lines(n_rows, seed=seed), []
    params = learn(data.X, (10, 5), schedule=schedule, seed=seed, watch=lambda epoch, _: epochs.append(epoch))
    model = NoisyOr([10, 5])
    lines, sets = judged(as_model(params), data)
    return {
        "lines": bool(lines),
        "sets": bool(lines and sets),
        "log-likelihood": float(
            np.mean(model.log_likelihood(params, model.prepare(params), blocks_of(data.X, n_rows)[0]))
        ),
        "dead units": int(np.sum(params.layers[0][:-1].max(axis=1) < DEAD)),
        "epochs": epochs[-1],
    }


def measure(*, full: bool) -> dict[str, Any]:
    seeds, n_rows = (range(100, 120), 2000) if full else (range(100, 101), 400)
    found = {}
    for schedule in SCHEDULES:
        runs = [one(schedule, seed, n_rows) for seed in seeds]
        heights = [run["log-likelihood"] for run in runs]
        found[schedule] = {
            "runs": len(runs),
            "lines": sum(run["lines"] for run in runs),
            "both": sum(run["sets"] for run in runs),
            "log-likelihood a row": [float(np.min(heights)), float(np.median(heights)), float(np.max(heights))],
            "runs with a dead unit": sum(run["dead units"] > 0 for run in runs),
            "epochs": float(np.median([run["epochs"] for run in runs])),
        }
    return found
