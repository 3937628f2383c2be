"""What bootstrap replicates cost, in cold fits: LatentClassAnalysis(5) on 20,000 x 100.

    python -m benchmarks.inference.replicates --quick    # 5 replicates, scaled to 200
    python -m benchmarks.inference.replicates --full     # 200 replicates: recorded

Processor time of this process; a cold fit has the estimator's defaults.
"""

import time

from benchmarks.record import asked_quick, record

from hiddenbits import LatentClassAnalysis, inference
from hiddenbits.datasets import simulate_mixture

if __name__ == "__main__":
    quick = asked_quick(__doc__)
    n = 5 if quick else 200
    X = simulate_mixture(20_000, 100, 5, random_state=0).X
    begin = time.process_time()
    model = LatentClassAnalysis(5, random_state=0).fit(X)
    cold = time.process_time() - begin
    begin = time.process_time()
    inference.bootstrap(model, X, n_replicates=n)
    warm = time.process_time() - begin
    figures = {
        "cold_fit_s": round(cold, 2),
        "starts_of_cold_fit": len(model.restarts_),
        "passes_of_cold_fit": sum(restart.n_iter for restart in model.restarts_),
        "replicate_s": round(warm / n, 3),
        "cold_fits_in_200_replicates": round(200 * warm / n / cold, 1),
    }
    if quick:
        print(figures)
    else:
        record("inference/replicates", figures, seeds=1)
