"""The verbs that write files and read them: results larger than memory, and fitted models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self


class FileVerbs:
    """`write`, `save` and `load`, of every estimator; what they do is in `parquet_output.py` and `persistence.py`."""

    def write(self, verb: str, X: object, path: str | os.PathLike[str]) -> Path:
        """Write what a verb returns for every row into a folder of Parquet files, each written where it is computed.

        For results larger than memory: on a cluster the workers write, and nothing passes through this process. The
        folder must be one that every worker can write to; it appears when it is complete. The files' natural order is
        that of the rows. Columns that did not enter the model are written next to the results; completed rows have all
        columns of the table, in the user's own values.

        Parameters
        ----------
        verb : str
            What to compute: "transform", "posterior", "code", "predict", "predict_proba", "score_samples", "complete"
            or "bit_probabilities".
        X : table of shape (rows, columns)
            As for `fit`.
        path : path
            The folder, such as "codes.parquet". It must not exist yet.

        Returns
        -------
        folder : Path
        """
        from hiddenbits.families._base.parquet_output import write

        return write(self, verb, X, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that holds no code; see `hiddenbits.load`.

        Parameters
        ----------
        path : path
            The file.
        """
        from hiddenbits.families._base.persistence import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a fitted model of this class from a file written by `save`.

        Parameters
        ----------
        path : path
            The file.
        """
        from hiddenbits.families._base.persistence import load

        return load(path, cls)
