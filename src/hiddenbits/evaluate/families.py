"""The families that `compare` knows: how large each may be, with which settings, and for which columns.

A further family is one further line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import hiddenbits
from hiddenbits import Table

DOUBLING = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
NO_DENSITY = "it gives bits a probability, and these columns are real numbers: a density cannot be set beside it"
NO_PROBABILITY = "it is a density on reals, and these columns are bits: a probability cannot be set beside it"
FACTORS = "with real columns alone it is factor analysis, for which scikit-learn's stands: name it in models= to fit it"
DENSER = "it is made for a high likelihood, classes and links at once, more than to be looked at: name it in models="
TWO_SIZES = "it has two sizes, the number of maps and of dimensions: name it in models= with the maps you want"


@dataclass(frozen=True)
class Family:
    """A family of models.

    Attributes
    ----------
    name : str
        Its class, one of this library's or of `scikit-learn`'s decomposition.
    hidden : str
        What it says is hidden, in two words.
    sizes : tuple of int
        Values of n_components, the smallest first; none where there is nothing to choose.
    columns : str
        "bits" or "reals".
    settings : mapping
        Hyperparameters where they are not the class's defaults: what keeps a comparison of many fits short.
    narrow : bool
        Whether sizes stay below the number of columns.
    aside : str
        Why it is left out unless it is asked for; empty where it is not.
    """

    name: str
    hidden: str
    sizes: tuple[int, ...] = ()
    columns: str = "bits"
    settings: Mapping[str, Any] = field(default_factory=dict)
    narrow: bool = False
    aside: str = ""

    def estimator(self, seed: int) -> Any:
        """Return an estimator of the family, not fitted."""
        if hasattr(hiddenbits, self.name):
            return getattr(hiddenbits, self.name)(random_state=seed, **self.settings)
        import sklearn.decomposition

        return getattr(sklearn.decomposition, self.name)(random_state=seed, **self.settings)

    def sizes_for(self, table: Table) -> tuple[int, ...]:
        """Return the sizes that a table has room for."""
        return tuple(size for size in self.sizes if not self.narrow or size < min(table.shape))


DIMENSIONS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
UNITS = (1, 2, 3, 4, 6, 8, 12)

FAMILIES = (
    Family("IndependentBits", "nothing"),
    Family("BernoulliMixture", "classes", DOUBLING, settings={"n_init": 2, "tol": 1e-5}),
    Family(
        "LogisticPCA", "dimensions, logistic", (1, 2, 3, 4, 6, 8), settings={"tol": 1e-4, "n_draws": 200}, narrow=True
    ),
    Family("ClippedPCA", "dimensions, clipped", (1, 2, 3, 4, 6, 8, 12), narrow=True),
    Family("CombinationMachine", "units that add up", UNITS, settings={"tol": 1e-4}),
    Family("NoisyOrNetwork", "causes, any of which", UNITS),
    Family("TreeMixture", "classes, each a tree", (1, 2, 4, 8, 16), aside=DENSER),
    Family("HiddenTree", "a tree of classes", (2, 4, 8, 16), aside=DENSER),
    Family("LogisticPCAMixture", "several maps", (1, 2), aside=TWO_SIZES, narrow=True),
    Family("BinarySparseCoding", "causes that add up", (2, 4, 6, 8, 12, 16, 24, 32), columns="reals"),
    Family("PCA", "dimensions, equal noise", DIMENSIONS, columns="reals", narrow=True),
    Family("FactorAnalysis", "dimensions", DIMENSIONS, columns="reals", narrow=True),
)
BY_NAME = {family.name: family for family in FAMILIES}
THEIRS = ("PCA", "FactorAnalysis")  # scikit-learn's


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
