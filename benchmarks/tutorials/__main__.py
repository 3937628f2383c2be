"""The analyses of the tutorials, ours next to those of R's programs and of StepMix; the pictures of the pages.

    python -m benchmarks.tutorials                   (needs HIDDENBITS_DATA; a minute)

Writes results/tutorials.json and docs/pictures/tutorial_*.png; then `python tools/pages.py` fills in the tables of the pages.
ltm and mirt: below, the folder `reference` of the data, and tests/families/item_response/reference. psych: results/peers.json;
poLCA and StepMix: results/classes.json.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from benchmarks.record import DOCS, load, record
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment

from hiddenbits import (
    ClippedPCA,
    ItemResponseModel,
    LatentClassAnalysis,
    diagnostics,
    inference,
    open_table,
    plots,
    tetrachoric,
)
from hiddenbits.datasets import data_folder, load_carcinoma, load_gss82, load_lsat
from hiddenbits.maths.rotation import rotate

# What mirt prints: version 1.47 (commit 2fc2b236) with R 4.2.2, 121 nodes on [-6, 6], 61 in two dimensions; TOL 1e-6 or less.
MIRT = {
    "lsat": -2466.65337756,
    "lsat_3pl": -2466.89674990,
    "science_graded": -1608.86941417,
    "science_gpcm": -1612.68160014,
    "science_nominal": -1608.45200288,
    "mixed": -2781.01738904,
    "sat12": -9488.95501438,
    "sat12_3pl": -9442.95635561,
    "sat12_uncorrelated": -9695.01629327,
    "sat12_correlated": -9488.58401264,
    "sat12_bifactor": -9456.11144356,
}
TWO_DIMENSIONS = -9441.98  # of SAT12, by an earlier mirt
SCIENCE_C2 = {
    "C2": 19.1769221417,
    "df": 2,
    "p": 6.85147799e-05,
    "RMSEA": 0.148207198148,
    "SRMSR": 0.0725905738215,
    "TLI": 0.73013240432,
    "CFI": 0.910044134773,
}
EAP_SUM = [-2.7487972, -2.4309614, -2.0812260, -1.7182440, -1.3637419, -1.0120298, -0.6493404]
EAP_SUM += [-0.2869047, 0.0823100, 0.4870473, 0.9341913, 1.3842353, 1.8532102]  # of Science
LTM = {"lsat": -2466.653, "lsat_1pl": -2466.938, "lsat_rasch": -2473.054, "wirs": -3420.064}  # 1.2, with R 4.2
LTM |= {"science": -1608.871, "science_1pl": -1613.899}
TESTS = Path(__file__).parents[2] / "tests"
R_FILES = TESTS / "families" / "item_response" / "reference"
SCIENCE = ["Comfort", "Work", "Future", "Benefit"]
TRAIT = {"tol": 1e-11, "random_state": 0}
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


def trait(X: Any, counts: Any, name: str) -> dict[str, Any]:
    """A two-parameter model: slopes, intercepts, their errors and all statistics of fit, next to mirt's."""
    mirt = reference(f"{name}_2pl_mirt_louis")
    model = ItemResponseModel(**TRAIT).fit(X, sample_weight=counts)
    found = inference.standard_errors(model, X, sample_weight=counts, robust=False)
    values, errors = mirt[mirt.what == "par"], mirt[mirt.what == "SE"]
    test, theirs = diagnostics.m2_test(model, X, counts), reference(f"{name}_M2_mirt").iloc[0]
    items, fits = diagnostics.item_fit(model, X, counts), reference(f"{name}_itemfit_mirt")
    curves, _ = plots.item_curves(model, open_table(X).with_sample_weight(counts))
    save(curves.figure, name)
    return {
        "items": list(X.columns),
        "log-likelihood": pair(total(model, X, counts), MIRT[name]),
        "slopes": pair(found.estimate["slopes"], values["a1"]),
        "slope errors": pair(found.se["slopes"], errors["a1"]),
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


def total(model: Any, X: Any, counts: Any = None) -> float:
    """The log-likelihood of the table."""
    return float(np.sum(model.score_samples(X) * (1.0 if counts is None else counts)))


def lsat() -> dict[str, Any]:
    table = load_lsat(as_frame=True)
    figures, ltm = trait(table.data, table["count"], "lsat"), reference("lsat_2pl_ltm")
    return figures | {
        "ltm": {
            "difficulties": pair(figures["difficulties"], ltm["value"][:5]),
            "difficulty errors": pair(figures["difficulty errors"], ltm["std.err"][:5]),
            "slopes": pair(figures["slopes"]["ours"], ltm["value"][5:]),
            "slope errors": pair(figures["slope errors"]["ours"], ltm["std.err"][5:]),
        }
    }


def science() -> dict[str, Any]:
    """A graded response model, next to ltm's and mirt's."""
    X, mirt = survey("science_items")[SCIENCE], pd.read_csv(TESTS / "diagnostics" / "science_itemfit_mirt.csv")
    ltm = reference("science_grm_ltm").pivot(index="item", columns="what").loc[SCIENCE]
    model = ItemResponseModel(**TRAIT).fit(X)
    found = inference.standard_errors(model, X, robust=False)
    test, items = diagnostics.m2_test(model, X), diagnostics.item_fit(model, X)
    values, errors = ltm["value"], ltm["std.err"]
    _, information = plots.item_curves(model, X)
    save(information.figure, "science")
    return {
        "items": SCIENCE,
        "slopes": pair(found.estimate["slopes"][::3], values["Dscrmn"]),
        "slope errors": pair(found.se["slopes"][::3], errors["Dscrmn"]),
        "thresholds": pair(found.estimate["difficulties"], values[[f"Extrmt{k}" for k in (1, 2, 3)]]),
        "C2": {key: pair(getattr(test, "m2" if key == "C2" else key.lower()), r) for key, r in SCIENCE_C2.items()},
        **{ours: pair(items[ours], mirt[mirt.model == "science4_graded"][key]) for ours, key in FIT.items()},
        "EAPsum": pair(diagnostics.sum_score_table(model)["dimension_1"], EAP_SUM),
        "MAP": pair(model.latent_scores(X[:20], "MAP")["dimension_1"], pd.read_csv(R_FILES / "science_map.csv")["MAP"]),
    }


def as_in_mirt() -> dict[str, Any]:
    """Models of every item type next to mirt's: log-likelihoods, and the largest difference of a parameter."""
    lsat, sat12, mixed = survey("lsat"), survey("sat12_binary"), pd.read_csv(R_FILES / "mixed.csv")
    lsat.columns, attitudes = sat12.columns[:5], survey("science_items")[SCIENCE]
    halves = {"F1": list(sat12.columns[:16]), "F2": list(sat12.columns[16:])}
    groups = {f"S{g + 1}": list(sat12.columns[8 * g : 8 * g + 8]) for g in range(4)}
    types = {name: {"b": "binary", "o": "ordinal", "n": "nominal"}[name[0]] for name in mixed}
    models: dict[str, tuple[Any, dict[str, Any]]] = {
        "lsat_3pl": (lsat, {"guessing": True}),
        "science_graded": (attitudes, {}),
        "science_gpcm": (attitudes, {"ordinal": "partial_credit"}),
        "science_nominal": (attitudes, {"column_types": "nominal"}),
        "mixed": (mixed, {"column_types": types}),
        "sat12_3pl": (sat12, {"guessing": True}),
        "sat12_uncorrelated": (sat12, {"loadings_pattern": halves}),
        "sat12_correlated": (sat12, {"loadings_pattern": halves, "correlated": True}),
        "sat12_bifactor": (sat12, {"loadings_pattern": {"G": "all", **groups}}),
    }
    found = {}
    for name, (X, settings) in models.items():
        model = ItemResponseModel(**TRAIT, **settings).fit(X)
        ours, theirs = parameters(model, name)
        found[name] = {
            "log-likelihood": pair(total(model, X), MIRT[name]),
            "parameters": int((theirs != 0.0).sum()),
            "apart": float(np.abs(ours - theirs).max()),
            "median": float(np.median(np.abs(ours - theirs)[theirs != 0.0])),
        }
        if name == "mixed":
            eap = pd.read_csv(R_FILES / "mixed_eap.csv")["EAP"]
            found[name]["EAP"] = pair(model.latent_scores(X[:20])["dimension_1"], eap)
        if name == "sat12_correlated":
            found[name]["correlation"] = pair(model.correlations_[0, 1], 0.98092813)
    return found


def parameters(model: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Slopes and intercepts of all answers, ours and mirt's; with partial credit and nominal items less those of a level."""
    table, first = pd.read_csv(R_FILES / "mirt_coefficients.csv"), 0 if name == "mixed" else 1
    own = dict(zip(model.answer_names_, np.column_stack([model.slopes_, model.intercepts_]), strict=True))
    q, ours, theirs = model.slopes_.shape[1], [], []
    for item, rows in table[(table.model == name) & (table.item != "cov")].groupby("item", sort=False):
        p = rows.set_index("parameter")["value"]
        a = p[[f"a{k + 1}" for k in range(q)]].to_numpy()
        if "d" in p:
            answers = {item: [*a, p["d"]]}
        elif "ak0" in p:
            steps = {f"{item}={first + k}": np.array([p["a1"] * p[f"ak{k}"], p[f"d{k}"]]) for k in range(sum(p.index.str.startswith("ak")))}  # fmt: skip
            lowest = next(values for level, values in steps.items() if level not in own)
            answers = {level: values - lowest for level, values in steps.items() if level in own}
        else:
            answers = {f"{item}={first + k}": [*a, p[f"d{k}"]] for k in range(1, len(p))}
        theirs += answers.values()
        ours += [own[answer] for answer in answers]
    left, right = np.array(ours), np.array(theirs, float)
    left[:, :q] *= np.sign((left * right)[:, :q].sum(axis=0))
    return left, right


def as_in_ltm() -> dict[str, Any]:
    """The models of ltm: log-likelihoods, and the largest relative differences of estimates and standard errors."""
    attitudes, found = survey("science_items")[SCIENCE], {}
    for name, X, slopes in (
        ("lsat", survey("lsat"), "free"),
        ("lsat_1pl", survey("lsat"), "equal"),
        ("lsat_rasch", survey("lsat"), 1),
        ("wirs", survey("wirs"), "free"),
        ("science", attitudes, "free"),
        ("science_1pl", attitudes, "equal"),
    ):
        model = ItemResponseModel(slopes=slopes, **TRAIT).fit(X)
        found[name] = {"log-likelihood": pair(total(model, X), LTM[name])}
        if name.startswith("science"):
            continue
        ltm = reference(f"{name}_2pl_ltm" if slopes == "free" else f"{name}_ltm")
        values, errors = ltm[ltm.columns[1]].to_numpy(), ltm[ltm.columns[2]].to_numpy()
        errors_of = inference.standard_errors(model, X, robust=False)
        n = len(X.columns) if slopes == "free" else int(slopes == "equal")
        ours = [np.append(part["difficulties"], part["slopes"][:n]) for part in (errors_of.estimate, errors_of.se)]
        found[name] |= {
            "estimates": pair(ours[0], values[: len(ours[0])]),
            "errors": pair(ours[1], errors[: len(ours[1])]),
        }
    return found


def sat12() -> dict[str, Any]:
    X, unrotated = survey("sat12_binary"), reference("sat12_2d_loadings_unrotated_mirt").iloc[:, 1:].to_numpy()
    figures, plane = trait(X, np.ones(len(X)), "sat12"), ItemResponseModel(2, **TRAIT).fit(X)
    R = {name: reference(f"sat12_2d_{file}").iloc[:, 1:].to_numpy() for name, file in ROTATIONS.items()}
    oblimin = plane.rotate("oblimin").aligned(R["oblimin"])
    return figures | {
        "plane": {
            "log-likelihood": pair(total(plane, X), TWO_DIMENSIONS),
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
        "science": science(),
        "sat12": sat12(),
        "as in mirt": as_in_mirt(),
        "as in ltm": as_in_ltm(),
        "carcinoma": carcinoma(polca, stepmix),
        "gss82": gss82(polca, stepmix),
        "election": election(polca, stepmix),
        "sat12_classes": sat12_classes(stepmix["sat12_binary"]),
        "ability": ability(),
    }
    record("tutorials/tutorials", figures, seeds=[0], packages=("pandas", "matplotlib"), aloud=False)
