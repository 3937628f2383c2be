"""Frames and arrays whose columns may be of several kinds: whether they are is decided here, once."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiddenbits.data.inputs.arrays import open_array
from hiddenbits.data.inputs.frames import open_frame
from hiddenbits.data.mixed.encode import described, encode, raw_columns
from hiddenbits.data.mixed.layout import Layout
from hiddenbits.data.mixed.reals import open_reals
from hiddenbits.data.request import Request
from hiddenbits.data.table import Table


def open_columns(X: Any, request: Request) -> Table:
    """Open a frame or array as what the description of its columns says: bits, reals, or columns of several kinds.

    Where ``kinds=`` is the layout of a fit, the table has that layout, even if all its columns are binary.
    """
    if request.one_matrix and isinstance(X, np.ndarray):
        return open_reals(X, request.names)
    raw, frame = raw_columns(X)
    columns, layout = described(raw, frame, request.kinds, request.names)
    if layout.only_bits and not isinstance(request.kinds, Layout):
        return open_array(X, request) if frame is None else open_frame(X, request)
    return encode(columns, layout, named=None if request.names is None else True)
