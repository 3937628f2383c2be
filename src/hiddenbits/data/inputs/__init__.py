"""Tables that are handed over in memory: frames, AnnData, dask."""
