"""The free coordinates of a fitted model, and the reported parameters as functions of them.

A family whose rows have a score (the gradient of ln P(row)) describes its parameters in this form, from which
`hiddenbits.inference` computes standard errors without knowing the family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hiddenbits.array_types import Floats


@dataclass(frozen=True, eq=False)
class Quantity:
    """Reported parameters, with their derivatives.

    Attributes
    ----------
    name : str
        The name of the estimator's attribute, if there is one, without the underscore.
    values : ndarray
        The numbers.
    jacobian : ndarray of shape (values.size, coordinates)
        Their derivatives by the coordinates.
    axes : tuple of str
        What the axes of `values` are: "class", "dimension", "column", "continuous", ...: see `display.axis_names`.
    scale : {"real", "probability", "positive"}
        The scale on which intervals are symmetric: that of the numbers, their logits, or their logarithms.
    """

    name: str
    values: Floats
    jacobian: Floats
    axes: tuple[str, ...]
    scale: Literal["real", "probability", "positive"] = "real"


@dataclass(frozen=True, eq=False)
class FreeParameters:
    """Unconstrained coordinates, in which the log-likelihood has a gradient and a curvature.

    Attributes
    ----------
    vector : ndarray of shape (coordinates,)
        The coordinates of the fitted model.
    prior_gradient : ndarray of shape (coordinates,)
        Gradient of the log prior; 0 without a prior.
    prior_curvature : ndarray of shape (coordinates, coordinates)
        Minus the second derivatives of the log prior.
    border : ndarray of bool of shape (coordinates,)
        Coordinates at a boundary, such as the logit of a probability of 0: they have no standard error.
    ties : ndarray of shape (ties, coordinates)
        Gradients of the constraints that identify the model, such as those on the orientation of a latent space.
    quantities : tuple of Quantity
        The reported parameters.
    """

    vector: Floats
    prior_gradient: Floats
    prior_curvature: Floats
    border: NDArray[np.bool_]
    ties: Floats
    quantities: tuple[Quantity, ...]
