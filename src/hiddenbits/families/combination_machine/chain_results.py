"""Estimates of ln Z and samples of a `CombinationMachine` that is too large to enumerate."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from hiddenbits.array_types import Bytes
from hiddenbits.engine import Key, current, one_blas_thread
from hiddenbits.exceptions import PoorMixingWarning
from hiddenbits.families.combination_machine.model_chains import ChainsParams, CombinationChains
from hiddenbits.families.combination_machine.params import CombinationParams
from hiddenbits.maths.annealed_importance import Partition, log_partition


def partition_error(params: CombinationParams) -> float:
    """Return the standard error of ln Z: 0 if it was computed by enumeration."""
    return float(params.partition_error) if isinstance(params, ChainsParams) else 0.0


def add_estimate(params: ChainsParams, seed: int, n_chains: int, n_temperatures: int) -> tuple[ChainsParams, Partition]:
    """Estimate ln Z; return the parameters, with the estimate if it is reliable, and the estimate itself."""
    rng = Key(seed).stream("normalizer").rng()
    machine = params.weights, params.thresholds, params.bias, params.means
    with one_blas_thread():
        partition = log_partition(
            *machine, rng, n_chains=n_chains, n_temperatures=n_temperatures, run=current().executor.run
        )
    if not partition.trustworthy or float(params.partition_error) == 0.0:  # an enumerated ln Z stays exact
        return params, partition
    error = np.asarray(partition.standard_error)
    return replace(params, log_partition=np.asarray(partition.log_z), partition_error=error), partition


def sample_with_warning(model: CombinationChains, params: ChainsParams, n: int, key: Key) -> Bytes:
    """Return n rows sampled by tempered chains; warn if the chains did not mix."""
    with one_blas_thread():
        rows, mixing = model.sample_with_mixing(params, n, key.rng(), current().executor.run)
    if not mixing.well_mixed:
        warnings.warn(f"The sampled rows may not represent the model. {mixing.why}", PoorMixingWarning, stacklevel=3)
    return rows
