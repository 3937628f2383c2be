"""What `LogisticPCA` does with tables whose columns are of several kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiddenbits.array_types import AnyArray, Floats, Randomness
from hiddenbits.data import Table, TableError
from hiddenbits.data.mixed.cells import MixedTable
from hiddenbits.data.mixed.layout import Layout, asked_kinds
from hiddenbits.data.request import Request
from hiddenbits.engine import Key
from hiddenbits.families._base.inputs import as_table, seed_of
from hiddenbits.families._base.transformer import CodingEstimator
from hiddenbits.families.logistic_pca.mixed.frames import frame_of, table_of
from hiddenbits.families.logistic_pca.mixed.rows import Drawn
from hiddenbits.store.validation import require


class MixedVerbs(CodingEstimator[Any, Any]):  # of bits or of several kinds of columns
    """The verbs of an estimator that takes mixed tables as well as bits; bits go the usual way."""

    kinds: Any
    params_: Any
    layout_: Layout | None

    @property
    def _mixed(self) -> Layout | None:
        """The columns of the fit where they are of several kinds, else None."""
        return getattr(self, "layout_", None)

    def _units(self) -> tuple[Floats, Floats]:
        """Return shift and scale of every activation of a mixed table: 0 and 1 but for real columns."""
        shift, scale = np.zeros(self.params_.n_columns), np.ones(self.params_.n_columns)
        layout = self._mixed
        assert layout is not None  # noqa: S101
        reals = slice(layout.n_bits, layout.n_bits + len(layout.real_columns))
        shift[reals], scale[reals] = self.params_.shift, self.params_.scale
        return shift, scale

    @property
    def activation_names_(self) -> list[str] | None:
        """What the loadings of a mixed table belong to; None after a fit to a table of bits."""
        check_is_fitted(self, "params_")
        return None if self._mixed is None else self._mixed.labels()

    @property
    def noise_variances_(self) -> dict[str, float] | None:
        """The noise variance of each real column; None after a fit to a table of bits."""
        check_is_fitted(self, "params_")
        if self._mixed is None:
            return None
        names = [self._mixed.columns[j].name for j in self._mixed.real_columns]
        return dict(zip(names, (self.params_.noise * self.params_.scale**2).tolist(), strict=True))

    @property
    def kinds_(self) -> dict[str, str] | None:
        """The kind of each column by name, as given or inferred; None after a fit to a table of bits."""
        check_is_fitted(self, "params_")
        return None if self._mixed is None else {column.name: column.kind for column in self._mixed.columns}

    @property
    def categories_(self) -> dict[str, list[Any]] | None:
        """The categories of each nominal and ordered column by name; None after a fit to a table of bits."""
        check_is_fitted(self, "params_")
        if self._mixed is None:
            return None
        return {column.name: list(column.categories) for column in self._mixed.columns if column.has_categories}

    def _request(self, *, reset: bool) -> Request:
        kinds = ("auto" if self.kinds is None else self.kinds) if reset else self._mixed
        infers = isinstance(kinds, str) and kinds == "auto"
        if self.threshold is not None and kinds is not None and not infers:
            raise ValueError("threshold= turns numbers into bits, but kinds= keeps them. Give one of the two.")
        return Request(threshold=self.threshold, kinds=kinds if self.threshold is None else None)

    def _accept(self, table: Table, *, reset: bool) -> None:
        layout = table.layout if isinstance(table, MixedTable) else None
        if reset:
            self._agree(table, layout)
            self.layout_ = layout
        elif layout is None and self._mixed is not None:
            raise TableError(
                "This table has bits, but the model was fitted to several kinds of columns. Open it with kinds=."
            )
        elif layout != self._mixed:
            raise TableError(
                "The columns, kinds or categories differ from those of the fit. Open the table with open_table(..., "
                "kinds=model), where model is the fitted one."
            )

    def _agree(self, table: Table, layout: Layout | None) -> None:
        """Refuse a table that was opened with other kinds than this estimator asks for."""
        if self.kinds is None or (isinstance(self.kinds, str) and self.kinds == "auto"):
            return
        if layout is None:
            names = table.names or tuple(f"x{j}" for j in range(table.shape[1]))
            opened = dict.fromkeys(names, "binary")
        else:
            opened = {column.name: column.kind for column in layout.columns}
        for asked, (name, kind) in zip(asked_kinds(self.kinds, list(opened)), opened.items(), strict=True):
            if asked not in (None, kind):
                raise TableError(
                    f"kinds= gives {asked!r} for column {name!r}, but the table was opened with kind {kind}. Give "
                    "kinds= to open_table."
                )

    def complete(self, X: object) -> Any:
        """Fill in the missing cells from the row's observed ones; observed cells stay as they are.

        A missing bit becomes P(bit = 1), a missing real number its mean, a missing category the most probable one;
        see `category_probabilities` for how probable it is.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        completed : ndarray of shape (rows, columns), or a frame where X is one
            Of an opened mixed table a frame like that of the fit; Arrow's, where the fit was to Parquet files.
        """
        check_is_fitted(self, "params_")
        layout = self._mixed
        if layout is None:
            return super().complete(X)
        table, answers = self._answers(X, layout)
        observed = table.values()
        columns: dict[int, AnyArray] = {}
        for j, column in enumerate(layout.columns):
            given, seen = observed[j]
            if column.kind == "binary":
                columns[j] = np.where(seen, given, answers[j][:, 1])
            elif column.kind == "real":
                columns[j] = np.where(seen, given, answers[j][:, 0])
            else:
                columns[j] = np.where(seen, given, answers[j].argmax(axis=1)).astype(np.int64)
        return table_of(layout, columns, X if not isinstance(X, MixedTable) else None)

    def category_probabilities(self, X: object) -> dict[str, Floats]:
        """Return the probability of every category of the nominal and ordered columns, given the row's observed cells.

        An observed cell has probability 1 for its category.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        probabilities : dict of str to ndarray of shape (rows, categories)
            By column; the categories are in the order of `categories_`.
        """
        check_is_fitted(self, "params_")
        layout = self._mixed
        if layout is None:
            raise ValueError("The model was fitted to bits, which have no categories: use complete.")
        table, answers = self._answers(X, layout)
        observed = table.values()
        out = {}
        for j, column in enumerate(layout.columns):
            if column.has_categories:
                given, seen = observed[j]
                known = np.eye(len(column.categories))[np.where(seen, given, 0).astype(np.intp)]
                out[column.name] = np.where(seen[:, None], known, answers[j])
        return out

    def _answers(self, X: object, layout: Layout) -> tuple[MixedTable, list[Floats]]:
        """Return X as a table, and what the model says about each of its columns."""
        table = as_table(self, X, reset=False)
        assert isinstance(table, MixedTable)  # noqa: S101
        return table, _by_column(layout, self._map(table, self._model().fill))

    def inverse_transform(self, X: object) -> Any:
        """Return P(bit = 1) given codes; of mixed tables also means of real columns and probabilities of categories.

        Parameters
        ----------
        X : array of shape (rows, n_components)
            Codes, as from `transform` or `code`.

        Returns
        -------
        expected : ndarray, or a frame for a mixed fit to one
            Of mixed tables one column for each binary and real column and for each category of the others, named
            "column=category".
        """
        answers = super().inverse_transform(X)
        layout = self._mixed
        if layout is None:
            return answers
        named: dict[str, Floats] = {}
        for column, values in zip(layout.columns, _by_column(layout, answers), strict=True):
            if column.has_categories:
                named |= {f"{column.name}={c}": values[:, k] for k, c in enumerate(column.categories)}
            else:
                named[column.name] = values[:, -1]
        return np.column_stack([*named.values()]) if layout.frame is None else frame_of(layout.frame, named)

    def sample(self, n_samples: int = 1, *, random_state: Randomness = None) -> Any:
        """Draw new rows from the fitted model.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : int, RandomState or None
            Seed of the draw; by default that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, columns) of uint8
            For a mixed fit a frame with the columns and types of the fit (real columns are floats), or an array.
        """
        check_is_fitted(self, "params_")
        layout = self._mixed
        if layout is None:
            return super().sample(n_samples, random_state=random_state)
        if n_samples < 1:
            raise ValueError(f"n_samples={n_samples}: draw at least one row.")
        key = Key(seed_of(self.random_state if random_state is None else random_state)).stream("sample")
        drawn: Drawn = self._model().draw(self.params_, n_samples, key.rng())[0]
        columns: dict[int, AnyArray] = {j: np.zeros(n_samples, np.int64) for j in range(len(layout.columns))}
        for at, j in enumerate(layout.bit_columns):
            form = layout.columns[j].form
            types: dict[str, Any] = {"bool": np.bool_, "float": np.float64}
            binary = layout.columns[j].kind == "binary"
            columns[j] = drawn.sticks[:, at].astype(types.get(form, np.int64) if binary else np.int64)
        columns |= {j: drawn.real[:, at] for at, j in enumerate(layout.real_columns)}
        columns |= {j: drawn.codes[:, at] for at, j in enumerate(layout.nominal_columns)}
        return table_of(layout, columns)

    def _more_meta(self) -> dict[str, object]:
        return {} if self._mixed is None else {"kinds": self._mixed.to_plain()}

    def _take_meta(self, more: dict[str, object], n_columns: object, names: object) -> None:
        self.layout_ = None
        if not more:
            return
        require(set(more) == {"kinds"}, "its description is not complete")
        layout = Layout.from_plain(more["kinds"])
        found = [column.name for column in layout.columns]
        require(len(found) == n_columns and names in (None, found), "the kinds of its columns do not fit their names")
        asked = zip(asked_kinds(self.kinds, found), layout.columns, strict=True)
        require(all(kind in (None, column.kind) for kind, column in asked), "its kinds are not those asked for")
        require(not layout.only_bits, "its columns are all binary")
        require(self.threshold is None, "it has a threshold, and columns that are no bits")
        self.layout_ = layout

    def _n_columns_of(self, params: Any) -> int:
        return int(params.n_columns) if self._mixed is None else len(self._mixed.columns)


def _by_column(layout: Layout, answers: Floats) -> list[Floats]:
    """Cut the answers of the model into columns: probabilities of categories, (1 - p, p) of bits, means of reals."""
    order = [*layout.bit_columns, *layout.real_columns, *layout.nominal_columns]
    widths = [m + 1 for m in layout.sticks] + [1] * len(layout.real_columns) + layout.levels
    parts = dict(zip(order, np.split(answers, np.cumsum(widths)[:-1], axis=1), strict=True))
    return [parts.get(j, np.ones((len(answers), 1))) for j in range(len(layout.columns))]
