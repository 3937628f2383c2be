"""Logistic PCA (Tipping 1998)."""
