"""The fits: every estimator with its main options, on fixed small tables.

Few passes each, because rounding grows on the way to a maximum: after hundreds of passes the last digit of another
processor may show in the sixth.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import hiddenbits as hb
from hiddenbits.families._base.write_results import METHODS
from tests.golden_fits.tables import bits, blanked, reals, superposed

BITS, BLANKED, REALS, CODED = bits(), blanked(bits()), reals(), superposed()
VERBS = ("transform", "score_samples", "complete", "cell_probabilities")
ASKED, DRAWN = 8, 5  # rows


def fit(estimator, X):
    return estimator.fit(X)


def weighted(estimator, X):
    return estimator.fit(X, sample_weight=1 + np.arange(len(X)) % 3)


def in_pieces(estimator, X):
    for piece in np.split(X, 3):
        estimator.partial_fit(piece)
    return estimator


@dataclass(frozen=True)
class Case:
    """What is fitted to what and how, which rows are asked about, and by which verbs."""

    estimator: Any
    X: Any = field(default_factory=lambda: BITS)
    asked: Any = field(default_factory=lambda: BLANKED)
    fit: Callable[[Any, Any], Any] = fit
    verbs: tuple[str, ...] = VERBS

    def arrays(self) -> dict[str, np.ndarray]:
        """Fit, and return the parameters, the trace and what the verbs answer."""
        fitted = self.fit(self.estimator, self.X)
        found = {f"params.{name}": array for name, array in fitted._params.to_arrays().items()}
        found["trace"] = np.asarray(fitted.trace_)
        return found | answers(fitted, self.asked[:ASKED], self.verbs)


@dataclass(frozen=True)
class Pairs:
    """Tetrachoric correlations: matrices, no verbs."""

    X: Any

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the matrices."""
        found = hb.tetrachoric(self.X)
        names = ("correlation", "standard_error", "thresholds")
        return {name: getattr(found.fit, name) for name in names} | {"nearest": found.nearest()}


def answers(fitted, rows, verbs) -> dict[str, np.ndarray]:
    found = {verb: np.asarray(getattr(fitted, METHODS[verb])(rows)) for verb in verbs}
    if "score_samples" in verbs:
        found["score"] = np.asarray(fitted.score(rows))
    return found | {"sample": np.asarray(fitted.sample(DRAWN, random_state=1))}


def few(cls, *args, **options):
    """An estimator whose fit takes few passes."""
    return cls(*args, **{"max_iter": 8, "random_state": 0} | options)


ONE_STAGE = {"n_init": 2, "tol": 0.0}  # two restarts, and every pass is gone
GIBBS = hb.options.GibbsChains(n_passes=4)
TWO = hb.options.Growth(n_candidates=2)
TEMPERED = hb.options.Chains(n_chains=10, n_temperatures=3)
PLAN = {"wide_candidates": 5, "wide_active": 3, "n_passes": 6}
CODING = {"n_candidates": 4, "max_active": 2, "schedule": hb.options.Annealing(**PLAN)}
FROM_MEAN = CODING | {"schedule": hb.options.Annealing(**PLAN, start="mean", jitter=0.01)}
REAL_VERBS = ("transform", "score_samples", "complete")

CASES = {
    "independent": Case(hb.IndependentColumns(random_state=0), BLANKED, verbs=VERBS[1:]),
    "independent-weighted": Case(hb.IndependentColumns(random_state=0), BLANKED, fit=weighted, verbs=VERBS[1:]),
    "mixture": Case(few(hb.LatentClassAnalysis, 3, **ONE_STAGE)),
    "mixture-blanks": Case(few(hb.LatentClassAnalysis, 3), BLANKED),
    "mixture-weighted": Case(few(hb.LatentClassAnalysis, 3), BLANKED, fit=weighted),
    "mixture-sparse": Case(few(hb.LatentClassAnalysis, 3), csr_array(BITS)),
    "mixture-packed": Case(
        few(hb.LatentClassAnalysis, 3), hb.open_table(np.packbits(BITS, axis=1), packed=True, n_columns=BITS.shape[1])
    ),
    "mixture-online": Case(few(hb.LatentClassAnalysis, 3, online_passes=2), BLANKED),
    "mixture-pieces": Case(few(hb.LatentClassAnalysis, 3), BLANKED, fit=in_pieces),
    "logistic": Case(few(hb.LogisticPCA, 2, n_draws=50)),
    "logistic-blanks": Case(few(hb.LogisticPCA, 2, n_draws=50), BLANKED),
    "logistic-sparse": Case(few(hb.LogisticPCA, 2, n_draws=50), csr_array(BITS)),
    "logistic-variational": Case(few(hb.LogisticPCA, 2, refine=False, start="noise", n_draws=50), BLANKED),
    "logistic-pieces": Case(few(hb.LogisticPCA, 2, start="noise", n_draws=50), BLANKED, fit=in_pieces),
    "clipped": Case(hb.ClippedPCA(2, random_state=0, n_draws=50), BLANKED),
    "clipped-parallel": Case(hb.ClippedPCA("parallel", random_state=0, n_draws=50)),
    "clipped-unbiased": Case(hb.ClippedPCA(2, biases=False, smooth="all", random_state=0, n_draws=50)),
    "machine": Case(few(hb.CombinationMachine, 2, start=TWO)),
    "machine-blanks": Case(few(hb.CombinationMachine, 2, start=TWO), BLANKED),
    "machine-pursuit": Case(few(hb.CombinationMachine, 2, start="pursuit")),
    "machine-paper": Case(hb.CombinationMachine.paper(2, max_iter=8, random_state=0)),
    "machine-noise": Case(few(hb.CombinationMachine, 3, start="noise", bias=False), csr_array(BITS)),
    "machine-few-rows": Case(few(hb.CombinationMachine, 2, start_rows=50, start=TWO)),
    "machine-chains": Case(
        few(hb.CombinationMachine, 2, method="chains", start="noise", chains=TEMPERED, max_iter=4),
        asked=BITS,
    ),
    "machine-reals": Case(
        few(hb.CombinationMachine, 2, visible="reals", start="noise"), REALS, REALS, verbs=REAL_VERBS
    ),
    "coding": Case(few(hb.BinarySparseCoding, 6, **CODING, n_init=1), CODED, CODED, verbs=REAL_VERBS),
    "coding-each": Case(
        few(hb.BinarySparseCoding, 6, **FROM_MEAN, activity="each", n_init=1),
        CODED,
        blanked(CODED),
        verbs=REAL_VERBS,
    ),
    "coding-narrow": Case(few(hb.BinarySparseCoding, 6, **CODING, dtype="float32"), CODED, CODED, verbs=REAL_VERBS),
    "hidden-tree": Case(few(hb.HiddenTree, 2, first_passes=4), BLANKED),
    "noisy-or": Case(few(hb.NoisyOrNetwork, 3, **ONE_STAGE), BLANKED),
    "noisy-or-layers": Case(few(hb.NoisyOrNetwork, (3, 2), n_init=1), BLANKED),
    "noisy-or-gibbs": Case(few(hb.NoisyOrNetwork, 3, method="gibbs", chains=GIBBS, n_init=1), BLANKED),
    "noisy-or-paper": Case(hb.NoisyOrNetwork.paper((3, 2), n_epochs=2, random_state=0)),
    "topographic": Case(few(hb.TopographicMap, 2, n_points=25, n_features=8), BLANKED),
    "topographic-steps": Case(few(hb.TopographicMap, 3, n_points=64, n_features=8, batch_rows=64, max_iter=6), BLANKED),
    "trees": Case(few(hb.TreeMixture, 2, first_passes=3, n_init=2)),
    "trees-blanks": Case(few(hb.TreeMixture, 2, first_passes=3, n_init=1), BLANKED),
    "trees-sparse": Case(few(hb.TreeMixture, 2, first_passes=3, n_init=1), csr_array(BITS)),
    "tetrachoric": Pairs(BITS),
    "tetrachoric-blanks": Pairs(BLANKED),
}
