"""AnnData objects: X or a layer, with the names of the columns. AnnData itself is never imported here."""

from __future__ import annotations

from typing import Any

from hiddenbits.exceptions import TableError


def within_anndata(data: Any, *, names: Any, layer: str | None = None) -> tuple[Any, Any, dict[str, Any]]:
    """Return what to open in place of an AnnData, the names of its columns, and further options.

    X or a layer, whatever it is (an array, a sparse matrix, a Dask array). What stays on disk
    (``anndata.read_h5ad(..., backed="r")``) is opened from its file.

    Parameters
    ----------
    data : AnnData
        The object.
    names : sequence of str, optional
        Column names; by default `var_names`.
    layer : str, optional
        A layer instead of X.
    """
    if layer is not None and layer not in data.layers:
        listed = ", ".join(repr(str(name)) for name in data.layers) or "none"
        raise TableError(f"The AnnData has no layer {layer!r}. Its layers are: {listed}.")
    cells = data.X if layer is None else data.layers[layer]
    named = tuple(str(name) for name in data.var_names) if names is None else names
    if cells is None:
        raise TableError("The AnnData has no X. Choose a layer with layer=.")
    if not _on_disk(cells):
        return cells, named, {}
    if layer is None and data.isbacked and not data.is_view and data.file.filename is not None:
        return str(data.file.filename), named, {"format": "h5ad"}
    what = "X" if layer is None else f"layer {layer!r}"
    raise TableError(
        f"{what} of the AnnData is on disk ({type(cells).__name__}). Open its file with open_table instead."
    )


def _on_disk(cells: Any) -> bool:
    """Whether X or a layer is a handle to a file: of h5py, of zarr, or AnnData's own over either."""
    kinds = type(cells).__mro__
    return kinds[0].__module__.split(".")[0] in ("h5py", "zarr") or any(
        kind.__name__ in ("CSRDataset", "CSCDataset") for kind in kinds
    )
