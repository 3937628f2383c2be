"""The program that test_bootstrap_resume kills: a bootstrap with a folder, whose replicates are written at the end."""

import sys
from pathlib import Path

import numpy as np

from hiddenbits import LatentClassAnalysis, inference
from hiddenbits.datasets import simulate_mixture

N = 30


def main(folder: str) -> None:
    X = simulate_mixture(500, 8, 3, random_state=0).X
    model = LatentClassAnalysis(3, prior_strength=0, n_init=1, random_state=0).fit(X)
    found = inference.bootstrap(model, X, n_replicates=N, folder=Path(folder) / "fits")
    np.save(Path(folder) / "replicates.npy", found.replicates)


if __name__ == "__main__":
    main(sys.argv[1])
