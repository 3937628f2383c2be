"""Latent class analysis."""
