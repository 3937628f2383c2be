"""Parquet files: a column for each column, lists of items, or a line for each pair."""
