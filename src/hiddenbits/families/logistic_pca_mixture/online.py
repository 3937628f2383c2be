"""A mixture of maps as online EM needs it: each map in its online form."""

from __future__ import annotations

from hiddenbits.families.logistic_pca.model import Logistic
from hiddenbits.families.logistic_pca_mixture.model import LogisticMixture


class OnlineMaps(LogisticMixture):
    """The model; hyperparameters only."""

    def map_model(self, k: int = 0) -> Logistic:
        """Return the model of one map."""
        return super().map_model(k).online()
