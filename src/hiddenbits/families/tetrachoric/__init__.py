"""Tetrachoric correlations of all pairs of columns."""
