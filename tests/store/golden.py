"""The golden files: a model of every family and a checkpoint, written once, which must stay readable.

    python -m tests.store.golden            # write those that are missing; files that are there are never replaced

What is in `golden/` is loaded and scored in every run of the tests. A new family gets a new file by an entry in
`MODELS`. Whoever changes what a file holds deletes the files that it is about, and writes them again. `VARIANTS` are
fitted when a test asks for them.

Tables are made by arithmetic, so that they do not depend on any generator of random numbers.
"""

import contextlib
import json
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np

import hiddenbits
from hiddenbits import (
    BinarySparseCoding,
    ClippedPCA,
    CombinationMachine,
    HiddenTree,
    IndependentColumns,
    ItemResponseModel,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    TopographicMap,
    TreeMixture,
)
from hiddenbits.options import Annealing, Chains, GibbsChains

FOLDER = Path(__file__).parent / "golden"
SCORES = FOLDER / "scores.json"
N_ROWS, N_COLUMNS = 60, 6
NAMES = [f"question {j}" for j in range(N_COLUMNS)]


def bits():
    """Return rows of bits of two kinds, with a few blanks."""
    i, j = np.indices((N_ROWS, N_COLUMNS))
    rows = np.where((i * i + 3 * j) % 7 == 0, 1.0 - (j < 3) * (i % 2) - (j >= 3) * (1 - i % 2), 0.0)
    rows = np.where((i * 5 + j * 11 + i * j) % 4 < 2, (j < 3) == (i % 2 == 0), np.abs(rows))
    return np.where((i * 7 + j * 13) % 41 == 0, np.nan, rows)


def complete_bits():
    """Return the same rows with zeros for the blanks."""
    return np.nan_to_num(bits())


def reals():
    """Return rows of real numbers."""
    i, j = np.indices((N_ROWS, N_COLUMNS))
    return (i % 3 == 0) * (j < 3) * 2.0 + (i % 4 == 0) * (j >= 2) * 1.5 + np.sin(i * 3.7 + j * 1.3) / 4.0


def table_for(name):
    """Return the rows that a golden model is fitted to and scored on."""
    if "reals" in name or name.startswith("sparse_coding"):
        return reals()
    return complete_bits() if "chains" in name or "gibbs" in name else bits()


MODELS = {
    "independent": lambda X: IndependentColumns().fit(X),
    "mixture": lambda X: LatentClassAnalysis(2, n_init=2, random_state=0).fit(X),
    "item_response": lambda X: ItemResponseModel(random_state=0).fit(X),
    "logistic": lambda X: LogisticPCA(2, random_state=0).fit(X),
    "clipped": lambda X: ClippedPCA(1, random_state=0).fit(X),
    "combination": lambda X: CombinationMachine(2, random_state=0).fit(X),
    "sparse_coding": lambda X: BinarySparseCoding(3, n_init=1, schedule=Annealing(n_passes=10), random_state=0).fit(X),
    "hidden_tree": lambda X: HiddenTree(2, random_state=0).fit(X),
    "noisy_or": lambda X: NoisyOrNetwork(2, random_state=0).fit(X),
    "topographic": lambda X: TopographicMap(2, n_points=16, n_features=8, random_state=0).fit(X),
    "tree_mixture": lambda X: TreeMixture(2, n_init=1, random_state=0).fit(X),
}
VARIANTS = {
    "independent_online": lambda X: IndependentColumns(random_state=0).partial_fit(X),
    "mixture_names": lambda X: LatentClassAnalysis(2, random_state=0).fit(
        hiddenbits.open_table(X, names=NAMES)
    ),
    "mixture_online": lambda X: LatentClassAnalysis(2, random_state=0).partial_fit(X),
    "logistic_variational": lambda X: LogisticPCA(1, refine=False, random_state=0).fit(X),
    "logistic_online": lambda X: LogisticPCA(1, refine=False, random_state=0).partial_fit(X),
    "logistic_draws": lambda X: LogisticPCA(4, n_draws=50, ridge=1.0, random_state=0).fit(X),
    "clipped_online": lambda X: ClippedPCA(1, random_state=0).partial_fit(X),
    "combination_reals": lambda X: CombinationMachine(2, visible="reals", random_state=0).fit(X),
    "combination_chains": lambda X: CombinationMachine(
        2, method="chains", chains=Chains(n_chains=20, batch_rows=20), max_iter=10, random_state=0
    ).fit(X),
    "hidden_tree_online": lambda X: HiddenTree(2, random_state=0).partial_fit(X),
    "noisy_or_layers": lambda X: NoisyOrNetwork((3, 2), n_init=1, random_state=0).fit(X),
    "noisy_or_gibbs": lambda X: NoisyOrNetwork(
        2, method="gibbs", chains=GibbsChains(n_passes=5, spare=0.0), n_init=1, random_state=0
    ).fit(X),
    "topographic_online": lambda X: TopographicMap(2, n_points=16, n_features=8, random_state=0).partial_fit(X),
    "topographic_steps": lambda X: TopographicMap(
        3, n_points=16, n_features=8, batch_rows=20, max_iter=60, random_state=0
    ).fit(X),
    "tree_mixture_online": lambda X: TreeMixture(2, random_state=0).partial_fit(X),
}  # fmt: skip


def checkpointed():
    """Return the estimator of the golden checkpoint: a fixed number of plain passes, whatever the processor."""
    return LatentClassAnalysis(2, n_init=1, max_iter=5, tol=0.0, random_state=0)


def broken_off(path):
    """Fit with a checkpoint, and break the fit off after three passes."""

    save, kept = hiddenbits.engine.Checkpoint.save, []

    def counted(self, position, summary):
        save(self, position, summary)
        kept.append(position)
        if len(kept) == 3:
            raise InterruptedError

    hiddenbits.engine.Checkpoint.save = counted
    try:
        with contextlib.suppress(InterruptedError), hiddenbits.run_on(checkpoint=path):
            checkpointed().fit(hiddenbits.open_table(bits(), names=NAMES))
    finally:
        hiddenbits.engine.Checkpoint.save = save


def resumed(path):
    """Return the fit that goes on from a checkpoint."""
    with warnings.catch_warnings(), hiddenbits.run_on(checkpoint=path):
        warnings.simplefilter("ignore")  # other packages; all of its max_iter passes
        return checkpointed().fit(hiddenbits.open_table(bits(), names=NAMES))


def score(model, name):
    """Return the number that is compared with the committed one."""
    rows = table_for(name)
    if hasattr(model, "feature_names_in_"):
        rows = hiddenbits.open_table(rows, names=NAMES)
    return float(np.mean(model.score_samples(rows)))


@cache
def content(name):
    """Return the bytes of a golden file, or of the file of a variant, which is fitted once in a process."""
    if name not in VARIANTS:
        return (FOLDER / f"{name}.hb").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.hb"
        fitted(VARIANTS[name], name).save(path)
        return path.read_bytes()


def fitted(make, name):
    """Return a model fitted to its rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit need not be good to be kept
        return make(table_for(name))


def main():
    """Write the files that are missing, and their scores."""
    FOLDER.mkdir(exist_ok=True)
    scores = json.loads(SCORES.read_text()) if SCORES.exists() else {}
    for name, make in MODELS.items():
        path = FOLDER / f"{name}.hb"
        if not path.exists():
            model = fitted(make, name)
            model.save(path)
            scores[name] = score(model, name)
            print(f"{name}: {path.stat().st_size} bytes, {scores[name]:.6f}")
    path = FOLDER / "checkpoint.hb"
    if not path.exists():
        broken_off(path)
        copy = path.with_suffix(".copy")
        copy.write_bytes(path.read_bytes())
        try:
            scores["checkpoint"] = score(resumed(copy), "checkpoint")
        finally:
            copy.unlink()
    SCORES.write_text(json.dumps({name: scores[name] for name in sorted([*MODELS, "checkpoint"])}, indent=1) + "\n")


if __name__ == "__main__":
    main()
