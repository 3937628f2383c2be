"""Federated fits: what sites exchange, how rounds go, and what may not be given away."""
