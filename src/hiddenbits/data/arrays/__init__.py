"""Arrays that are sliced by rows, in memory and in files: dense, sparse, npy, npz, Zarr, h5ad, dask."""
