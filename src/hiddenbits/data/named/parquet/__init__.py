"""Parquet files of named columns."""
