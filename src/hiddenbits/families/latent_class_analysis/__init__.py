"""Mixtures of Bernoulli classes."""
