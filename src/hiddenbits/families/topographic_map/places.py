"""Where rows are on a curved map: in one place, or in two that both explain them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats
from hiddenbits.data import Block
from hiddenbits.families.topographic_map.model import Topographic
from hiddenbits.families.topographic_map.params import TopographicParams

TWO_PLACES = 0.2  # smallest share of the posterior that a second place has


@dataclass(frozen=True, eq=False)
class Places:
    """What `TopographicMap.places` returns, one line for each row.

    A place is all points within sqrt(q / 2) of one point, half the usual distance of two rows. The first is around the
    most probable point, the second around the most probable point outside of the first.

    Attributes
    ----------
    first, second : ndarray of shape (rows, n_components)
        The most probable point of each place.
    first_share, second_share : ndarray of shape (rows,)
        Probability that the row is there.
    effective_points : ndarray of shape (rows,)
        1 / Sum_k r_k^2: how many points share the posterior. Where most rows have fewer than 3, points are too few to
        say where on the map a row is.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import TopographicMap
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0).astype(float)
    >>> model = TopographicMap(1, random_state=0).fit(X)
    >>> model.places([[1, 1, 0, 0], [np.nan] * 4]).two_places
    array([False,  True])
    """

    first: Floats
    second: Floats
    first_share: Floats
    second_share: Floats
    effective_points: Floats

    @property
    def two_places(self) -> NDArray[np.bool_]:
        """Rows whose second place has at least a fifth of the posterior: their mean may be where no row is."""
        return np.asarray(self.second_share >= TWO_PLACES)


def place_rows(model: Topographic, params: TopographicParams, shared: Any, block: Block) -> Floats:
    """Return the fields of `Places` side by side, (n, 2 q + 3)."""
    r, z = model.point_weights(params, shared, block), params.points
    sharpness = (r * r).sum(axis=1)
    radius = z.shape[1] / 2.0  # squared
    found, shares = [], []
    for _ in range(2):
        top = z[r.argmax(axis=1)]
        away = (top * top).sum(axis=1)[:, None] - 2.0 * top @ z.T + (z * z).sum(axis=1)
        here = away <= radius
        shares.append(np.where(here, r, 0.0).sum(axis=1))
        r = np.where(here, 0.0, r)
        found.append(top)
    return np.column_stack([*found, *shares, 1.0 / sharpness])


def split_places(rows: Floats, q: int) -> Places:
    """Return what `place_rows` found, by name."""
    parts = (rows[:, :q], rows[:, q : 2 * q], *rows[:, 2 * q :].T)
    return Places(*(np.ascontiguousarray(part) for part in parts))
