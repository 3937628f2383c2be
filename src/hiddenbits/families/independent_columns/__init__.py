"""Columns that know nothing of each other: what other models are measured against."""
