"""The number of distinct rows that a model can produce (Cover's count), and the entropy of the rows of a table."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hiddenbits import open_table
from hiddenbits.array_types import Floats
from hiddenbits.evaluate.measures import PIECE_CELLS
from hiddenbits.exceptions import TableError
from hiddenbits.tables import Piece, map_pieces


def count_patterns(n_columns: int, n_components: int, *, biases: bool = True) -> int:
    """Return how many distinct rows thresholds on a few latent dimensions without noise can produce: Cover's count.

    Each column divides the latent space by a hyperplane, and every region between the hyperplanes is a distinct row.
    For hyperplanes in general position there are Sum_{k <= P} C(N, k) regions with biases, and
    2 Sum_{k < P} C(N - 1, k) if all go through the origin. `math.log(count)` is the maximum entropy of such rows, in
    nats.

    Parameters
    ----------
    n_columns, n_components : int
        Number of columns, N, and of latent dimensions, P.
    biases : bool, default=True
        Whether the hyperplanes have biases; without biases they go through the origin.

    Returns
    -------
    count : int

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> evaluate.count_patterns(8, 3), evaluate.count_patterns(8, 3, biases=False)
    (93, 58)
    >>> evaluate.count_patterns(3, 5)                # with enough dimensions all 2**3
    8
    """
    if n_columns < 1 or n_components < 1:
        raise ValueError(f"n_columns={n_columns}, n_components={n_components}: give numbers of at least 1.")
    if biases:
        return sum(comb(n_columns, k) for k in range(n_components + 1))
    return 2 * sum(comb(n_columns - 1, k) for k in range(n_components))


def pattern_entropy(X: object, sample_weight: ArrayLike | None = None) -> float:
    """Return the entropy of the rows of a table, in nats, from how often each distinct row occurs.

    It is at most the log of the number of rows. To measure the entropy of a model, sample many more rows than it has
    distinct rows; with fewer, the estimate is too small. A missing value counts as a value of its own.

    Parameters
    ----------
    X : table of shape (rows, columns)
        Binary data, such as rows sampled from a model.
    sample_weight : str or array of shape (rows,), optional
        Weight of each row, or the name of the column that has it.

    Returns
    -------
    entropy : float

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import evaluate
    >>> round(evaluate.pattern_entropy([[0, 1], [1, 1], [0, 1], [1, 1]]), 4)      # ln 2
    0.6931
    """
    table = open_table(X, sample_weight=sample_weight)
    if table.n_numbers:
        raise TableError("pattern_entropy needs binary, nominal or ordinal columns, but this table has numbers.")

    def packed(piece: Piece) -> tuple[Any, Floats]:
        x, observed = piece.table.source.read(0, piece.table.shape[0])
        rows = np.concatenate([np.packbits(bits.to_dense(), axis=1) for bits in (x, observed)], axis=1)
        return rows.view(f"V{rows.shape[1]}")[:, 0], piece.weights

    pieces = list(map_pieces(packed, table, max(1, PIECE_CELLS // table.row_size)))
    _, patterns = np.unique(np.concatenate([rows for rows, _ in pieces]), return_inverse=True)
    shares = np.bincount(patterns, np.concatenate([weights for _, weights in pieces]))
    shares = shares[shares > 0.0] / shares.sum()
    return float(-(shares @ np.log(shares)))
