"""What processes the blocks of a table: threads of this process, or a dask cluster."""
