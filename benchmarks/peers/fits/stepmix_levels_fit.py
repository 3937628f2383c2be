"""Runs in StepMix's own environment: latent classes from given parameters until a log-likelihood is reached, or by default.

python stepmix_levels_fit.py work.npz path.npz      (X_0, X_1, ...; measurement; passes; classes; shares and profiles: the start)

Without a start, fits are StepMix's own. `passes` is a limit; `trace` has the mean log-likelihood before each pass. Of
mixed columns, `measurement` is the descriptor as JSON, and the start is shares and "start MODEL PARAMETER". Settings of
fits of StepMix's own: `n_init`, `tol`.
"""

import json
import sys
import time
import warnings

import numpy as np
from stepmix.emission.build_emission import build_emission
from stepmix.stepmix import StepMix

warnings.simplefilter("ignore")


class Begun(StepMix):
    """Begins at given parameters, and notes the log-likelihood of each pass."""

    def _initialize_parameters(self, X, random_state):
        self.trace = []
        self.weights_ = work["shares"].copy()
        self._mm = build_emission(
            self.measurement, n_components=len(self.weights_), random_state=random_state, **self.measurement_params
        )
        if "profiles" in work:
            self._mm.parameters["pis"] = work["profiles"].copy()
        for name, model in getattr(self._mm, "models", {}).items():
            starts = {key.split()[2]: work[key].copy() for key in work.files if key.startswith(f"start {name} ")}
            model.set_parameters((model.parameters or {}) | starts)

    def _e_step(self, *given, **more):
        found = super()._e_step(*given, **more)
        self.trace.append(found[0])
        return found


def fit(X, passes):
    kind, more = (Begun, {"measurement_params": coded}) if "shares" in work else (StepMix, settings)
    model = kind(int(work["classes"]), measurement=measurement, max_iter=passes, random_state=0, progress_bar=0, **more)
    begun = time.process_time()
    model.fit(X)
    return model, time.process_time() - begun


work = np.load(sys.argv[1])
measurement = str(work["measurement"])
measurement = json.loads(measurement) if measurement.startswith("{") else measurement
settings = {"n_init": int(work["n_init"]), "abs_tol": float(work["tol"])} if "n_init" in work else {}
coded = {}
if "outcomes" in work:  # one-hot columns, made once instead of in every pass
    L = int(work["outcomes"])
    coded = {"integer_codes": False, "max_n_outcomes": L, "total_outcomes": work["profiles"].shape[1]}
tables = [work[name].astype(np.float64) for name in work.files if name.startswith("X_")]
fit(tables[0], 2)  # whatever is loaded late is loaded now
found = [fit(X, int(work["passes"])) for X in tables]
traces = np.array([getattr(model, "trace", [model.score(X)]) for (model, _), X in zip(found, tables, strict=True)])
np.savez(sys.argv[2], seconds=[seconds for _, seconds in found], trace=traces)
