"""Logistic PCA for sparse tables, at a cost that depends on the number of 1s."""
