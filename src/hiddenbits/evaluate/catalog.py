"""The families of models: their descriptions, and what `compare` needs to know (sizes, type of the columns).

The command line and the report use the same descriptions. To add a family, add an entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

import hiddenbits
from hiddenbits.evaluate.measures import PIECE_CELLS
from hiddenbits.tables import Piece, Table, map_pieces

CLASS_COUNTS = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
NO_DENSITY = "it models binary data, and these columns are continuous: a probability cannot be compared with a density"
NO_TYPES = "it models binary columns only, and some of these are not binary"
NO_PROBABILITY = "it models real numbers, and these columns are binary: a density cannot be compared with a probability"
HOW_TO_ADD = "add it with models=[...] (--model)"
NOT_DEFAULT = f"not fitted by default, because it is meant for a high likelihood, not for interpretation; {HOW_TO_ADD}"


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of models: its description, and how `compare` fits it.

    Attributes
    ----------
    name : str
        Name of its class, in this library or in `sklearn.decomposition`.
    word : str
        Its name on the command line; empty if it does not fit binary data.
    hidden : str
        The hidden structure, in a few technical words.
    picture : str
        The name of the model in the report.
    says : str
        What the model assumes about the rows and columns.
    unit : str
        What its size counts; empty if it has no size.
    use : str
        Typical applications.
    sizes : tuple of int
        Values of n_components to try, the smallest first.
    columns : str
        "bits" or "reals".
    narrow : bool
        Whether sizes must stay below the number of rows and of columns.
    most_columns : int
        With more columns the family is excluded by default; 0 for no limit.
    most_states : int
        In a table with missing values, sizes are excluded if rows x columns x 2^size is larger; 0 for no limit.
    exclusion_reason : str
        Why the family is excluded by default; empty if it is not.

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> family = evaluate.known_families()["NoisyOrNetwork"]
    >>> family.word, family.picture, family.unit
    ('causes', 'several causes', 'cause')
    """

    name: str
    word: str = ""
    hidden: str
    picture: str = ""
    says: str = ""
    unit: str = ""
    use: str = ""
    sizes: tuple[int, ...] = ()
    columns: str = "bits"
    narrow: bool = False
    most_columns: int = 0
    most_states: int = 0
    exclusion_reason: str = ""

    def estimator(self, seed: int) -> Any:
        """Return an unfitted estimator of the family."""
        if hasattr(hiddenbits, self.name):
            return getattr(hiddenbits, self.name)(random_state=seed)
        import sklearn.decomposition

        return getattr(sklearn.decomposition, self.name)(random_state=seed)

    def sizes_for(self, table: Table) -> tuple[int, ...]:
        """Return the sizes to try on a table."""
        n, d = table.shape
        sizes = tuple(size for size in self.sizes if not self.narrow or size < min(n, d))
        small = tuple(size for size in sizes if not self.most_states or n * d * 2**size <= self.most_states)
        return small if len(small) < len(sizes) and table.only_bits and _has_missing_values(table) else sizes


DIMENSION_COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
UNIT_COUNTS = (1, 2, 3, 4, 6, 8, 12)

FAMILIES = (
    Family(
        name="IndependentColumns",
        word="independent",
        hidden="nothing",
        picture="nothing hidden",
        says="the columns are independent of each other",
        use="the baseline that every other model must beat",
    ),
    Family(
        name="LatentClassAnalysis",
        word="classes",
        hidden="classes",
        picture="latent classes",
        says="every row belongs to one class, and each class has its own probability of a 1 in every column",
        unit="class",
        use="groups of customers, patients, texts",
        sizes=CLASS_COUNTS,
    ),
    Family(
        name="ItemResponseModel",
        word="scale",
        hidden="a scale",
        picture="a scale",
        says="every row has a position on one to three scales, and the answers in every column depend on it",
        unit="dimension",
        use="tests and Likert scales; columns of every type",
        sizes=(1, 2, 3),
        narrow=True,
        exclusion_reason=f"not fitted by default to binary columns, because LogisticPCA is; {HOW_TO_ADD}",
    ),
    Family(
        name="LogisticPCA",
        word="logistic",
        hidden="dimensions, logistic",
        picture="latent dimensions",
        says="every row has a position on a few latent dimensions, such as ability",
        unit="dimension",
        use="tests, surveys, votes; plots of rows",
        sizes=(1, 2, 3, 4, 6, 8),
        narrow=True,
    ),
    Family(
        name="ClippedPCA",
        word="clipped",
        hidden="dimensions, clipped",
        picture="latent dimensions, clipped",
        says="every row has a position on a few latent dimensions, and each column is 1 above a threshold",
        unit="dimension",
        use="tetrachoric correlations; one pass over any number of rows",
        sizes=(1, 2, 3, 4, 6, 8, 12),
        narrow=True,
        most_columns=500,  # a fit computes the correlation of every pair
    ),
    Family(
        name="CombinationMachine",
        word="influences",
        hidden="units that add up",
        picture="hidden units",
        says="several hidden units are on or off, and raise or lower the odds of a 1 in each column",
        unit="hidden unit",
        use="spikes, traits, features",
        sizes=UNIT_COUNTS,
        most_columns=200,  # a fit grows unit by unit and would take most of the time of a comparison
        most_states=200_000_000,  # a row with missing values is summed over all states
    ),
    Family(
        name="NoisyOrNetwork",
        word="causes",
        hidden="causes, noisy OR",
        picture="several causes",
        says="several hidden causes are on or off, and each that is on can make a column 1",
        unit="cause",
        use="diagnoses, baskets, words",
        sizes=UNIT_COUNTS,
    ),
    Family(
        name="TreeMixture",
        word="trees",
        hidden="classes, each a tree",
        picture="latent classes, each with a tree",
        says="every row belongs to one class, and within a class the columns depend on each other along a tree",
        unit="class",
        use="a high likelihood",
        sizes=(1, 2, 4, 8, 16),
        exclusion_reason=NOT_DEFAULT,
    ),
    Family(
        name="HiddenTree",
        word="hidden-tree",
        hidden="a latent tree",
        picture="a latent tree",
        says="every column depends on a latent variable, and the latent variables form a tree",
        unit="state",
        use="a high likelihood",
        sizes=(2, 4, 8, 16),
        exclusion_reason=NOT_DEFAULT,
    ),
    Family(
        name="TopographicMap",
        word="curved-map",
        hidden="dimensions, curved",
        picture="a curved latent space",
        says="every row has a position in a latent space, where the probabilities of all columns change smoothly",
        unit="dimension",
        use="plots of clusters and curves; a high likelihood",
        sizes=(1, 2, 4, 8, 16),
        exclusion_reason=NOT_DEFAULT,
    ),
    Family(
        name="BinarySparseCoding",
        hidden="causes that add up",
        sizes=(2, 4, 6, 8, 12, 16, 24, 32),
        columns="reals",
    ),
    Family(name="PCA", hidden="dimensions, equal noise", sizes=DIMENSION_COUNTS, columns="reals", narrow=True),
    Family(name="FactorAnalysis", hidden="dimensions", sizes=DIMENSION_COUNTS, columns="reals", narrow=True),
)
BY_NAME = {family.name: family for family in FAMILIES}
SKLEARN_FAMILIES = ("PCA", "FactorAnalysis")


def known_families() -> dict[str, Family]:
    """Return the families of models by class name: the description of each, and how `compare` fits it.

    Returns
    -------
    families : dict of str to Family

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> evaluate.known_families()["LatentClassAnalysis"].says
    'every row belongs to one class, and each class has its own probability of a 1 in every column'
    """
    return dict(BY_NAME)


def exclusion_reason(family: Family, table: Table, estimator: BaseEstimator, *, named: bool) -> str | None:
    """Return why a family is excluded from a comparison on this table; None if it is included.

    A family that could be fitted but is excluded by default is included if it was `named`.
    """
    models_reals = getattr(estimator, "visible", family.columns) == "reals"
    if table.coding_of_levels is not None and getattr(estimator, "column_types", None) is None:
        return NO_TYPES
    if table.only_bits:
        return NO_PROBABILITY if models_reals else (None if named else _default_exclusion(family, table))
    if not models_reals:
        return NO_DENSITY
    if family.name in SKLEARN_FAMILIES and not (table.weights is None and not table.n_missing):
        return "scikit-learn's estimator supports neither missing values nor weights"
    return None


def _has_missing_values(table: Table) -> bool:
    """Whether a cell of a binary table was not observed."""

    def is_incomplete(piece: Piece) -> bool:
        rows, columns = piece.table.shape
        _, observed = piece.table.source.read(0, rows)
        return bool(observed.row_sums().sum() < rows * columns)

    return any(map_pieces(is_incomplete, table, max(1, PIECE_CELLS // table.row_size)))


def _default_exclusion(family: Family, table: Table) -> str | None:
    """Return why a family that could be fitted is excluded by default; None if it is not."""
    if family.most_columns and table.shape[1] > family.most_columns:
        return f"its fits take long with more than {family.most_columns} columns; {HOW_TO_ADD}"
    all_binary = table.coding_of_levels is None
    return family.exclusion_reason or None if all_binary else None
