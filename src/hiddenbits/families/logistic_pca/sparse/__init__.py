"""Logistic PCA by passes whose cost follows the ones."""
