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


def sat12(f: dict[str, Any]) -> str:
    rows = [
        [
            item,
            *(with_error(f["slopes"][who], f["slope errors"][who], at, 2) for who in ("ours", "theirs")),
            *(with_error(f["intercepts"][who], f["intercept errors"][who], at, 2) for who in ("ours", "theirs")),
            " / ".join(both(f["s_x2"], at, 2)),
            f"{f['df']['ours'][at]:.0f}",
            f"{p:.3f}" if (p := f["p"]["ours"][at]) >= 0.001 else "< .001",
        ]
        for at, item in enumerate(f["items"])
    ]
    head = ["item", "slope (SE)", "mirt", "intercept (SE)", "mirt", "S-X², ours / mirt", "df", "p"]
    names = ("slopes", "slope errors", "intercepts", "intercept errors", "s_x2")
    worst = max(relative(f[name]) for name in names)
    return f"{table(head, rows)}\n\nThe largest relative difference in this table is {percent(worst)}."


def map_fit(f: dict[str, Any]) -> str:
    rows = [["log-likelihood", *both(f["log-likelihood"])]]
    rows += [
        [{"M2": "M₂"}.get(name, name), *(f"{pair[who][0]:.{5 if name == 'M2' else 4}g}" for who in ("ours", "theirs"))]
        for name, pair in f["M2"].items()
    ]
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
    rows: list[list[object]] = []
    for name, f in (("LSAT", found["lsat"]), ("SAT12", found["sat12"])):
        count = len(f["items"])
        rows += [
            [f"{name}: log-likelihood", " / ".join(both(f["log-likelihood"])), percent(relative(f["log-likelihood"]))],
            [f"{name}: {count} slopes", "", percent(relative(f["slopes"]))],
            [f"{name}: {count} intercepts", "", percent(relative(f["intercepts"]))],
            [
                f"{name}: their standard errors",
                "",
                percent(max(relative(f["slope errors"]), relative(f["intercept errors"]))),
            ],
            [
                f"{name}: M₂ ({f['M2']['df']['ours'][0]:.0f} df)",
                " / ".join(both(f["M2"]["M2"])),
                percent(relative(f["M2"]["M2"])),
            ],
            [f"{name}: S-X² of the items", "", percent(relative(f["s_x2"]))],
            [f"{name}: infit and outfit", "", percent(max(relative(f["infit"]), relative(f["outfit"])))],
        ]
    return table(["figure", "hiddenbits / mirt", "largest relative difference"], rows)


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
            "fit": map_fit(found["lsat"]),
            "item fit": item_fit(found["lsat"]),
        },
        "tutorials/sat12.md": {
            "items": sat12(found["sat12"]),
            "fit": map_fit(found["sat12"]),
            "plane": plane(found["sat12"]),
        },
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
