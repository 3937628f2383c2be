"""Mixtures of trees over the columns."""
