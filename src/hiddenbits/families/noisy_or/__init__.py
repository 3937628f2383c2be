"""Noisy-OR networks (Lewicki & Sejnowski 1997)."""
