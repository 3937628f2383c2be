"""Zarr and HDF5: arrays on disk, cut into chunks."""
