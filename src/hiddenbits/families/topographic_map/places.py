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
SHIFTS = 5  # from the top point to the middle of its place


@dataclass(frozen=True, eq=False)
class Places:
    """What `TopographicMap.places` returns, one line for each row.

    A place is a ball of radius sqrt(q / 2), half the usual distance of two rows, around the mean of the posterior
    within it. One is found from the most probable point, the other from the most probable point at least two radii from
    there; the first is the one with the larger share.

    Attributes
    ----------
    first, second : ndarray of shape (rows, n_components)
        The centre of each place.
    first_share, second_share : ndarray of shape (rows,)
        Probability that the row is there.
    effective_points : ndarray of shape (rows,)
        1 / Sum_k r_k^2: how many points share the posterior. Where most rows have fewer than 3, points are too few to
        say where on the map a row is.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits import TopographicMap
    >>> kinds = np.array([[1.0, 1, 1, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1]])
    >>> model = TopographicMap(1, random_state=0).fit(np.repeat(kinds, 40, axis=0))
    >>> blank = np.nan
    >>> model.places([kinds[0], [blank, blank, blank, blank, blank, blank, 1, 1]]).two_places
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
    one, share = _place(r, z)
    other, its_share = _place(np.where(_squared_distances(one, z) <= 4.0 * z.shape[1] / 2.0, 0.0, r), z)
    swap = its_share > share
    centres = np.where(swap[:, None], np.hstack([other, one]), np.hstack([one, other]))
    return np.column_stack([centres, np.maximum(share, its_share), np.minimum(share, its_share), 1.0 / sharpness])


def _squared_distances(centre: Floats, z: Floats) -> Floats:
    return np.asarray((centre * centre).sum(axis=1)[:, None] - 2.0 * centre @ z.T + (z * z).sum(axis=1))


def _place(r: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return the centre of a place and its share: from the top point by mean shift."""
    centre = z[r.argmax(axis=1)]
    for _ in range(SHIFTS):
        inside = np.where(_squared_distances(centre, z) <= z.shape[1] / 2.0, r, 0.0)
        share = inside.sum(axis=1)
        centre = np.divide(inside @ z, share[:, None], out=centre.copy(), where=share[:, None] > 0.0)
    return centre, share


def split_places(rows: Floats, q: int) -> Places:
    """Return what `place_rows` found, by name."""
    parts = (rows[:, :q], rows[:, q : 2 * q], *rows[:, 2 * q :].T)
    return Places(*(np.ascontiguousarray(part) for part in parts))
