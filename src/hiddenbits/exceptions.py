"""Errors and warnings of hiddenbits. Errors are `ValueError`s unless stated otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from hiddenbits.quoting import PrintableError, printable

__all__ = [
    "AmbiguousColumnsError",
    "CSVDialectWarning",
    "CheckpointError",
    "ClusterError",
    "DegeneratePairsWarning",
    "DuplicateItemsWarning",
    "DuplicateRowsWarning",
    "EnvironmentChangedWarning",
    "ExcludedColumnsWarning",
    "FileError",
    "NoZerosWarning",
    "NotAtMaximumWarning",
    "PoorMixingWarning",
    "RecodedColumnsWarning",
    "SmallWeightsWarning",
    "SpilledTableWarning",
    "TableError",
    "UnknownValuesWarning",
    "UnlockedCheckpointWarning",
    "UnobservedColumnsWarning",
    "UntrustedLikelihoodError",
    "UnwrittenCheckpointWarning",
]


class TableError(PrintableError):
    """A table cannot be read as it is; the message has the problem, its place and the remedy."""

    def in_file(self, path: object) -> TableError:
        """Return the error with the name of the file before it."""
        return TableError(f"{printable(path)}: {self}")


class CellTypeError(TableError, TypeError):
    """A cell of an array is neither text nor a number; scikit-learn expects a TypeError."""


class AmbiguousColumnsError(TableError):
    """Columns can be read in several ways; the message lists the options that choose one.

    Parameters
    ----------
    message : str
        The message.
    profiles : tuple of ColumnLook
        Descriptions of all columns of the table.
    ambiguous : tuple of str
        The names of the columns that need a decision.

    Examples
    --------
    >>> import hiddenbits, pandas
    >>> frame = pandas.DataFrame({"size": ["s", "m", "l", "xl"] * 5, "a": [0, 1, 1, 0] * 5})
    >>> try:
    ...     hiddenbits.open_table(frame)
    ... except hiddenbits.exceptions.AmbiguousColumnsError as error:
    ...     print(error.ambiguous)
    ('size',)
    """

    def __init__(self, message: str, profiles: Sequence[Any] = (), ambiguous: Sequence[str] = ()) -> None:
        ValueError.__init__(self, printable(message, keep="\n"))
        self.profiles, self.ambiguous = tuple(profiles), tuple(ambiguous)

    def in_file(self, path: object) -> Self:
        """Return the error with the name of the file before it."""
        return type(self)(f"{printable(path)}: {self}", self.profiles, self.ambiguous)


class FileError(PrintableError):
    """A model file or another file of hiddenbits cannot be read or written; the message has the reason and remedy."""


class CheckpointError(PrintableError):
    """A checkpoint does not belong to this fit, or another fit is using it."""


class ClusterError(RuntimeError):
    """The cluster was lost, made no progress, or could not process a part of the table."""


class UntrustedLikelihoodError(RuntimeError):
    """The likelihood is not available, because the partition function could not be estimated well enough."""


class RecodedColumnsWarning(UserWarning):
    """Columns of two values were read as binary, and which value is 1 was guessed; `recode=` chooses it.

    Examples
    --------
    >>> import warnings, hiddenbits, pandas
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     table = hiddenbits.open_table(pandas.DataFrame({"q1": ["yes", "no", "yes"]}))
    >>> print(caught[0].message)
    Recoded as 0 and 1: yes = 1, no = 0 in 'q1'. To change this, set recode=, such as recode={'q1': {'no': 1}}.
    """


class ExcludedColumnsWarning(UserWarning):
    """Columns that cannot be binary (numbers, dates, text, ids, constants) are excluded from the model, as metadata.

    Examples
    --------
    >>> import warnings, hiddenbits, pandas
    >>> frame = pandas.DataFrame({"name": ["Ann", "Bo", "Cy", "Di", "Ed"], "a": [0, 1, 1, 0, 1]})
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     table = hiddenbits.open_table(frame)
    >>> table.names, caught[0].category.__name__
    (('a',), 'ExcludedColumnsWarning')
    """


class CSVDialectWarning(UserWarning):
    r"""A CSV file is not written with commas and in UTF-8; its dialect was inferred.

    Examples
    --------
    >>> import tempfile, pathlib, warnings, hiddenbits
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
    >>> _ = path.write_text("a;b\n0;1\n1;1\n")
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     table = hiddenbits.open_table(path)
    >>> table.names, caught[0].category.__name__
    (('a', 'b'), 'CSVDialectWarning')
    """


class SpilledTableWarning(UserWarning):
    """The rows of a query or stream, or many lists or pairs of items, were written to temporary files."""


class DuplicateItemsWarning(UserWarning):
    """An item occurs twice in one basket; it is counted once."""


class DuplicateRowsWarning(UserWarning):
    """Many rows are equal and may be copies: held-out rows are then not new, which favors large models.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from hiddenbits import evaluate
    >>> X = np.repeat(np.random.default_rng(0).integers(0, 2, (60, 12)), 10, axis=0)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     comparison = evaluate.compare(X, ["IndependentColumns"])
    >>> caught[0].category.__name__
    'DuplicateRowsWarning'
    """


class UnknownValuesWarning(UserWarning):
    """Values that did not occur in the fit were read as missing, because ``handle_unknown="missing"``.

    Examples
    --------
    >>> import pandas, warnings
    >>> from hiddenbits import IndependentColumns
    >>> model = IndependentColumns(handle_unknown="missing").fit(pandas.DataFrame({"size": ["s", "m", "l"] * 9}))
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     score = model.score(pandas.DataFrame({"size": ["m", "xl", "xl"]}))
    >>> print(caught[0].message)
    2 cells have values that did not occur in the fit and will count as missing: 'xl' (2) in 'size'.
    """


class NoZerosWarning(UserWarning):
    """The table has 1s and missing values but no 0s, so a model can only learn that every cell is 1."""


class UnobservedColumnsWarning(UserWarning):
    """All cells of some columns are missing, so nothing can be learned about them.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from hiddenbits import IndependentColumns
    >>> X = np.column_stack([np.arange(50) % 2, np.full(50, np.nan)])
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     model = IndependentColumns().fit(X)
    >>> caught[0].category.__name__
    'UnobservedColumnsWarning'
    """


class SmallWeightsWarning(UserWarning):
    """The weights add up to much less than the number of rows, so that the prior outweighs the data.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from hiddenbits import LatentClassAnalysis
    >>> X = np.random.default_rng(0).integers(0, 2, (50, 4))
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     model = LatentClassAnalysis(2, random_state=0).fit(X, sample_weight=np.full(50, 1 / 50))
    >>> caught[0].category.__name__
    'SmallWeightsWarning'
    """


class DegeneratePairsWarning(UserWarning):
    """Some pairs of columns have an empty cell, are constant or were never observed together: weak results."""


class PoorMixingWarning(UserWarning):
    """Chains mixed too slowly for reliable estimates."""


class NotAtMaximumWarning(UserWarning):
    """Estimates are not at the maximum of the likelihood of this table, which standard errors assume.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from hiddenbits import LatentClassAnalysis, inference
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 3))
    >>> model = LatentClassAnalysis(1, prior_strength=0, random_state=0).fit(X)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     _ = inference.standard_errors(model, 1 - X)  # another table
    >>> caught[0].category.__name__
    'NotAtMaximumWarning'
    """


class EnvironmentChangedWarning(UserWarning):
    """Package versions or the processor differ from before, or between workers: last digits may differ."""


class UnlockedCheckpointWarning(UserWarning):
    """The file system of a checkpoint has no locks: a second fit could use the same file."""


class UnwrittenCheckpointWarning(UserWarning):
    """A checkpoint could not be written, for example because the disk is full: the fit continues without it."""
