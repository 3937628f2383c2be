"""Simulated tables with known parameters, small tables that come with the package, and loaders of real tables."""

from hiddenbits.datasets.bars import SimulatedBars, simulate_bars
from hiddenbits.datasets.bundled import (
    Survey,
    Zoo,
    example_rows,
    load_baskets,
    load_carcinoma,
    load_exam,
    load_gss82,
    load_lsat,
    load_votes,
    load_zoo,
)
from hiddenbits.datasets.causes import SimulatedLines, SimulatedShifter, simulate_lines, simulate_shifter
from hiddenbits.datasets.influences import SimulatedInfluences, simulate_influences, true_influences
from hiddenbits.datasets.loaders import Splits, data_folder, load_debd
from hiddenbits.datasets.named import Digits, Votes, load_senate109, load_survey, load_usps
from hiddenbits.datasets.prototypes import SimulatedPrototypes, simulate_prototypes
from hiddenbits.datasets.simulate import SimulatedMixture, simulate_mixture, true_mixture, write_mixture

__all__ = [
    "Digits",
    "SimulatedBars",
    "SimulatedInfluences",
    "SimulatedLines",
    "SimulatedMixture",
    "SimulatedPrototypes",
    "SimulatedShifter",
    "Splits",
    "Survey",
    "Votes",
    "Zoo",
    "data_folder",
    "example_rows",
    "load_baskets",
    "load_carcinoma",
    "load_debd",
    "load_exam",
    "load_gss82",
    "load_lsat",
    "load_senate109",
    "load_survey",
    "load_usps",
    "load_votes",
    "load_zoo",
    "simulate_bars",
    "simulate_influences",
    "simulate_lines",
    "simulate_mixture",
    "simulate_prototypes",
    "simulate_shifter",
    "true_influences",
    "true_mixture",
    "write_mixture",
]
