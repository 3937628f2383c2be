"""AnnData objects: X or a layer, with the column names. The package anndata is never imported."""

from __future__ import annotations

from typing import Any

from hiddenbits.exceptions import TableError


def within_anndata(data: Any, *, names: Any, layer: str | None = None) -> tuple[Any, Any, dict[str, Any]]:
    """Return the object to open in place of an AnnData, its column names, and further options.

    The object is X or a layer of any type (an array, a sparse matrix, a dask array). Backed data
    (``anndata.read_h5ad(..., backed="r")``) are opened from their file.

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
        layers = ", ".join(repr(str(name)) for name in data.layers) or "none"
        raise TableError(f"The AnnData has no layer {layer!r}. Its layers are: {layers}.")
    cells = data.X if layer is None else data.layers[layer]
    column_names = tuple(str(name) for name in data.var_names) if names is None else names
    if cells is None:
        raise TableError("The AnnData has no X. Choose a layer with layer=.")
    if not _on_disk(cells):
        return cells, column_names, {}
    if layer is None and data.isbacked and not data.is_view and data.file.filename is not None:
        return str(data.file.filename), column_names, {"format": "h5ad"}
    label = "X" if layer is None else f"layer {layer!r}"
    raise TableError(
        f"{label} of the AnnData is on disk ({type(cells).__name__}). Open its file with open_table instead."
    )


def _on_disk(cells: Any) -> bool:
    """Whether X or a layer is a handle to a file: of h5py, of zarr, or AnnData's own for either."""
    classes = type(cells).__mro__
    return classes[0].__module__.split(".")[0] in ("h5py", "zarr") or any(
        base.__name__ in ("CSRDataset", "CSCDataset") for base in classes
    )
