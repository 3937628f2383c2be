"""Mixture models with K nodes: latent classes, or grid points of a latent space. Columns are independent at a node."""
