"""Latent tree models: a tree of latent states, one behind each column."""
