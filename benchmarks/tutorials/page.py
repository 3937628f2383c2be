"""Fill in the tables of docs/tutorials and docs/coming_from, ours next to the other programs', from results/tutorials.json."""

from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.record import DOCS, how, load, table
from experiments.common import filled

INNER = (0.02, 0.98)  # errors of probabilities nearer to 0 or 1 are not compared
BORDER = 0.001  # estimates nearer to 0 or 1 have no error
Pair = dict[str, list[float]]


def relative(pair: Pair) -> float:
    """The largest difference, relative to the other program's figure."""
    ours, theirs = np.array(pair["ours"]), np.array(pair["theirs"])
    return float(np.max(np.abs(ours - theirs) / np.abs(theirs)))


def apart(pair: Pair) -> float:
    """The largest difference."""
    return float(np.max(np.abs(np.array(pair["ours"]) - np.array(pair["theirs"]))))


def inner(errors: Pair, values: Pair) -> Pair:
    """Errors of the probabilities that are not near 0 or 1."""
    which = [INNER[0] < p < INNER[1] for p in values["theirs"]]
    return {key: [e for e, one in zip(errors[key], which, strict=True) if one] for key in errors}


def percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share >= 1e-5 else "less than 0.001%"


def difference(pair: Pair) -> str:
    return f"{apart(pair):.1g}"


def with_error(values: list[float], errors: list[float], at: int, digits: int = 3) -> str:
    return f"{values[at]:.{digits}f} ({errors[at]:.{digits}f})"


def both(pair: Pair, at: int = 0, digits: int = 3) -> list[str]:
    return [f"{pair[who][at]:.{digits}f}" for who in ("ours", "theirs")]


def lsat(f: dict[str, Any]) -> str:
    ltm, rows = f["ltm"], []
    for at, item in enumerate(f["items"]):
        cells = [
            with_error(ltm[name][who], ltm[errors][who], at)
            for name, errors in (("slopes", "slope errors"), ("difficulties", "difficulty errors"))
            for who in ("ours", "theirs")
        ]
        rows.append([item, *cells])
    head = ["item", "discrimination (SE)", "ltm", "difficulty (SE)", "ltm"]
    worst = max(relative(ltm[name]) for name in ltm)
    return f"{table(head, rows)}\n\nThe largest relative difference among these 20 values is {percent(worst)}."


def science(f: dict[str, Any]) -> str:
    rows = []
    for at, item in enumerate(f["items"]):
        slopes = [with_error(f["slopes"][who], f["slope errors"][who], at) for who in ("ours", "theirs")]
        thresholds = [
            ", ".join(f"{value:.3f}" for value in f["thresholds"][who][3 * at : 3 * at + 3])
            for who in ("ours", "theirs")
        ]
        rows.append([item, *slopes, *thresholds])
    return table(["item", "discrimination (SE)", "ltm", "thresholds", "ltm"], rows)


def sat12(f: dict[str, Any]) -> str:
    worst = max(relative(f[name]) for name in ("slopes", "slope errors", "intercepts", "intercept errors", "s_x2"))
    return f"Slopes, intercepts, their standard errors and S-X² of the 32 items differ from mirt's by at most {percent(worst)}."


def model_fit(fit: dict[str, Any], *first: list[object]) -> str:
    rows = list(first)
    rows += [
        [{"M2": "M₂", "C2": "C₂"}.get(name, name), *(f"{pair[who][0]:.{5 if name in ('M2', 'C2') else 4}g}" for who in ("ours", "theirs"))]
        for name, pair in fit.items()
    ]  # fmt: skip
    return table(["", "hiddenbits", "mirt"], rows)


def item_fit(f: dict[str, Any]) -> str:
    names = {"s_x2": "S-X²", "df": "df", "p": "p", "infit": "infit", "outfit": "outfit"}
    rows = []
    for at, item in enumerate(f["items"]):
        digits = {"df": 0}
        rows.append([item, *(" / ".join(both(f[name], at, digits.get(name, 3))) for name in names)])
    worst = max(relative(f[name]) for name in names)
    return f"{table(['item; ours / mirt', *names.values()], rows)}\n\nThe largest relative difference in this table is {percent(worst)}."


def plane(f: dict[str, Any]) -> str:
    p, turned = f["plane"], f["rotations of mirt's loadings"]
    rows = [
        ["log-likelihood", *both(p["log-likelihood"], 0, 2), difference(p["log-likelihood"])],
        ["correlation of the oblimin factors", *both(p["factor correlation"]), difference(p["factor correlation"])],
        ["64 oblimin loadings, each program's own fit", "", "", difference(p["oblimin"])],
        *(
            [f"64 {name} loadings, mirt's fit rotated by both", "", "", difference(pair)]
            for name, pair in turned.items()
        ),
    ]
    return table(["", "hiddenbits", "R", "largest difference"], rows)


def sizes(f: dict[str, Any]) -> str:
    rows = []
    for K, one in f["classes"].items():
        names = ("log_likelihood", "aic", "bic", "g2", "entropy")
        cells = [" / ".join(both(one[name], 0, 3)) for name in names]
        rows.append([K, one["parameters"], *cells])
    head = ["classes", "parameters", "log-likelihood, ours / poLCA", "AIC", "BIC", "G²", "entropy"]
    return table(head, rows)


def classes(f: dict[str, Any], names: tuple[str, ...]) -> str:
    one = f["classes"]["3"]
    step, rows = len(one["levels"]), []
    for name, at in [
        ("share", None),
        ("predicted share", None),
        *((name, at) for at, name in enumerate(one["levels"])),
    ]:
        values, errors = ("shares", "share errors") if at is None else ("profiles", "profile errors")
        cells = []
        for k in range(3):
            for who in ("ours", "theirs"):
                where = k if at is None else at + k * step
                if name == "predicted share":
                    cells.append(f"{one['assigned'][who][k]:.3f}")
                elif at is not None and not BORDER < one[values]["theirs"][where] < 1 - BORDER:
                    cells.append(f"{one[values][who][where]:.3f}")
                else:
                    cells.append(with_error(one[values][who], one[errors][who], where))
        rows.append([name.replace("|Pr(2)", "").replace("|", ": "), *cells])
    head = ["", *(words for name in names for words in (f"{name} (SE)", "poLCA"))]
    worst = relative(inner(one["profile errors"], one["profiles"]))
    return (
        f"{table(head, rows)}\n\nLargest differences: probabilities {difference(one['profiles'])}, standard errors "
        f"{percent(worst)} (of probabilities between .02 and .98) and {percent(relative(one['share errors']))} (of shares)."
    )


def tests(f: dict[str, Any]) -> str:
    rows = [[name, f"{one['statistic']:.2f}", f"{one['p']:.2f}", one["n"]] for name, one in f["bootstrap"].items()]
    return table(["classes", "2 x difference of log-likelihoods", "p", "simulated tables"], rows)


def loadings(f: dict[str, Any], K: int) -> str:
    one, rows = f["factors"][str(K)], []
    for at, item in enumerate(f["items"]):
        cells = [both(one["loadings"], at * K + k, 3) for k in range(K)]
        rows.append([item, *(cell for two in cells for cell in two)])
    head = ["item", *(words for k in range(K) for words in (f"factor {k + 1}", "psych"))]
    phi = ", ".join(both(one["correlations"])) if K == 2 else ""
    said = (
        f"Correlation of the factors, ours and psych's: {phi}. "
        if phi
        else f"The {len(one['correlations']['ours'])} correlations of the factors differ by at most {difference(one['correlations'])}. "
    )
    return f"{table(head, rows)}\n\n{said}Loadings differ by at most {difference(one['loadings'])}."


def agree_mirt(found: dict[str, Any]) -> str:
    calls: list[list[object]] = []
    for name in ("lsat", "sat12"):
        f = found[name]
        apart_by = max(apart(f[key]) for key in ("slopes", "intercepts"))
        calls.append([MODELS[name], " / ".join(both(f["log-likelihood"])), 2 * len(f["items"]), f"{apart_by:.0e}"])
    for name, words in MODELS.items():
        if name in found["as in mirt"]:
            f = found["as in mirt"][name]
            words += f" ({' / '.join(both(f['correlation']))})" if "correlation" in f else ""
            calls.append([words, " / ".join(both(f["log-likelihood"])), f["parameters"], f"{f['apart']:.0e}"])
    calls.append([MODELS["plane"], " / ".join(both(found["sat12"]["plane"]["log-likelihood"], 0, 2)), "", ""])
    one, science, all_mirt = found["lsat"], found["science"], found["as in mirt"]
    results = {
        "standard errors, LSAT and SAT12": max(
            relative(found[name][key]) for name in ("lsat", "sat12") for key in ("slope errors", "intercept errors")
        ),
        f"`M2`, LSAT: {' / '.join(both(one['M2']['M2']))}": relative(one["M2"]["M2"]),
        f"`M2`, SAT12: {' / '.join(both(found['sat12']['M2']['M2']))}": relative(found["sat12"]["M2"]["M2"]),
        f'`M2(type = "C2")`, Science: {" / ".join(both(science["C2"]["C2"]))}': relative(science["C2"]["C2"]),
        "`itemfit`: S-X², infit and outfit of LSAT, SAT12 and Science": max(
            relative(f[key]) for f in (one, found["sat12"], science) for key in ("s_x2", "infit", "outfit")
        ),
    }
    scores = {
        '`fscores(method = "EAP")`, 20 rows of a table of several types': all_mirt["mixed"]["EAP"],
        '`fscores(method = "MAP")`, 20 rows of Science': science["MAP"],
        '`fscores(method = "EAPsum")`, 13 sum scores of Science': science["EAPsum"],
    }
    head = ["model", "log-likelihood, ours / mirt", "slopes and intercepts", "largest difference"]
    rows: list[list[object]] = [[name, percent(worst)] for name, worst in results.items()]
    rows += [[name, difference(two)] for name, two in scores.items()]
    return f"{table(head, calls)}\n\n{table(['result', 'largest difference, relative of all but scores'], rows)}"


def agree_ltm(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, words in LTM.items():
        f = found["as in ltm"][name]
        if name == "science":
            thresholds = max(relative(found["science"][key]) for key in ("slopes", "thresholds"))
            cells = [percent(thresholds), f"{percent(relative(found['science']['slope errors']))} (slopes)"]
        else:
            cells = [percent(relative(f[key])) if key in f else "" for key in ("estimates", "errors")]
        rows.append([words, " / ".join(both(f["log-likelihood"])), *cells])
    head = ["call in R", "log-likelihood, ours / ltm", "estimates: largest relative difference", "standard errors"]
    return table(head, rows)


MODELS = {
    "lsat": "LSAT, 2PL",
    "lsat_3pl": "LSAT, 3PL with a prior of guessing",
    "science_graded": "Science, graded",
    "science_gpcm": "Science, gpcm",
    "science_nominal": "Science, nominal",
    "mixed": "simulated: 3 binary, 2 graded items, 1 nominal",
    "sat12": "SAT12, 2PL",
    "sat12_3pl": "SAT12, 3PL with the same prior",
    "sat12_uncorrelated": "SAT12, two dimensions of 16 items, uncorrelated",
    "sat12_correlated": "the same, correlated",
    "sat12_bifactor": "SAT12, bifactor with four groups of 8 items",
    "plane": "SAT12, two dimensions (an earlier mirt)",
}
LTM = {
    "lsat": "`ltm(LSAT ~ z1)`",
    "lsat_1pl": "`rasch(LSAT)`",
    "lsat_rasch": "`rasch(LSAT, constraint = cbind(6, 1))`",
    "wirs": "`ltm(WIRS ~ z1)`",
    "science": "`grm(Science[c(1, 3, 4, 7)])`",
    "science_1pl": "`grm(Science[c(1, 3, 4, 7)], constrained = TRUE)`",
}
NAMES = {
    "carcinoma": "carcinoma, 118 x 7",
    "gss82": "gss82, 1,202 x 4",
    "election": "election, 1,785 x 12, missing values",
    "sat12_classes": "SAT12, 600 x 32",
}


def agree_polca(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name in ("carcinoma", "gss82", "election"):
        for K, one in found[name]["classes"].items():
            ours, theirs, attempts = one["agreeing"]
            rows.append(
                [
                    NAMES[name],
                    K,
                    " / ".join(both(one["log_likelihood"])),
                    " / ".join(both(one["bic"])),
                    difference(one["profiles"]),
                    percent(relative(one["share errors"])),
                    percent(relative(inner(one["profile errors"], one["profiles"]))),
                    f"{ours} of {one['restarts']} / {theirs:.0f} of {attempts:.0f}",
                ]
            )
    head = [
        "table",
        "classes",
        "log-likelihood, ours / poLCA",
        "BIC",
        "probabilities: largest difference",
        "errors of shares",
        "errors of probabilities in .02 to .98",
        "starts that reach the best",
    ]
    return table(head, rows)


def agree_psych(found: dict[str, Any]) -> str:
    f = found["ability"]
    rows: list[list[object]] = [["120 tetrachoric correlations", difference(f["correlations"])]]
    for K, one in f["factors"].items():
        rows += [
            [f"{len(one['loadings']['ours'])} oblimin loadings, {K} factors", difference(one["loadings"])],
            [f"correlations of the {K} factors", difference(one["correlations"])],
        ]
    return table(["figure", "largest difference"], rows)


def agree_stepmix(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, words in NAMES.items():
        f = found[name] if name == "sat12_classes" else found[name]["stepmix"]
        rows.append([words, " / ".join(both(f["log_likelihood"])), difference(f["shares"])])
    return table(["table, 3 classes", "log-likelihood, ours / StepMix", "shares: largest difference"], rows)


def pages() -> dict[Path, str]:
    report = load("tutorials/tutorials")
    found, peers, classed = report["figures"], load("tutorials/peers"), load("tutorials/classes")
    polca = classed["figures"]["polca"]["versions"]
    versions = peers["figures"]["psych"]["versions"]
    made = f"{how(report)} psych {versions['psych']} and GPArotation {versions['GPArotation']} with R {versions['R']}: `{peers['command']}`."
    stepmix = (
        f"poLCA {polca['poLCA']} with R {polca['R']} and StepMix {classed['figures']['stepmix']['version']}: "
        f"`{classed['command']}`."
    )
    parts = {
        "tutorials/lsat.md": {
            "items": lsat(found["lsat"]),
            "fit": model_fit(found["lsat"]["M2"], ["log-likelihood", *both(found["lsat"]["log-likelihood"])]),
            "item fit": item_fit(found["lsat"]),
        },
        "tutorials/sat12.md": {
            "items": sat12(found["sat12"]),
            "fit": model_fit(found["sat12"]["M2"], ["log-likelihood", *both(found["sat12"]["log-likelihood"])]),
            "plane": plane(found["sat12"]),
        },
        "tutorials/science.md": {"items": science(found["science"]), "fit": model_fit(found["science"]["C2"])},
        "tutorials/carcinoma.md": {
            "sizes": sizes(found["carcinoma"]),
            "tests": tests(found["carcinoma"]),
            "classes": classes(found["carcinoma"], ("yes", "no", "split")),
        },
        "tutorials/gss82.md": {
            "sizes": sizes(found["gss82"]),
            "classes": classes(found["gss82"], ("ideal", "believers", "skeptics")),
        },
        "tutorials/ability.md": {"two": loadings(found["ability"], 2), "four": loadings(found["ability"], 4)},
        "tutorials/index.md": {"made": f"{made} {stepmix}"},
        "coming_from/mirt.md": {"agree": agree_mirt(found)},
        "coming_from/ltm.md": {"agree": agree_ltm(found)},
        "coming_from/polca.md": {"agree": agree_polca(found)},
        "coming_from/psych.md": {"agree": agree_psych(found)},
        "coming_from/stepmix.md": {"agree": agree_stepmix(found)},
    }
    texts = {}
    for name, marks in parts.items():
        text = (DOCS / name).read_text(encoding="utf-8")
        for mark, words in marks.items():
            text = filled(text, mark, f"\n{words}\n")
        texts[DOCS / name] = text
    return texts
