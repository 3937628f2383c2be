"""Curved maps that are exact mixtures."""
