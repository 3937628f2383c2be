"""`ClippedPCA`: binary factor analysis by thresholded Gaussian variables."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import AnyArray, Floats, Randomness
from hiddenbits.data import Table
from hiddenbits.display import SummaryTable
from hiddenbits.engine import one_blas_thread
from hiddenbits.exceptions import TableError
from hiddenbits.families._base.inputs import as_table
from hiddenbits.families._base.latent_space import LatentSpaceEstimator
from hiddenbits.families._base.parameters import COMMON, DRAWS, HiddenParts
from hiddenbits.families._base.showing import spectrum_table
from hiddenbits.families.clipped_pca.model import Clipped, ClippedRaw
from hiddenbits.families.clipped_pca.params import ClippedParams, ClippedStats
from hiddenbits.maths.pair_counts import block_rows, refuse_width
from hiddenbits.model_api import RowModel


class ClippedPCA(LatentSpaceEstimator[ClippedParams, ClippedStats]):
    """Binary factor analysis by thresholded Gaussian variables (clipped PCA): tetrachoric correlations, factored.

    y ~ N(0, I); a column has a latent variable w.y + noise of variance 1, and is 1 if that is above the threshold of
    the column (Lee and Sompolinsky 1998; a probit factor model). The fit takes one pass over the table: it counts how
    often two columns are both 1, estimates the correlations of the latent variables from the counts (`tetrachoric`),
    and factors them. It does not maximize the likelihood, but column means are exact. Missing values are excluded pair
    by pair, which is right if they are missing completely at random. Counts add up: after `partial_fit` of several
    batches, the fit is the same as to all rows at once.

    With up to three dimensions the likelihood and posterior are integrated on a grid, if a sufficiently fine one is
    small enough. Otherwise likelihoods are estimated by importance sampling from the Gaussian approximation of
    expectation propagation, whose means are accurate to a few thousandths of a posterior standard deviation.

    Parameters
    ----------
    n_components : int or "parallel", default=2
        Number of dimensions. "parallel" is the number of eigenvalues above the 95% quantiles of tables with independent
        columns (Horn's parallel analysis). `evaluate.held_out_cells` compares numbers by held-out cells.
    biases : bool, default=True
        Whether each column has its own threshold. False is the paper's first model, for columns that are 1 half of
        the time: correlations are sin(pi <s_i s_j> / 2), s = -1 or 1, and thresholds are 0.
    pseudo_rows : float, default=1.0
        Pseudo-rows in which two columns are independent, added to the table of a pair that has an empty cell. More of
        them shrink such correlations further from -1 and 1. Without biases none are needed.
    smooth : {"empty", "all"}, default="empty"
        Pairs to which pseudo-rows are added: those with an empty cell, or all.
    max_communality : float, default=0.95
        The largest share of a latent variable's variance that the dimensions may explain; the rest is noise. With 1
        a column may have no noise, as in the paper. Such a model can be sampled from, but has no posteriors.
    factor_steps : int, default=5
        Steps of principal-axis factoring after PCA. Principal components contain a part of each column's own noise:
        negligible with hundreds of columns, but with five or ten so much that plain PCA (0 steps, as in the paper) may
        be worse than independent columns. Very many steps may drive a column to `max_communality`.
    n_draws : int, default=200
        Draws per row where `score_samples` uses importance sampling.
    threshold : float, optional
        Binarize numbers: 1 if above the threshold. By default only 0 and 1 are accepted.
    random_state : int, RandomState or None, default=None
        Seed of samples and of parallel analysis.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, columns)
        Loadings w: correlations of the latent variables with the dimensions.
    intercepts_ : ndarray of shape (columns,)
        Phi^-1(P(x = 1)): minus the thresholds.
    noise_variances_ : ndarray of shape (columns,)
        Unique variance of each latent variable, 1 - |w|^2.
    correlation_ : ndarray of shape (columns, columns)
        Correlations of the latent variables, estimated pair by pair.
    corrected_correlation_ : ndarray of shape (columns, columns)
        The same, made positive definite.
    spectrum_, bit_spectrum_ : ndarray
        Eigenvalues of `correlation_`, and of the covariances of the binary columns coded as -1 and 1, largest first,
        without columns that do not vary. Negative eigenvalues are not evidence against the model: with a few hundred
        rows many are due to chance.
    chance_spectrum_ : ndarray or None
        With "parallel", the 95% quantiles of the eigenvalues under independence.
    n_components_ : int
        Number of dimensions.
    trace_ : ndarray of shape (1,)
        Pairwise log-likelihood of the fit, in nats over the table: of each column with another, averaged over the
        others. It does not depend on more than two columns at a time.
    n_iter_, converged_, stop_reason_, restarts_
        As in `LatentClassAnalysis`.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    See Also
    --------
    LogisticPCA : Logistic instead of probit.
    ItemResponseModel : Item response models, by maximum likelihood.
    tetrachoric : The correlations, with standard errors.

    References
    ----------
    Lee and Sompolinsky (1998), "Learning a continuous hidden variable model for binary data".

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import ClippedPCA
    >>> position = np.random.default_rng(0).standard_normal((2000, 1))
    >>> noise = np.random.default_rng(1).standard_normal((2000, 6))
    >>> X = (0.8 * position + 0.6 * noise > [-1, -0.5, 0, 0, 0.5, 1]).astype(float)
    >>> X[0, 1] = np.nan                      # missing
    >>> model = ClippedPCA("parallel", random_state=0).fit(X)
    >>> model.n_components_
    1
    >>> model.spectrum_[:2].round(1)          # about 1 + 5 * .64 and 1 - .64
    array([4.3, 0.4])
    >>> model.transform(X).shape
    (2000, 1)
    >>> bool(abs(model.sample(50_000, random_state=0).mean(axis=0) - np.nanmean(X, axis=0)).max() < 0.01)
    True
    """

    _objective_name = None  # a pairwise log-likelihood
    _model_class: ClassVar[type[Clipped]] = Clipped
    _hidden_parts: ClassVar[tuple[HiddenParts, ...]] = (HiddenParts("dimensions", "columns"),)
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **COMMON,
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"parallel"})],
        "biases": ["boolean"],
        "pseudo_rows": [Interval(Real, 0, None, closed="neither")],
        "smooth": [StrOptions({"empty", "all"})],
        "max_communality": [Interval(Real, 0, 1, closed="right")],
        "factor_steps": [Interval(Integral, 0, None, closed="left")],
        "n_draws": DRAWS,
    }

    def __init__(
        self,
        n_components: int | Literal["parallel"] = 2,
        *,
        biases: bool = True,
        pseudo_rows: float = 1.0,
        smooth: Literal["empty", "all"] = "empty",
        max_communality: float = 0.95,
        factor_steps: int = 5,
        n_draws: int = 200,
        threshold: float | None = None,
        random_state: Randomness = None,
    ) -> None:
        self.n_components = n_components
        self.biases = biases
        self.pseudo_rows = pseudo_rows
        self.smooth = smooth
        self.max_communality = max_communality
        self.factor_steps = factor_steps
        self.n_draws = n_draws
        self.threshold = threshold
        self.random_state = random_state

    @classmethod
    def paper(cls, n_components: int = 16, *, biases: bool = True, random_state: Randomness = None) -> ClippedPCA:
        """Return clipped PCA with the method of Lee and Sompolinsky, for reproductions.

        It uses the leading eigenvectors of the uncorrected correlations, with negative eigenvalues, and no noise: the
        latent position determines a row. Such a model can be sampled from, and column means are exact, but most real
        rows have probability 0 and no posterior: `transform` and `score_samples` raise an error. The defaults of the
        class are better. The fitted model is saved as an ordinary `ClippedPCA`.

        Parameters
        ----------
        n_components : int
            Number of dimensions: 16 for the handwritten twos, 2 for the bump on a ring.
        biases : bool
            Whether each column has its own threshold (equations 8 to 10), or none (equations 2 to 7).
        random_state : int, RandomState or None
            Seed of samples.

        Examples
        --------
        >>> import numpy as np
        >>> from hiddenbits import ClippedPCA
        >>> ring = np.array([np.roll(np.arange(8) < 4, shift) for shift in range(8)], int)
        >>> model = ClippedPCA.paper(2, biases=False, random_state=0).fit(ring)
        >>> model.spectrum_.round(6) + 0.0              # the paper's first example: two dimensions
        array([4., 4., 0., 0., 0., 0., 0., 0.])
        >>> {tuple(row) for row in model.sample(200).tolist()} == {tuple(row) for row in ring.tolist()}
        True
        """
        return _PaperPCA(n_components, biases=biases, random_state=random_state)

    def _model(self) -> Clipped:
        return self._model_class(
            n_components=self.n_components,
            biases=self.biases,
            pseudo_rows=self.pseudo_rows,
            smooth=self.smooth,
            cap=self.max_communality,
            factor_steps=self.factor_steps,
            n_draws=self.n_draws,
            seed=self._sampling_seed,
        )

    def _pass_height(self, model: RowModel[ClippedParams, ClippedStats], table: Table) -> int:
        refuse_width(table.shape[1], type(self).__name__)
        return block_rows(table.shape[1], table.source.row_cells)

    def _standardized(self) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore"):  # without noise the slope of a column is infinite
            return self._params.loadings, 1.0 / np.sqrt(self._params.noise)

    def _tables(self) -> dict[str, SummaryTable]:
        return {
            "spectrum": spectrum_table(self.spectrum_, self.chance_spectrum_),
            "loadings": self._loadings(),
        }

    @property
    def components_(self) -> Floats:
        """Loadings, (n_components_, columns)."""
        return self._params.loadings.T

    @property
    def intercepts_(self) -> Floats:
        """Phi^-1(P(x = 1)) of each column."""
        return self._params.biases

    @property
    def noise_variances_(self) -> Floats:
        """Unique variance of each latent variable."""
        return self._params.noise

    @property
    def correlation_(self) -> Floats:
        """Correlations of the latent variables, estimated pair by pair."""
        return self._params.correlation

    @property
    def corrected_correlation_(self) -> Floats:
        """Correlations of the latent variables, made positive definite."""
        check_is_fitted(self, "_params")
        with one_blas_thread():
            return self._model().corrected(self._params)

    @property
    def spectrum_(self) -> Floats:
        """Eigenvalues of the correlations of the latent variables."""
        return self._params.spectrum

    @property
    def bit_spectrum_(self) -> Floats:
        """Eigenvalues of the covariances of the binary columns, coded as -1 and 1."""
        return self._params.bit_spectrum

    @property
    def chance_spectrum_(self) -> Floats | None:
        """The 95% quantiles of the eigenvalues under independence; None without parallel analysis."""
        chance: Floats = self._params.chance
        return chance if len(chance) else None

    @property
    def n_components_(self) -> int:
        """Number of dimensions."""
        return int(self._params.n_components)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters; rotations of the dimensions are not identified."""
        q = self.n_components_
        return self.n_features_in_ * (q + int(self.biases)) - q * (q - 1) // 2

    @property
    def _likelihood_kind(self) -> str:
        """What `score_samples` returns: "exact" or "estimate"."""
        check_is_fitted(self, "_params")
        return "estimate" if self._model().rule(self._params) is None else "exact"

    def sample(
        self,
        n_samples: int = 1,
        *,
        full: bool = False,
        return_latent: bool = False,
        random_state: Randomness = None,
    ) -> Any:
        """Sample new rows from the fitted model; the expected column means are those of the fit.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        full : bool, default=False
            Use all of `corrected_correlation_`, not only the leading dimensions: the correlations of pairs are then
            as close to the table's as possible in such a model.
        return_latent : bool, default=False
            Return the latent positions too.
        random_state : int, RandomState or None
            Seed of the sample; by default that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, columns) of uint8
        latent : ndarray of shape (n_samples, n_components)
            Only with `return_latent`; with `full` it has a dimension for each column.
        """
        if not full:
            return super().sample(n_samples, return_latent=return_latent, random_state=random_state)
        root = np.asarray(np.linalg.cholesky(self.corrected_correlation_), np.float64)
        sampler = partial(self._model().sample_all, self._params, root)
        return self._sample(sampler, n_samples, random_state, return_latent)

    def morph(self, a: Any, b: Any, steps: int = 9, *, soft: bool = False) -> AnyArray:
        """Return rows between two rows, along the straight line between their latent positions.

        Each cell changes at most once. The first and the last row are reconstructions (the side of each threshold on
        which `transform` is), which may differ from the rows themselves.

        Parameters
        ----------
        a, b : array of shape (columns,), or table of one row
            The rows; they may have missing values.
        steps : int, default=9
            Number of rows to return, including both ends.
        soft : bool, default=False
            Return P(x = 1) instead of 0 and 1.

        Returns
        -------
        rows : ndarray of shape (steps, columns)
            Of uint8, or of float64 with `soft`.

        Examples
        --------
        >>> import numpy as np
        >>> from hiddenbits import ClippedPCA
        >>> position, noise = (np.random.default_rng(seed).standard_normal((500, 5)) for seed in (0, 1))
        >>> X = (position[:, :1] + 0.3 * noise > [-1, -0.5, 0, 0.5, 1]).astype(int)
        >>> ClippedPCA(1).fit(X).morph([0, 0, 0, 0, 0], [1, 1, 1, 1, 1], steps=6)
        array([[0, 0, 0, 0, 0],
               [1, 0, 0, 0, 0],
               [1, 1, 0, 0, 0],
               [1, 1, 1, 0, 0],
               [1, 1, 1, 1, 0],
               [1, 1, 1, 1, 1]], dtype=uint8)
        """
        if steps < 2:
            raise ValueError(f"steps={steps}: at least 2 are needed, the two ends.")
        tables = [as_table(self, np.asarray(row)[None] if np.ndim(row) == 1 else row, reset=False) for row in (a, b)]
        for table, name in zip(tables, "ab", strict=True):
            if table.shape[0] != 1:
                raise TableError(f"{name} has {table.shape[0]} rows. Specify one row.")
        ends = np.concatenate([self.transform(table) for table in tables])
        fractions = np.linspace(0.0, 1.0, steps)[:, None]
        if soft:
            return self._reconstruct(ends[:1] + fractions * (ends[1:] - ends[:1]))
        # Interpolate the latent variables, not the positions: rounding could change a cell back and forth.
        first, last = ends @ self.components_ + self.intercepts_
        return np.asarray(first + fractions * (last - first) > 0.0, np.uint8)


class _PaperPCA(ClippedPCA):
    """The estimator of `ClippedPCA.paper`; its hyperparameters are those that the paper varies."""

    _saved_as = ClippedPCA
    _model_class = ClippedRaw
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "biases": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(self, n_components: int = 16, *, biases: bool = True, random_state: Randomness = None) -> None:
        fixed: Any = {"max_communality": 1.0, "factor_steps": 0}
        super().__init__(n_components, biases=biases, **fixed, random_state=random_state)
