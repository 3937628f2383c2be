"""What bootstrap replicates cost, in cold fits and on two cores.

    python -m benchmarks.inference.replicates --quick              # 5 replicates, scaled to 200; ratios of one turn
    python -m benchmarks.inference.replicates --full               # 200 replicates: recorded
    python -m benchmarks.inference.replicates --full --only cost   # one of the two

- cost: LatentClassAnalysis(5) on 20,000 x 100, processor time of this process; a cold fit has the estimator's defaults.
- at once: the seconds by the clock of 200 replicates of 4 classes on 20,000 x 50, with two jobs over those with one
  thread. The jobs are processes: their start is included in each of them, because every turn starts new ones. Five turns
  of both, one after the other; the figure is the median of their ratios, beside the load of the computer (the mean number
  of running programs in the last minute) when the turns begin and end. A busy computer has no second core to give: then
  only the ratio of processor times, of all processes together, tells what two jobs cost more than one thread. By how far
  the classes lie apart, told by their relative entropy, which decides how many passes a replicate makes.
"""

import os
import time

import numpy as np
from benchmarks.record import asking, record

from hiddenbits import LatentClassAnalysis, diagnostics, inference, run_on
from hiddenbits.datasets import simulate_mixture

TURNS, REPLICATES = 5, 200
SPREADS = {"far apart": 1.0, "apart": 0.7, "overlapping": 0.5}  # of the logits of the classes' profiles


def cost(n: int) -> dict[str, float]:
    X = simulate_mixture(20_000, 100, 5, random_state=0).X
    begin = time.process_time()
    model = LatentClassAnalysis(5, random_state=0).fit(X)
    cold = time.process_time() - begin
    begin = time.process_time()
    inference.bootstrap(model, X, n_replicates=n)
    warm = time.process_time() - begin
    return {
        "cold_fit_s": round(cold, 2),
        "starts_of_cold_fit": len(model.restarts_),
        "passes_of_cold_fit": sum(restart.n_iter for restart in model.restarts_),
        "replicate_s": round(warm / n, 3),
        "cold_fits_in_200_replicates": round(200 * warm / n / cold, 1),
    }


def simulated(spread: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    profiles = 1.0 / (1.0 + np.exp(-spread * rng.standard_normal((4, 50))))
    return (rng.random((20_000, 50)) < profiles[rng.integers(0, 4, 20_000)]).astype(np.uint8)


def seconds_of(model: LatentClassAnalysis, X: np.ndarray, n: int, n_jobs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the seconds by the clock and of processors, and the replicates."""
    begin = np.array([time.perf_counter(), sum(os.times()[:4])])
    with run_on(n_jobs=n_jobs):
        replicates = inference.bootstrap(model, X, n_replicates=n).replicates
    return np.array([time.perf_counter(), sum(os.times()[:4])]) - begin, replicates


def at_once(n: int, turns: int) -> dict[str, dict[str, object]]:
    figures = {}
    for name, spread in SPREADS.items():
        X = simulated(spread)
        model = LatentClassAnalysis(4, random_state=0).fit(X)
        seconds_of(model, X, 2, 1)  # buffers are made
        turns_of: list[np.ndarray] = []  # one thread and two jobs, by the clock and of processors
        load = os.getloadavg()[0]
        for _ in range(turns):
            (one, alone), (two, beside) = (seconds_of(model, X, n, n_jobs) for n_jobs in (1, 2))
            assert (alone == beside).all()
            turns_of.append(np.stack([one, two]))
        seconds = np.stack(turns_of)
        ratios = seconds[:, 1] / seconds[:, 0]
        figures[name] = {
            "entropy": round(diagnostics.entropy(model, X), 2),
            "seconds_one_thread": round(float(np.median(seconds[:, 0, 0])), 2),
            "seconds_two_jobs": round(float(np.median(seconds[:, 1, 0])), 2),
            "ratio": round(float(np.median(ratios[:, 0])), 3),
            "ratios": ratios[:, 0].round(3).tolist(),
            "ratio_of_processor_times": round(float(np.median(ratios[:, 1])), 3),
            "load": [round(load, 1), round(os.getloadavg()[0], 1)],
        }
        print(name, figures[name], flush=True)
    return figures


if __name__ == "__main__":
    parser = asking(__doc__)
    parser.add_argument("--only", choices=["cost", "at_once"])
    asked = parser.parse_args()
    n = 5 if asked.quick else REPLICATES
    if asked.only in (None, "cost"):
        figures = cost(n)
        print(figures) if asked.quick else record("inference/replicates", figures, seeds=1)
    if asked.only in (None, "at_once"):
        found = at_once(50 if asked.quick else n, 1 if asked.quick else TURNS)
        if not asked.quick:
            record("inference/at_once", found, seeds=1, replicates=n, aloud=False)
