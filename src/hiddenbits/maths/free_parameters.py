"""The coordinates of a fitted model that are free to move, and the numbers people publish as functions of them.

A family whose rows have a score (the gradient of ln P(row)) describes its parameters like this, and
`hiddenbits.inference` makes standard errors of it without knowing the family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats


@dataclass(frozen=True, eq=False)
class Quantity:
    """Numbers that people publish, with their derivatives.

    Attributes
    ----------
    name : str
        That of the estimator's attribute, without the underscore, where there is one.
    values : ndarray
        The numbers.
    jacobian : ndarray of shape (values.size, coordinates)
        Their derivatives by the coordinates.
    axes : tuple of str
        What the axes of `values` are: "class", "dimension", "column".
    scale : {"real", "probability"}
        Where intervals are symmetric: on the scale of the numbers, or on that of their logits.
    """

    name: str
    values: Floats
    jacobian: Floats
    axes: tuple[str, ...]
    scale: Literal["real", "probability"] = "real"


@dataclass(frozen=True, eq=False)
class FreeParameters:
    """Coordinates without borders, in which the log-likelihood has a gradient and a curvature.

    Attributes
    ----------
    vector : ndarray of shape (coordinates,)
        Where the fitted model is.
    prior_gradient : ndarray of shape (coordinates,)
        Gradient of the log prior; 0 without a prior.
    prior_curvature : ndarray of shape (coordinates, coordinates)
        Minus the second derivatives of the log prior.
    border : ndarray of bool of shape (coordinates,)
        Coordinates that ran away to a border, such as the logit of a probability of 0: they have no standard error.
    ties : ndarray of shape (ties, coordinates)
        Gradients of the conditions that choose one of many equal forms, such as the orientation of a map.
    quantities : tuple of Quantity
        What people publish.
    """

    vector: Floats
    prior_gradient: Floats
    prior_curvature: Floats
    border: NDArray[np.bool_]
    ties: Floats
    quantities: tuple[Quantity, ...]
