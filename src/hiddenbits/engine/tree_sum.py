"""The fixed merge tree: its sums do not depend on which thread or worker computed a block, or when.

Floating-point addition is not associative, so the order of additions depends on the block numbers alone. The leaves of
a binary tree, nodes (0, i), are the statistics of block i. Node (level, i) is the sum of its children
(level - 1, 2i) and (level - 1, 2i + 1); a node whose right child lies beyond the last block equals its left child.

How the statistics of a pass are merged:

1. An executor (`executors/local.py`, `executors/dask_cluster.py`) applies `block_statistics` to each block.
2. Each group of consecutive blocks (in this process) or task (on a cluster) has a `TreeSum`, to which its blocks are
   added. `add` merges two siblings as soon as both are known; a node whose sibling is missing waits.
3. The waiting nodes (`nodes`) go to another `TreeSum`, which merges them further (`add_all`).
4. After all blocks one node is left: the sum over the table (`result`), the same to the last bit for every executor.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from hiddenbits.data.declared import Additive

S = TypeVar("S", bound=Additive)
Node = tuple[int, int]


class TreeSum(Generic[S]):
    """A sum over blocks 0 to n_blocks - 1 in the fixed order of the tree.

    Examples
    --------
    >>> import numpy as np
    >>> total = TreeSum(3)
    >>> for number in (2, 0, 1):
    ...     total.add((0, number), np.array([10.0**number]))
    >>> total.result()
    array([111.])
    """

    def __init__(self, n_blocks: int) -> None:
        self.n_blocks = n_blocks
        self._nodes: dict[Node, S] = {}

    def add(self, node: Node, value: S) -> None:
        """Add the sum of a node, and merge upwards as far as possible; `value` may be changed in place."""
        level, i = node
        while True:
            if i % 2 == 0:
                if (i + 1) << level >= self.n_blocks:  # no right sibling: the parent is this node
                    if i == 0:
                        break
                    level, i = level + 1, i // 2
                    continue
                right = self._nodes.pop((level, i + 1), None)
                if right is None:
                    break
                value += right  # type: ignore[operator]  # mypy looks for + behind a protocol's +=
            else:
                left = self._nodes.pop((level, i - 1), None)
                if left is None:
                    break
                left += value  # type: ignore[operator]
                value = left
            level, i = level + 1, i // 2
        self._nodes[level, i] = value

    def add_all(self, nodes: Iterable[tuple[Node, S]]) -> None:
        """Add several nodes."""
        for node, value in nodes:
            self.add(node, value)

    def nodes(self) -> list[tuple[Node, S]]:
        """Return the nodes that wait for their siblings."""
        return sorted(self._nodes.items(), key=lambda item: item[0])

    def result(self) -> S:
        """Return the sum over all blocks; ValueError if some have not been added."""
        if len(self._nodes) != 1:
            raise ValueError(f"The sum is not complete: {len(self._nodes)} nodes wait for their siblings.")
        ((level, i), value), *_ = self._nodes.items()
        if i != 0 or (1 << level) < self.n_blocks:
            raise ValueError("The sum is not complete: some blocks have not been added.")
        return value
