"""How many parameters rows can tell apart: the rank of the Jacobian of their log-likelihoods, by differences.

The rank does not depend on the coordinates, and coordinates may be redundant: what changes no probability, such as a
rotation of a map or a common factor of the weights of classes, adds nothing to it. At random parameters it is the
largest that there is, but on a set without volume.
"""

import numpy as np

STEP = 1e-4  # with five points, rounding (1e-12) is all that is wrong with a derivative
ZERO, NOT_ZERO = 1e-10, 1e-8  # share of the largest singular value


def jacobian(function, point):
    """Return the derivatives of an array by each coordinate, (numbers, coordinates)."""
    columns = []
    for way in STEP * np.eye(len(point)):
        near, far = (function(point + k * way) - function(point - k * way) for k in (1, 2))
        columns.append((8.0 * near - far) / (12.0 * STEP))
    return np.stack(columns, axis=1)


def rank(matrix):
    """Return the rank; refuse to decide about singular values that may or may not be 0."""
    values = np.linalg.svd(matrix / np.sqrt((matrix**2).mean()), compute_uv=False)
    values = values / values[0]
    undecided = values[(values > ZERO) & (values < NOT_ZERO)]
    assert not undecided.size, f"singular values of {undecided} times the largest: draw other parameters"
    return int(np.count_nonzero(values >= NOT_ZERO))
