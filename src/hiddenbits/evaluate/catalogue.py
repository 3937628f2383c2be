"""The families of models in words, and what `compare` knows of them: sizes, and for which columns they are.

The command line and the report speak of models in these words too. A further family is one further entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import hiddenbits
from hiddenbits import Table

CLASSES = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
NO_DENSITY = "it gives bits a probability, and these columns are real numbers: a density cannot be set beside it"
NO_PROBABILITY = "it is a density on reals, and these columns are bits: a probability cannot be set beside it"
FACTORS = "with real columns alone it is factor analysis, for which scikit-learn's stands: name it in models= to fit it"
DENSER = "it is made for a high likelihood, classes and links at once, more than to be looked at: name it in models="
TWO_SIZES = "it has two sizes, the number of maps and of dimensions: name it in models= with the maps you want"


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of models, in words and as `compare` takes it.

    Attributes
    ----------
    name : str
        Its class, one of this library's or of `scikit-learn`'s decomposition.
    word : str
        What the command line calls it; empty where it does not fit tables of bits alone.
    hidden : str
        What it says is hidden, in two words.
    picture : str
        The same, as people say it who know no models.
    says : str
        What it says of a table.
    unit : str
        What its size counts; empty where there is nothing to choose.
    use : str
        What it is good for.
    sizes : tuple of int
        Values of n_components that are tried, the smallest first.
    columns : str
        "bits" or "reals".
    narrow : bool
        Whether sizes stay below the number of columns.
    aside : str
        Why it is left out unless it is asked for; empty where it is not.

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> one = evaluate.known_families()["NoisyOrNetwork"]
    >>> one.word, one.picture, one.unit
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
    aside: str = ""

    def estimator(self, seed: int) -> Any:
        """Return an estimator of the family, not fitted."""
        if hasattr(hiddenbits, self.name):
            return getattr(hiddenbits, self.name)(random_state=seed)
        import sklearn.decomposition

        return getattr(sklearn.decomposition, self.name)(random_state=seed)

    def sizes_for(self, table: Table) -> tuple[int, ...]:
        """Return the sizes that a table has room for."""
        return tuple(size for size in self.sizes if not self.narrow or size < min(table.shape))


DIMENSIONS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
UNITS = (1, 2, 3, 4, 6, 8, 12)

FAMILIES = (
    Family(
        name="IndependentBits",
        word="independent",
        hidden="nothing",
        picture="nothing hidden",
        says="every column goes its own way",
        use="the baseline that every other picture must beat",
    ),
    Family(
        name="BernoulliMixture",
        word="classes",
        hidden="classes",
        picture="kinds of rows",
        says="every row is of one kind, and kinds differ in their shares of ones",
        unit="kind",
        use="kinds of customers, patients, texts",
        sizes=CLASSES,
    ),
    Family(
        name="LogisticPCA",
        word="logistic",
        hidden="dimensions, logistic",
        picture="a few scales",
        says="every row has a place on a few scales, such as ability",
        unit="scale",
        use="tests, surveys, votes; maps for the eye",
        sizes=(1, 2, 3, 4, 6, 8),
        narrow=True,
    ),
    Family(
        name="ClippedPCA",
        word="clipped",
        hidden="dimensions, clipped",
        picture="a few scales, clipped",
        says="every row has a place on a few scales, and a bit tells whether a threshold is passed",
        unit="scale",
        use="tetrachoric correlations; one pass over any number of rows",
        sizes=(1, 2, 3, 4, 6, 8, 12),
        narrow=True,
    ),
    Family(
        name="CombinationMachine",
        word="influences",
        hidden="units that add up",
        picture="several influences",
        says="influences that are on or off raise and lower bits",
        unit="influence",
        use="spikes, traits, features",
        sizes=UNITS,
    ),
    Family(
        name="NoisyOrNetwork",
        word="causes",
        hidden="causes, any of which",
        picture="several causes",
        says="causes that are on or off switch bits on",
        unit="cause",
        use="diagnoses, baskets, words",
        sizes=UNITS,
    ),
    Family(
        name="TreeMixture",
        word="trees",
        hidden="classes, each a tree",
        picture="kinds of rows, with links",
        says="every row is of one kind, and in each kind columns are linked to each other",
        unit="kind",
        use="a high likelihood",
        sizes=(1, 2, 4, 8, 16),
        aside=DENSER,
    ),
    Family(
        name="HiddenTree",
        word="hidden-tree",
        hidden="a tree of classes",
        picture="a tree of hidden states",
        says="behind every column is a state, and a tree of links ties the states together",
        unit="state",
        use="a high likelihood",
        sizes=(2, 4, 8, 16),
        aside=DENSER,
    ),
    Family(
        name="LogisticPCAMixture",
        word="maps",
        hidden="several maps",
        picture="several maps",
        says="every row is of one kind, and each kind has a few scales of its own",
        unit="scale",
        use="maps of tables in which several kinds of rows are mixed",
        sizes=(1, 2),
        aside=TWO_SIZES,
        narrow=True,
    ),
    Family(
        name="BinarySparseCoding",
        hidden="causes that add up",
        sizes=(2, 4, 6, 8, 12, 16, 24, 32),
        columns="reals",
    ),
    Family(name="PCA", hidden="dimensions, equal noise", sizes=DIMENSIONS, columns="reals", narrow=True),
    Family(name="FactorAnalysis", hidden="dimensions", sizes=DIMENSIONS, columns="reals", narrow=True),
)
BY_NAME = {family.name: family for family in FAMILIES}
THEIRS = ("PCA", "FactorAnalysis")  # scikit-learn's


def known_families() -> dict[str, Family]:
    """Return the families of models by the names of their classes: in words, and as `compare` takes them.

    Returns
    -------
    families : dict of str to Family

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> evaluate.known_families()["BernoulliMixture"].says
    'every row is of one kind, and kinds differ in their shares of ones'
    """
    return dict(BY_NAME)


def obstacle(family: Family, table: Table, estimator: Any, *, named: bool) -> str | None:
    """Return why a family cannot be set beside the others on this table; None where it can.

    What could be fitted but is left out by default is fitted where it was `named`.
    """
    reals = getattr(estimator, "visible", family.columns) == "reals"
    if table.only_bits:
        return NO_PROBABILITY if reals else (None if named else family.aside or None)
    kinds = {column.kind for column in table.layout.columns}  # type: ignore[attr-defined]
    if kinds != {"real"}:
        others = f"these columns are {', '.join(sorted(kinds))}: of all families only LogisticPCA takes them together"
        return None if family.name == "LogisticPCA" else others
    plain = table.weights is None and not table.n_missing
    if family.name == "LogisticPCA":
        return FACTORS if plain and not named else None
    if not reals:
        return NO_DENSITY
    if family.name in THEIRS and not plain:
        return "scikit-learn's takes neither blanks nor weights: LogisticPCA, which here is factor analysis, does"
    return None
