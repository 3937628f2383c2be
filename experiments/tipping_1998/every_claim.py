"""Every claim of the paper, sentence by sentence: how it was tested, its figure next to ours, and the verdict."""

from typing import Any

import numpy as np
from common import HOLDS, NOT, PART, UNKNOWN, claims_table

TABLES = ("Synthetic-16", "Digit-256")
SHORT = {"Synthetic-16": "synthetic", "Digit-256": "twos"}


def claims(found: dict[str, Any]) -> str:
    """The table, and how many claims got each verdict."""
    return claims_table(
        [*of_the_model(found), *of_the_bound(found), *of_the_maps(found["maps"]), *of_table1(found), *of_the_end(found)]
    )


def median(runs: list[dict[str, Any]], key: str, name: str) -> float:
    return float(np.median([run[key][name] for run in runs]))


def there(found: dict[str, Any]) -> list[str]:
    """Tables that were at hand."""
    return [name for name in TABLES if not isinstance(found[name], str)]


def joined(words: dict[str, str]) -> str:
    return "; ".join(f"{SHORT.get(name, name)} {word}" for name, word in words.items())


def of_the_model(found: dict[str, Any]) -> list[list[Any]]:
    table, kinds, printed = found["table1"], found["kinds"], found["printed"]
    gains = {name: one["gain"]["a map of each kind"] for name, one in kinds["tables"].items()}
    better = all(gain > 2.0 * error for gain, error in gains.values())
    best = {name: min(one["error"] for one in table[name].values() if isinstance(one, dict)) for name in there(table)}
    draws = {
        name: {
            of: median(printed[name]["runs"], "error_on_the_draws", of) - median(printed[name]["runs"], "error", of)
            for of in ("variational", "sampling")
        }
        for name in there(printed)
    }
    closer = found["closer"]
    errors = None if isinstance(closer, str) else list(closer["error"].items())
    wider = "" if errors is None else f"ten digits: {errors[1][1]:.1f}; {errors[3][0]}: {errors[3][1]:.1f}"
    falls = max(run["falls"]["sampling"] for name in there(printed) for run in printed[name]["runs"])
    return [
        [
            "abstract, conclusions: binary, categorical and continuous columns on one map",
            "one map of all columns against maps of each kind by itself, held-out rows, nats a row",
            "readily implemented",
            "; ".join(f"{name} {gain:+.2f} ± {error:.2f}" for name, (gain, error) in gains.items()),
            HOLDS if better else PART,
        ],
        [
            "introduction: there are very few methods for binary data",
            "not tested: of its time",
            "",
            "",
            UNKNOWN,
        ],
        [
            "introduction, section 2: with continuous columns the model is principal component analysis",
            f"{kinds['real_columns']['columns']} real columns with one noise: places, next to the closed form",
            "equivalent",
            f"largest difference {kinds['real_columns']['largest_difference']:.0e}",
            HOLDS,
        ],
        [
            "section 2: two dimensions capture dependencies between the columns",
            "error below that of independent bits",
            "no figure",
            joined({name: f"{best[name]:.2f} for {table[name]['independent bits']:.2f}" for name in best}),
            HOLDS,
        ],
        [
            "section 2: independence given the place holds only approximately",
            "error with more dimensions",
            "no figure",
            wider,
            HOLDS,
        ],
        [
            "equation 3: a sample of the prior approximates the likelihood",
            f"error on {printed['draws']} draws, less the true error of the same fit",
            "no figure",
            joined(
                {n: f"variational {d['variational']:+.3f}, sampling {d['sampling']:+.3f}" for n, d in draws.items()}
            ),
            PART,
        ],
        [
            "section 3: EM, with a regression in the M-step, raises equation 3",
            "largest fall in a pass, both tables, nats a row",
            "0",
            f"{falls:.0e}",
            HOLDS if falls < 1e-4 else PART,
        ],
    ]


def of_the_bound(found: dict[str, Any]) -> list[list[Any]]:
    checks, printed = found["checks"], found["printed"]
    inner = {name: printed[name]["inner"] for name in there(printed)}
    worst = {
        way: max(one[way]["2"] for passes in inner.values() for one in passes.values()) for way in ("warm", "cold")
    }
    rising, table = printed["Synthetic-16"]["true_error"], found["table1"]["Synthetic-16"]
    measured = {name: check["measured"] for name, check in checks.items()}
    return [
        [
            "equation 5: the approximation is below the likelihood",
            "largest difference of any row",
            "at most 0",
            f"{measured['the bound is below the likelihood of every row (largest difference)']:.2f}",
            HOLDS,
        ],
        [
            "its integral (4) has a closed form",
            "against a sum over the plane, largest difference",
            "exact",
            f"{measured['the bound equals its integral over the plane (largest difference)']:.0e}",
            HOLDS,
        ],
        [
            "equations 6 to 12 are the updates",
            "programmed as printed; its final bound next to the library's, nats a row",
            "exact",
            f"apart by {printed['same_as_the_library']:.0e}",
            HOLDS,
        ],
        [
            "each pass raises the bound",
            "largest fall a row",
            "0",
            f"{measured['the bound never falls (largest fall a row)']:.0e}",
            HOLDS,
        ],
        [
            "but will not necessarily maximise the likelihood",
            "error at the end next to exact EM's, synthetic; passes in which the true error rises",
            "no figure",
            f"{table['variational']['error']:.2f} for {table['quadrature']['error']:.2f}; {rising['error_rises']} of "
            f"{rising['passes']}",
            HOLDS,
        ],
        [
            "two updates of ξ are typically enough",
            "nats a row missing after two, at most; ξ kept from the pass before, or begun at the prior",
            "2",
            f"kept {worst['warm']:.0e}, begun again {worst['cold']:.2f}",
            PART if worst["cold"] > 0.01 else HOLDS,
        ],
    ]


def of_the_maps(maps: dict[str, Any]) -> list[list[Any]]:
    low, high = (maps["synthetic"][flip] for flip in ("0.05", "0.15"))
    share = "nearest_neighbour_of_the_same_prototype"
    rows: list[list[Any]] = [
        [
            "Figure 1, left: three clusters are clear, and so are the prototypes",
            "nearest place of the same prototype; rows without an error, next to the most frequent other row",
            "no figure",
            f"{100 * low[share]:.1f}% (PCA {100 * low['the_same_by_pca']:.1f}%); {copies(low)}",
            HOLDS,
        ],
        [
            "right: with more noise clusters overlap to a degree",
            "the same share",
            "no figure",
            f"{100 * high[share]:.1f}% (PCA {100 * high['the_same_by_pca']:.1f}%)",
            HOLDS,
        ],
        [
            "and the prototypes are no longer evident",
            "the same counts",
            "no figure",
            f"{copies(high)}: still the most frequent rows",
            PART,
        ],
        [
            "the lines P = 1/2 show that there are three clusters",
            "bits of the prototypes read off the sides of the lines",
            "no figure",
            f"{high['bits_on_the_right_side_of_their_line']} of {high['bits']} right",
            HOLDS,
        ],
    ]
    digits = maps["digits"]
    if isinstance(digits, str):
        return [*rows, ["Figure 2", "", "", digits, UNKNOWN]]
    return [
        *rows,
        [
            "Figure 2: the twos lie in an approximate horseshoe",
            "share of one direction that a quadratic in the other explains",
            "no figure",
            f"{100 * digits['explained_by_a_quadratic']:.0f}%; PCA {100 * digits['the_same_by_pca']:.0f}%; Gaussian "
            f"draws at most {100 * digits['bend_of_draws']:.0f}%",
            PART,
        ],
        [
            "the place tells the style, notably whether there is a loop",
            "loop or not from the ten nearest places, area under the curve",
            "no figure",
            f"{digits['loop_from_the_place']:.2f} (PCA {digits['loop_from_the_place_by_pca']:.2f}; chance 0.50)",
            PART,
        ],
    ]


def copies(one: dict[str, Any]) -> str:
    pairs = zip(one["copies_without_an_error"], one["most_frequent_other_row"], strict=True)
    return ", ".join(f"{right} to {other}" for right, other in pairs)


def of_table1(found: dict[str, Any]) -> list[list[Any]]:
    table, printed = found["table1"], found["printed"]
    rows: list[list[Any]] = []
    paper = {"Synthetic-16": ("5.14", "4.93"), "Digit-256": ("30.23", "30.19")}
    for name in there(table):
        errors = tuple(f"{table[name][of]['error']:.2f}" for of in ("variational", "sampling") if of in table[name])
        close = errors and all(abs(float(a) - float(b)) < 0.05 for a, b in zip(errors, paper[name], strict=False))
        ours = ", ".join(errors)
        how = "929 USPS twos; its images are unknown"
        if name == TABLES[0]:  # the seed was picked to match: no more than "in part"
            how = "data seed 3, picked because it comes closest of ten; the range of the ten"
            ours += "; " + ", ".join(
                f"{min(table['spread'][of]):.2f} to {max(table['spread'][of]):.2f}"
                for of in ("variational", "sampling")
            )
        rows.append([f"Table 1, {name}: errors", how, ", ".join(paper[name]), ours, PART if close else NOT])
    ratios = {
        name: median(printed[name]["runs"], "seconds", "sampling")
        / median(printed[name]["runs"], "seconds", "variational")
        for name in there(printed)
    }
    fast = sum(ratio > 2.0 for ratio in ratios.values())
    library = {
        name: table[name]["sampling"]["seconds"] / table[name]["variational"]["seconds"]
        for name in there(table)
        if "sampling" in table[name]
    }
    return [
        *rows,
        [
            "Table 1, Figure 3: the variational program converges considerably faster",
            "both programs as printed, same starts, in turn: median time of sampling, as a multiple",
            "42 and 47 times",
            f"{joined({n: f'{r:.1f}' for n, r in ratios.items()})}; the library's own programs: "
            f"{joined({n: f'{r:.1f}' for n, r in library.items()})}",
            HOLDS if fast == len(ratios) else PART if fast else NOT,
        ],
        [
            "and sooner to the same error",
            "median seconds until sampling has the variational program's final error",
            "Figure 3, not readable",
            joined({n: sooner(printed[n]["runs"]) for n in there(printed)}),
            NOT,
        ],
        *of_the_errors(found),
    ]


def sooner(runs: list[dict[str, Any]]) -> str:
    reached = [run["sampling_reaches_the_variational_error_after"] for run in runs]
    took = [one for one in reached if one is not None]
    of = f"{np.median(took):.2f}" if took else "never"
    return f"{of} s, variational {np.median([run['variational_is_within_a_hundredth_after'] for run in runs]):.2f} s"


def of_the_errors(found: dict[str, Any]) -> list[list[Any]]:
    table, by_columns = found["table1"], found["claim"]
    lost = {
        name: (table[name]["variational"]["error"] - table[name]["sampling"]["error"], table[name]["sampling"]["error"])
        for name in there(table)
        if "sampling" in table[name]
    }
    one = table["Synthetic-16"]
    whole = one["variational"]["error"] - one["quadrature"]["error"]
    closed = (one["variational"]["error"] - one["polished"]["error"]) / whole
    rows: list[list[Any]] = [
        [
            "the difference in error is small, particularly for more columns",
            "variational less sampling, nats a row",
            "0.21 (4.3%), 0.04 (0.1%)",
            joined({name: f"{gap:.2f} ({100 * gap / error:.1f}%)" for name, (gap, error) in lost.items()}),
            HOLDS,
        ],
        [
            "the posterior's approximation is the key to the accuracy",
            "share of the excess error that a better Gaussian (the polish) removes, synthetic",
            "no figure",
            f"{100 * closed:.0f}%",
            HOLDS,
        ],
    ]
    twos = by_columns["Digit 2"]
    if isinstance(twos, str) or "256" not in twos:
        return rows
    few, many = by_columns["Figure 4"], twos["256"]
    gaussian = "total_variation_of_the_best_gaussian"
    return [
        *rows,
        [
            "Figure 4: the approximate posterior is more accurate with more columns",
            f"mean distance from the true one, {by_columns['rows_compared']} rows, 0 to 1: 16 and 256 columns",
            "pictures",
            f"{few['total_variation']:.2f} and {many['total_variation']:.2f}; same kind of table: "
            f"{steps(by_columns, 'total_variation')}",
            PART if many["total_variation"] < few["total_variation"] else NOT,
        ],
        [
            "because the true posterior becomes more Gaussian",
            "mean distance of the true one from its best Gaussian",
            "no figure",
            f"{few[gaussian]:.3f} and {many[gaussian]:.3f}; same kind of table: {steps(by_columns, gaussian)}",
            PART,
        ],
    ]


def steps(by_columns: dict[str, Any], key: str) -> str:
    return "; ".join(
        f"{words} " + ", ".join(f"{one[key]:.3f}" for one in by_columns[title].values())
        for title, words in (("Synthetic", "synthetic"), ("Digit 2", "twos"))
    )


def of_the_end(found: dict[str, Any]) -> list[list[Any]]:
    tree = found["tree"]
    gains = [one["tree_less_one_map"] for one in tree["repeats"]]
    flat = [one["tree_less_flat"][0] for one in tree["repeats"]]
    return [
        ["the same was seen with other data sets", "not tested: they are not named", "", "", UNKNOWN],
        [
            "conclusions: several models in a hierarchy are possible",
            f"a tree of {', '.join(map(str, tree['maps']))} maps of digits: leaves less one map, new images, nats a "
            f"row; {len(gains)} seeds",
            "no figure",
            f"{min(g for g, _ in gains):+.2f} to {max(g for g, _ in gains):+.2f}; less a flat mixture {min(flat):+.2f} "
            f"to {max(flat):+.2f}",
            HOLDS if all(gain > 2.0 * error for gain, error in gains) else NOT,
        ],
    ]
