"""The compiled twin of `expectations._over_nodes`, for whoever has numba (the extra `fast`)."""

from __future__ import annotations

import math

from hiddenbits.array_types import Floats
from hiddenbits.maths.exp_numba import compiled, exp_minus, log_one_plus


@compiled
def over_nodes(
    mean: Floats, variance: Floats, rule: Floats, rare: float, smallest: float, f: Floats, sigma: Floats, slope: Floats
) -> None:
    """Replace E f (unless that is empty), E sigma and the slope of the pairs that are not rare; all have one axis.

    `rule` has the nodes and their weights. The slope is that for rows where `f` is empty, and else that for columns.
    """
    by_row = len(f) == 0
    for i in range(len(mean)):
        if mean[i] + 1.5 * variance[i] <= rare:
            continue
        s = math.sqrt(max(variance[i], smallest))
        total, one, two = 0.0, 0.0, 0.0
        for k in range(rule.shape[1]):
            A = mean[i] + rule[0, k] * s
            u = exp_minus(abs(A))
            share = 1.0 / (1.0 + u)
            at_node = share if A >= 0.0 else u * share
            one += rule[1, k] * at_node
            if by_row:
                two += rule[1, k] * u * share * share
            else:
                two += rule[0, k] * rule[1, k] * at_node / s
                total += rule[1, k] * (max(A, 0.0) + log_one_plus(u))
        sigma[i], slope[i] = one, two
        if not by_row:
            f[i] = total
