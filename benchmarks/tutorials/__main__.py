"""The analyses of the tutorials, ours next to those of R's programs and of StepMix; the pictures of the pages.

    python -m benchmarks.tutorials                   (needs HIDDENBITS_DATA; a minute)

Writes results/tutorials.json and docs/pictures/tutorial_*.png; then `python tools/pages.py` fills in the tables of the pages.
ltm and mirt: the folder `reference` of the data. psych: results/peers.json; poLCA and StepMix: results/classes.json.
"""

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from benchmarks.record import DOCS, load, record
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment

from hiddenbits import ClippedPCA, LatentClassAnalysis, LogisticPCA, diagnostics, inference, plots, tetrachoric
from hiddenbits.datasets import data_folder, load_carcinoma, load_gss82
from hiddenbits.maths.rotation import rotate

# Printed by the programs for these tables; the standard errors and the rest are in files.
LOG_LIKELIHOODS = {"lsat": -2466.653, "sat12": -9488.955, "sat12, 2 dimensions": -9441.98}
TRAIT = {"method": "quadrature", "ridge": 0, "tol": 1e-10, "random_state": 0}
CLASSES = {"prior_strength": 0, "tol": 1e-11, "max_iter": 20_000, "n_init": 50, "random_state": 0}
ROTATIONS = {"varimax": "varimax", "oblimin": "oblimin", "promax": "promax_stats"}
FIT = {"outfit": "outfit", "infit": "infit", "s_x2": "S_X2", "df": "df.S_X2", "p": "p.S_X2"}


def survey(name: str) -> pd.DataFrame:
    return pd.read_csv(data_folder() / "survey" / f"{name}.csv")


def reference(name: str) -> pd.DataFrame:
    return pd.read_csv(data_folder() / "reference" / f"{name}.csv")


def pair(ours: Any, theirs: Any) -> dict[str, Any]:
    """Two lists of numbers that should be the same."""
    return {"ours": np.asarray(ours, float).ravel().tolist(), "theirs": np.asarray(theirs, float).ravel().tolist()}


def save(figure: Any, name: str) -> None:
    assert isinstance(figure, Figure)
    figure.savefig(DOCS / "pictures" / f"tutorial_{name}.png", dpi=110, metadata={"Software": None})


def trait(table: str, name: str) -> tuple[Any, dict[str, Any]]:
    """A two-parameter model: slopes, intercepts, their errors and all statistics of fit, next to mirt's."""
    X, mirt = survey(table), reference(f"{name}_2pl_mirt_louis")
    model = LogisticPCA(1, **TRAIT).fit(X)
    found = inference.standard_errors(model, X, robust=False)
    values, errors = mirt[mirt.what == "par"], mirt[mirt.what == "SE"]
    test, theirs = diagnostics.m2_test(model, X), reference(f"{name}_M2_mirt").iloc[0]
    items, fits = diagnostics.item_fit(model, X), reference(f"{name}_itemfit_mirt")
    figures = {
        "items": list(X.columns),
        "log-likelihood": pair(model.score_samples(X).sum(), LOG_LIKELIHOODS[name]),
        "slopes": pair(found.estimate["components"], values["a1"]),
        "slope errors": pair(found.se["components"], errors["a1"]),
        "intercepts": pair(found.estimate["intercepts"], values["d"]),
        "intercept errors": pair(found.se["intercepts"], errors["d"]),
        "difficulties": found.estimate["difficulties"].tolist(),
        "difficulty errors": found.se["difficulties"].tolist(),
        "M2": {
            key: pair(getattr(test, key.lower()), theirs[key])
            for key in ("M2", "df", "p", "RMSEA", "SRMSR", "TLI", "CFI")
        },
        **{ours: pair(items[ours], fits[key]) for ours, key in FIT.items()},
    }
    curves, _ = plots.item_curves(model, X)
    save(curves.figure, name)
    return model, figures


def lsat() -> dict[str, Any]:
    _, figures = trait("lsat", "lsat")
    ltm = reference("lsat_2pl_ltm")
    return figures | {
        "ltm": {
            "difficulties": pair(figures["difficulties"], ltm["value"][:5]),
            "difficulty errors": pair(figures["difficulty errors"], ltm["std.err"][:5]),
            "slopes": pair(figures["slopes"]["ours"], ltm["value"][5:]),
            "slope errors": pair(figures["slope errors"]["ours"], ltm["std.err"][5:]),
        }
    }


def sat12() -> dict[str, Any]:
    _, figures = trait("sat12_binary", "sat12")
    X, unrotated = survey("sat12_binary"), reference("sat12_2d_loadings_unrotated_mirt").iloc[:, 1:].to_numpy()
    plane = LogisticPCA(2, **TRAIT).fit(X)
    R = {name: reference(f"sat12_2d_{file}").iloc[:, 1:].to_numpy() for name, file in ROTATIONS.items()}
    oblimin = plane.rotate("oblimin").aligned(R["oblimin"])
    return figures | {
        "plane": {
            "log-likelihood": pair(plane.score_samples(X).sum(), LOG_LIKELIHOODS["sat12, 2 dimensions"]),
            "oblimin": pair(oblimin.loadings, R["oblimin"]),
            "factor correlation": pair(oblimin.correlations[0, 1], 0.6106),
        },
        "rotations of mirt's loadings": {
            name: pair(aligned(unrotated, name, theirs), theirs) for name, theirs in R.items()
        },
    }


def aligned(loadings: Any, method: Any, target: Any) -> Any:
    """Loadings rotated by us, with factors in the order and with the signs of the target."""
    found = rotate(loadings, method, kaiser=method == "promax").loadings
    inner = target.T @ found
    order = linear_sum_assignment(-np.abs(inner))[1]
    return found[:, order] * np.sign(inner[np.arange(len(order)), order])


def levels(names: Any) -> list[str]:
    """The names of probabilities as the R script has them: of a binary column poLCA's second level is our 1."""
    return [name.replace("=", "|", 1) if "=" in name else f"{name}|Pr(2)" for name in names]


def fitted(X: Any, counts: Any, theirs: dict[str, Any], K: int, **settings: Any) -> tuple[Any, dict[str, Any]]:
    """A fit next to poLCA's, classes from the largest to the smallest."""
    model = LatentClassAnalysis(K, **CLASSES, **settings).fit(X, sample_weight=counts)
    found = inference.standard_errors(model, X, sample_weight=counts, robust=False, kind="outer")
    fit = diagnostics.fit_statistics(model, X, counts)
    order, names = np.argsort(-model.weights_), levels(model.level_names_)
    assigned = np.bincount(model.predict(X), counts, K)[order] / fit.rows
    keys = [f"{k + 1}|{name}" for k in range(K) for name in names]
    kinds = {"log_likelihood": "llik", "aic": "aic", "bic": "bic", "g2": "Gsq"}
    return model, {
        **{ours: pair(getattr(fit, ours), theirs[name]) for ours, name in kinds.items()},
        "df": fit.df,
        "parameters": fit.n_parameters,
        "entropy": pair(diagnostics.entropy(model, X, counts), theirs["entropy"]),
        "shares": pair(model.weights_[order], theirs["share"]),
        "share errors": pair(found.se["weights"][order], theirs["share se"]),
        "assigned": pair(assigned, theirs["assigned"]),
        "profiles": pair(model.probabilities_[order], [theirs["probability"][key] for key in keys]),
        "profile errors": pair(
            np.nan_to_num(found.se["probabilities"][order]), [theirs["probability se"][key] for key in keys]
        ),
        "restarts": len(model.restarts_),
        "agreeing": [diagnostics.replicated_starts(model), theirs["agreeing"], theirs["attempts"]],
        "levels": names,
    }


def beside_stepmix(one: dict[str, Any], stepmix: dict[str, Any]) -> dict[str, Any]:
    """The same fit of ours next to StepMix's."""
    return {
        "log_likelihood": pair(one["log_likelihood"]["ours"], stepmix["log_likelihood"]),
        "shares": pair(one["shares"]["ours"], stepmix["shares"]),
        "agreeing": [stepmix["agreeing"], stepmix["restarts"]],
    }


def carcinoma(polca: dict[str, Any], stepmix: dict[str, Any]) -> dict[str, Any]:
    X, counts = load_carcinoma()
    found = {K: fitted(X, counts, polca[f"carcinoma, {K} classes"], K) for K in (2, 3, 4)}
    rows = np.repeat(np.array(list(X.values())).T, counts, axis=0)  # simulated tables have no weights
    quick = {K: LatentClassAnalysis(K, **(CLASSES | {"tol": 1e-6, "n_init": 4})).fit(rows) for K in found}
    tests = {
        f"{K} against {K + 1}": diagnostics.bootstrap_lrt(quick[K], quick[K + 1], rows, n_replicates=99, random_state=0)
        for K in (2, 3)
    }
    return {
        "classes": {K: one for K, (_, one) in found.items()},
        "bootstrap": {
            name: {"statistic": float(test.statistic), "p": float(test.p), "n": 99} for name, test in tests.items()
        },
        "stepmix": beside_stepmix(found[3][1], stepmix["carcinoma"]),
    }


def gss82(polca: dict[str, Any], stepmix: dict[str, Any]) -> dict[str, Any]:
    X, counts = load_gss82()
    settings = {"column_types": "nominal"}
    found = {K: fitted(X, counts, polca[f"gss82, {K} classes"], K, **settings) for K in (2, 3, 4)}
    return {
        "classes": {K: one for K, (_, one) in found.items()},
        "stepmix": beside_stepmix(found[3][1], stepmix["gss82"]),
    }


def election(polca: dict[str, Any], stepmix: dict[str, Any]) -> dict[str, Any]:
    """Twelve ordered answers of 1,785 people, with missing values."""
    X = survey("election").iloc[:, :12]
    _, one = fitted(X, np.ones(len(X)), polca["election, 3 classes"], 3, column_types="nominal")
    return {"classes": {3: one}, "stepmix": beside_stepmix(one, stepmix["election"])}


def sat12_classes(theirs: dict[str, Any]) -> dict[str, Any]:
    X = survey("sat12_binary")
    model = LatentClassAnalysis(3, **(CLASSES | {"n_init": 50})).fit(X)
    one = {
        "log_likelihood": pair(model.score_samples(X).sum(), 0.0),
        "shares": pair(np.sort(model.weights_)[::-1], theirs["shares"]),
    }
    return beside_stepmix(one, theirs)


def ability() -> dict[str, Any]:
    X, psych = survey("psych_ability"), load("tutorials/peers")["figures"]["psych"]
    above = np.triu_indices(X.shape[1], 1)
    correlations = np.asarray(tetrachoric(X).correlation)
    figures = {
        "items": list(X.columns),
        "missing": float(X.isna().to_numpy().mean()),
        "correlations": pair(correlations[above], np.array(psych["correlations"])[above]),
        "factors": {},
    }
    for K in (2, 4):
        target, phi = np.array(psych[f"oblimin_{K}"]), np.array(psych[f"phi_{K}"])
        found = ClippedPCA(K, factor_steps=2000, random_state=0).fit(X).rotate("oblimin").aligned(target)
        pairs = np.triu_indices(K, 1)
        figures["factors"][K] = {
            "loadings": pair(found.loadings, target),
            "correlations": pair(found.correlations[pairs], phi[pairs]),
            "communalities": found.communalities.tolist(),
        }
    ax = plots.hinton(found.loadings.T, names=X.columns, thresholds=False)
    ax.set_ylabel("factor")
    save(ax.figure, "ability")
    return figures


if __name__ == "__main__":
    mpl.use("Agg")
    classes = load("tutorials/classes")["figures"]
    polca, stepmix = classes["polca"], classes["stepmix"]
    figures = {
        "lsat": lsat(),
        "sat12": sat12(),
        "carcinoma": carcinoma(polca, stepmix),
        "gss82": gss82(polca, stepmix),
        "election": election(polca, stepmix),
        "sat12_classes": sat12_classes(stepmix["sat12_binary"]),
        "ability": ability(),
    }
    record("tutorials/tutorials", figures, seeds=[0], packages=("pandas", "matplotlib"), aloud=False)
