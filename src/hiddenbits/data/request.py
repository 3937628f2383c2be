"""How a table is to be read: the request of `open_table` and estimators to every opener."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hiddenbits.data.cell_checks import Empty
from hiddenbits.data.table import PART_BYTES

if TYPE_CHECKING:
    from hiddenbits.data.coding.choices import Choices
    from hiddenbits.data.coding.coded_columns import Coding


HandleUnknown = Literal["error", "missing"]  # values that did not occur in the fit


@dataclass(frozen=True)
class Request:
    """The arguments of `open_table` other than the data.

    Attributes
    ----------
    names : tuple of str or None
        Names of the columns, instead of those in the data.
    empty, threshold, packed, n_columns, part_bytes
        As for `open_table`.
    reals : bool
        As for `open_table`.
    choices : Choices or None
        The user's options for columns, if any.
    coding : Coding or None
        The coding of a fit, to apply to this table.
    handle_unknown : {"error", "missing"}
        With `coding`: whether a value that did not occur in the fit is an error, or counts as missing.
    levels : bool
        Whether columns may be nominal, ordinal or continuous; otherwise every column must become binary.
    plain_only : bool
        Whether cells must be 0 or 1, so that no types are inferred: set after a fit to such data.
    offers : tuple of str
        The options of the opener that messages may name.
    storage_options : Mapping
        Options of fsspec for an address; may contain secrets.
    options : Mapping
        Options of one opener, such as ``column=`` or ``layer=``.
    """

    names: tuple[str, ...] | None = None
    empty: Empty = "auto"
    threshold: float | None = None
    packed: bool = False
    n_columns: int | None = None
    reals: bool = False
    part_bytes: int = PART_BYTES
    choices: Choices | None = None
    coding: Coding | None = None
    handle_unknown: HandleUnknown = "error"
    levels: bool = False
    plain_only: bool = False
    offers: tuple[str, ...] = ()
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
