"""Clipped PCA: binary factor analysis by thresholded Gaussian variables (Lee & Sompolinsky 1998)."""
