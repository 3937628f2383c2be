"""What `CombinationMachine` does with tables of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from hiddenbits.data import Table, TableError
from hiddenbits.data.frames import is_frame
from hiddenbits.data.mixed import MixedTable
from hiddenbits.data.mixed_columns import encode, inferred_layout, raw_columns
from hiddenbits.data.open import is_dask
from hiddenbits.engine import Key
from hiddenbits.estimators.base import DRAW_ROWS
from hiddenbits.estimators.combination_chains import ChainsVerbs
from hiddenbits.estimators.tables import check_table_names, seed_of


class RealsVerbs(ChainsVerbs):
    """The verbs that differ between machines over bits and over reals; likelihood, codes and posterior do not."""

    visible: str

    def _mixed_table(self, X: Any, *, reset: bool) -> Table | None:
        """Return X as a table of reals; None where the machine is one over bits."""
        if self.visible == "bits":
            return super()._mixed_table(X, reset=reset)
        if self.threshold is not None:
            raise ValueError('threshold= turns numbers into bits, and visible="reals" takes them as they are.')
        if isinstance(X, MixedTable):
            other = [column for column in X.layout.columns if column.kind != "real"]
            if other:
                raise TableError(f'column {other[0].name!r} is {other[0].kind}; with visible="reals" all are real.')
            check_table_names(self, X, reset=reset)
            return X
        if isinstance(X, Table) or is_dask(X) or issparse(X):
            raise TableError(
                'visible="reals" is for frames and arrays of numbers in memory, and this is a table of bits.'
            )
        data = X if is_frame(X) or isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
        raw, frame = raw_columns(data)
        table = encode(raw, inferred_layout(raw, frame, "real"))
        validate_data(self, data, skip_check_array=True, reset=reset)
        return table

    def complete(self, X: Any) -> Any:
        """Fill in the missing cells from the row's observed ones; observed cells stay as they are.

        A missing bit becomes P(bit = 1), a missing real number its mean.

        Parameters
        ----------
        X : table of shape (rows, columns)
            As for `fit`.

        Returns
        -------
        completed : ndarray of shape (rows, columns), or a frame where X is one
        """
        return super().complete(X)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Draw new rows from the fitted model: exactly, or by tempered Markov chains where units are too many.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : int, RandomState or None
            Seed of the draw; by default that of the estimator.

        Returns
        -------
        X : ndarray of shape (n_samples, columns) of uint8, or of float64 with ``visible="reals"``
        """
        check_is_fitted(self, "params_")
        if self.visible == "bits":
            return super().sample(n_samples, random_state=random_state)
        if n_samples < 1:
            raise ValueError(f"n_samples={n_samples}: draw at least one row.")
        key = Key(seed_of(self.random_state if random_state is None else random_state), 2**32)
        model, out = self._model(), np.empty((n_samples, self.n_features_in_))
        for number, start in enumerate(range(0, n_samples, DRAW_ROWS)):
            stop = min(start + DRAW_ROWS, n_samples)
            out[start:stop] = model.draw(self.params_, stop - start, key.at(block=number).rng())[0]
        return out
