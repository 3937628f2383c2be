"""The analyses of the tutorials, ours next to those of R's programs and of StepMix; the pictures of the pages.

    python -m benchmarks.tutorials                   (needs HIDDENBITS_DATA; a minute)

Writes results/tutorials.json and docs/pictures/tutorial_*.png; then `python tools/pages.py` fills in the tables of the pages.
ltm, mirt and poLCA: the folder `reference` of the data. psych and StepMix: results/peers.json.
"""

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from benchmarks.record import DOCS, load, record
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment

from hiddenbits import ClippedPCA, LatentClassAnalysis, LogisticPCA, diagnostics, inference, plots, tetrachoric
from hiddenbits.datasets import data_folder
from hiddenbits.maths.rotations import rotate

# Printed by the programs for these tables; the standard errors and the rest are in files.
LOG_LIKELIHOODS = {"lsat": -2466.653, "sat12": -9488.955, "sat12, 2 dimensions": -9441.98}
POLCA = {  # log-likelihood, AIC, BIC, G^2
    2: (-317.2568, 664.5137, 706.0739, 62.36543),
    3: (-293.7050, 633.4100, 697.1357, 15.26171),
    4: (-289.2858, 640.5717, 726.4629, 6.423452),
}
TRAIT = {"method": "quadrature", "ridge": 0, "tol": 1e-10, "random_state": 0}
CLASSES = {"prior_strength": 0, "tol": 1e-11, "max_iter": 20_000, "n_init": 10, "random_state": 0}
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
    found = inference.information(model, X, robust=False)
    values, errors = mirt[mirt.what == "par"], mirt[mirt.what == "SE"]
    test, theirs = diagnostics.m2(model, X), reference(f"{name}_M2_mirt").iloc[0]
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


def carcinoma() -> dict[str, Any]:
    X, sizes, models = survey("carcinoma"), {}, {}
    for K, printed in POLCA.items():
        model = models[K] = LatentClassAnalysis(K, **CLASSES).fit(X)
        found, fit = inference.information(model, X, robust=False, kind="outer"), diagnostics.overall(model, X)
        polca, order = reference(f"carcinoma_lca{K}_poLCA"), np.argsort(-model.weights_)
        keys = ("log_likelihood", "aic", "bic", "g2")
        sizes[K] = {
            **{key: pair(getattr(fit, key), value) for key, value in zip(keys, printed, strict=True)},
            "df": fit.df,
            "parameters": fit.n_parameters,
            "entropy": float(diagnostics.entropy(model, X)),
            "shares": pair(model.weights_[order], polca["share"]),
            "share errors": pair(found.se["weights"][order], polca["share_se"]),
            "profiles": pair(model.probabilities_[order], polca.filter(like="prob.")),
            "profile errors": pair(np.nan_to_num(found.se["probabilities"][order]), polca.filter(regex=r"^se\.")),
        }
    stepmix, three = load("tutorials/peers")["figures"]["stepmix"]["carcinoma, 3 classes"], sizes[3]
    save(plots.profiles(models[3], X).figure, "carcinoma")
    quick = {
        K: LatentClassAnalysis(K, **(CLASSES | {"tol": 1e-6, "n_init": 4})).fit(X) for K in POLCA
    }  # fitted 99 times
    tests = {f"{K} against {K + 1}": diagnostics.bootstrap_lrt(quick[K], quick[K + 1], X, n=99, seed=0) for K in (2, 3)}
    return {
        "items": list(X.columns),
        "classes": sizes,
        "bootstrap": {
            name: {"statistic": float(test.statistic), "p": float(test.p), "n": 99} for name, test in tests.items()
        },
        "stepmix": {
            "log_likelihood": pair(three["log_likelihood"]["ours"], stepmix["log_likelihood"]),
            "shares": pair(three["shares"]["ours"], stepmix["shares"]),
            "profiles": pair(three["profiles"]["ours"], stepmix["profiles"]),
        },
    }


def sat12_classes() -> dict[str, Any]:
    X, theirs = survey("sat12_binary"), load("tutorials/peers")["figures"]["stepmix"]["SAT12, 3 classes"]
    model = LatentClassAnalysis(3, **(CLASSES | {"n_init": 20})).fit(X)
    order = np.argsort(-model.weights_)
    return {
        "log_likelihood": pair(model.score_samples(X).sum(), theirs["log_likelihood"]),
        "shares": pair(model.weights_[order], theirs["shares"]),
        "profiles": pair(model.probabilities_[order], theirs["profiles"]),
    }


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
    figures = {
        "lsat": lsat(),
        "sat12": sat12(),
        "carcinoma": carcinoma(),
        "sat12_classes": sat12_classes(),
        "ability": ability(),
    }
    record("tutorials/tutorials", figures, seeds=[0], packages=("pandas", "matplotlib"), aloud=False)
