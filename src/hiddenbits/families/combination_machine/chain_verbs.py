"""What `CombinationMachine` does where its units are too many to enumerate: ln Z is estimated, and rows are judged."""

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
    """Return the standard error of ln Z: 0 where it is enumerated."""
    return float(params.partition_error) if isinstance(params, ChainsParams) else 0.0


def estimated(params: ChainsParams, seed: int, n_chains: int, n_temperatures: int) -> tuple[ChainsParams, Partition]:
    """Return the parameters with an estimate of ln Z where it can be trusted, and the estimate."""
    rng = Key(seed).stream("normalizer").rng()
    fields = params.weights, params.thresholds, params.bias, params.means
    with one_blas_thread():
        partition = log_partition(
            *fields, rng, n_chains=n_chains, n_temperatures=n_temperatures, run=current().executor.run
        )
    if not partition.trustworthy or float(params.partition_error) == 0.0:  # what was enumerated stays exact
        return params, partition
    error = np.asarray(partition.standard_error)
    return replace(params, log_partition=np.asarray(partition.log_z), partition_error=error), partition


def judged_rows(model: CombinationChains, params: ChainsParams, n: int, key: Key) -> Bytes:
    """Return n rows that tempered chains draw; warn where the chains did not mix."""
    with one_blas_thread():
        rows, mixing = model.draw_and_judge(params, n, key.rng(), current().executor.run)
    if not mixing.well_mixed:
        warnings.warn(f"The drawn rows may not represent the model. {mixing.why}", PoorMixingWarning, stacklevel=3)
    return rows
