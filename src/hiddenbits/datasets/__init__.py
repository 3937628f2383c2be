"""Simulated tables with a known truth, and loaders of real ones."""

from hiddenbits.datasets.loaders import Splits, data_folder, load_debd
from hiddenbits.datasets.simulate import SimulatedMixture, mixture_truth, simulate_mixture, write_mixture

__all__ = [
    "SimulatedMixture",
    "Splits",
    "data_folder",
    "load_debd",
    "mixture_truth",
    "simulate_mixture",
    "write_mixture",
]
