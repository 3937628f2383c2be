"""How many parameters of a hidden tree are free: the dimension of the set of distributions that it can have.

The tables of a hidden tree say more than rows can show. A column at the end of the tree has a hidden variable on which
its bit alone depends: P(bit | parent's state) is one number for each state of the parent, whatever the two tables are
that it is made of. So only the inner variables count, with the columns at the ends as bits of the variable next to
them; and of these none has more states than its neighbors can tell apart (Zhang 2004, regular models). Such a tree has

    Sum over inner variables (parameters of a latent class model of its neighbors) - Sum over links (K K' - 1)

parameters (Zhang & Kocka 2004). Those of a latent class model with r classes of variables with n_i values are
r (1 + Sum(n_i - 1)) - 1, at most Prod(n_i) - 1, but in the two cases in which tensors of rank r make a smaller set than
that, of those in which one of the variables is a bit (Abo, Ottaviani & Peterson 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod


def n_free_parameters(parents: Sequence[int], n_states: int) -> int:
    """Return the number of free parameters of a tree in which each column has these parents; -1 for a root.

    Examples
    --------
    >>> n_free_parameters([-1, 0, 0], 2), n_free_parameters([-1, 0, 1, 2, 3], 2)   # of 7 and 31 that any table has
    (7, 15)
    """
    linked: list[list[int]] = [[] for _ in parents]
    links = [(child, parent) for child, parent in enumerate(parents) if parent >= 0]
    for child, parent in links:
        linked[child].append(parent)
        linked[parent].append(child)
    inner = {j for j, others in enumerate(linked) if len(others) > 1}
    inner |= {j for j, parent in enumerate(parents) if parent < 0 and inner.isdisjoint(linked[j])}  # one or two columns
    states = dict.fromkeys(sorted(inner), n_states)

    def sizes(j: int) -> list[int]:
        return [2, *(states.get(other, 2) for other in linked[j])]

    before: dict[int, int] = {}
    while before != states:
        before = states
        states = {j: min(K, prod(sizes(j)) // max(sizes(j))) for j, K in before.items()}
    shared = sum(states[a] * states[b] - 1 for a, b in links if a in inner and b in inner)
    return sum(_of_classes(sizes(j), states[j]) for j in states) - shared


def _of_classes(sizes: list[int], r: int) -> int:
    """Return the free parameters of r latent classes of variables with so many values, one of them a bit."""
    *others, largest = sorted(sizes)
    together, free = prod(others), sum(others) - len(others)
    if r > together - free:  # the largest variable has more values than the others have room for
        return min(r, largest) * (largest + together - min(r, largest)) - 1
    fewer = int(len(sizes) == 4 and others == [2, 2, largest] and r == 2 * largest - 1)
    return min(r * (free + largest), together * largest) - fewer - 1
