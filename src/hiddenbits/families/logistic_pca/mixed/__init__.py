"""Logistic PCA of columns of several kinds."""
