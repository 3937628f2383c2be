"""Clipped PCA: factors of the normal variables behind the bits (Lee & Sompolinsky 1998)."""
