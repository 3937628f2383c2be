"""Mixtures of trees (Chow-Liu trees) over the columns."""
