"""How a table is to be read: what `open_table` and estimators ask of every opener."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hiddenbits.data.cell_checks import Empty
from hiddenbits.data.table import PART_BYTES

if TYPE_CHECKING:
    from hiddenbits.data.coding.choices import Choices
    from hiddenbits.data.coding.coded_columns import Coding


@dataclass(frozen=True)
class Request:
    """The arguments of `open_table` other than the data.

    Attributes
    ----------
    names : tuple of str or None
        Names of the columns, in place of those that the data have.
    empty, threshold, packed, n_columns, part_bytes
        As for `open_table`.
    reals : bool
        As for `open_table`.
    choices : Choices or None
        What the user said about columns; None: nothing.
    coding : Coding or None
        How a fit read its columns, which is applied to this table.
    levels : bool
        Whether columns of several values are nominal or ordinal; otherwise every column is to become bits.
    plain_only : bool
        Cells must be bits: nothing is guessed about columns, as after a fit to plain bits.
    offers : tuple of str
        The options of the opener that messages may name.
    storage_options : Mapping
        What fsspec needs to reach an address; may hold secrets.
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
    levels: bool = False
    plain_only: bool = False
    offers: tuple[str, ...] = ()
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
