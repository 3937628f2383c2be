"""Every claim of the paper, sentence by sentence: how it was tested, its figure next to ours, and the verdict."""

from typing import Any

import numpy as np
from claims_of_the_model import TABLES, error_of, joined, median, of_the_bound, of_the_model, there
from common import HOLDS, NOT, PART, UNKNOWN, claims_table


def claims(found: dict[str, Any]) -> str:
    """The table, and how many claims got each verdict."""
    return claims_table(
        [*of_the_model(found), *of_the_bound(found), *of_the_maps(found["maps"]), *of_table1(found), *of_the_end(found)]
    )


def of_the_maps(maps: dict[str, Any]) -> list[list[Any]]:
    low, high = (maps["synthetic"][flip] for flip in ("0.05", "0.15"))
    share = "nearest_neighbour_of_the_same_prototype"
    counts = zip(high["copies_without_an_error"], high["most_frequent_other_row"], strict=True)
    still = all(right > other for right, other in counts)
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
            copies(high) + (": still the most frequent rows" if still else ""),
            NOT if still else HOLDS,
        ],
        [
            "the lines P = 1/2 are more convincing evidence of three clusters",
            "bits of the prototypes read off the sides of the lines, at the mean places of the three groups",
            "no figure",
            f"{high['bits_on_the_right_side_of_their_line']} of {high['bits']} right; the groups were known: not a "
            "test of finding them",
            PART,
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
        fits = [table[name][of] for of in ("variational", "sampling") if of in table[name]]
        close = all(abs(one["error"] - float(goal)) < 0.05 for one, goal in zip(fits, paper[name], strict=False))
        ours = ", ".join(map(error_of, fits))
        how = "929 USPS twos; its images are unknown"
        if name == TABLES[0]:  # the seed was picked to match: no more than "in part"
            how = "data seed 3, picked because it comes closest of ten; the range of the ten"
            ours += "; " + ", ".join(
                f"{min(table['spread'][of]):.2f} to {max(table['spread'][of]):.2f}"
                for of in ("variational", "sampling")
            )
        rows.append([f"Table 1, {name}: errors", how, ", ".join(paper[name]), ours, PART if close else NOT])
    ratios = {name: times(printed[name]["runs"]) for name in there(printed)}
    fast = sum(min(each) > 2.0 for each in ratios.values())
    library = {
        name: table[name]["sampling"]["seconds"] / table[name]["variational"]["seconds"]
        for name in there(table)
        if "sampling" in table[name]
    }
    return [
        *rows,
        [
            "Table 1, Figure 3: the variational program converges considerably faster",
            "both programs as printed but for a ridge and limits on regressions, same starts, in turn: time of "
            "sampling as a multiple, median (range)",
            "42 and 47 times",
            f"{joined({n: spoken_times(each) for n, each in ratios.items()})}; the library's own programs: "
            f"{joined({n: f'{r:.1f}' for n, r in library.items()})}",
            HOLDS if fast == len(ratios) else PART if fast else NOT,
        ],
        *of_the_errors(found),
    ]


def times(runs: list[dict[str, Any]]) -> list[float]:
    """How many times as long sampling takes, from each start."""
    return [run["seconds"]["sampling"] / run["seconds"]["variational"] for run in runs]


def spoken_times(each: list[float]) -> str:
    return f"{np.median(each):.1f} ({min(each):.1f} to {max(each):.1f})"


def differences(runs: list[dict[str, Any]], key: str) -> tuple[float, float]:
    """Variational less sampling from the same start, median; and as a share of sampling's error, in percent."""
    gaps = [run[key]["variational"] - run[key]["sampling"] for run in runs]
    return float(np.median(gaps)), 100.0 * float(np.median(gaps)) / median(runs, key, "sampling")


def of_the_errors(found: dict[str, Any]) -> list[list[Any]]:
    table, by_columns, printed = found["table1"], found["claim"], found["printed"]
    like = {name: differences(printed[name]["runs"], "error_on_the_draws") for name in there(printed)}
    true = {name: differences(printed[name]["runs"], "error") for name in there(printed)}
    one = table["Synthetic-16"]
    whole = one["variational"]["error"] - one["quadrature"]["error"]
    closed = (one["variational"]["error"] - one["polished"]["error"]) / whole
    rows: list[list[Any]] = [
        [
            "the difference in error is small, particularly for more columns",
            f"variational less sampling on the same {printed['draws']} draws, as in the paper, nats a row: median of "
            f"{len(printed['Synthetic-16']['runs'])} starts; and of true errors",
            "0.21 (4.3%), 0.04 (0.1%)",
            f"{joined({n: f'{gap:.2f} ({share:.1f}%)' for n, (gap, share) in like.items()})}; true errors: "
            f"{joined({n: f'{gap:.2f} ({share:.1f}%)' for n, (gap, share) in true.items()})}: small, but with more "
            "columns much smaller only as a share",
            PART,
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
            "the posterior's approximation is the key to the accuracy",
            "share of the excess error that a better Gaussian (the polish) removes, synthetic; distance of the "
            "posteriors from the true ones next to the excess error, synthetic and twos",
            "no figure",
            f"{100 * closed:.0f}%; {few['total_variation']:.2f} with {few['excess_percent']:.1f}% and "
            f"{many['total_variation']:.2f} with {many['excess_percent']:.1f}% (estimate): the distance does not tell "
            "the error",
            PART,
        ],
        [
            "conclusions: the approximation appears acceptably accurate",
            "excess error above the polished fit; width of the posterior next to the true one, synthetic and twos",
            '"acceptably"',
            f"{few['excess_percent']:.1f}% and {many['excess_percent']:.1f}% (estimate); {few['width']:.2f} and "
            f"{many['width']:.2f}: errors are close, posteriors too narrow",
            PART,
        ],
        [
            "Figure 4: the approximate posterior is more accurate with more columns",
            f"mean distance from the true one, {by_columns['rows_compared']} rows, 0 to 1: 16 and 256 columns",
            "pictures",
            f"{few['total_variation']:.2f} and {many['total_variation']:.2f}; same kind of table: "
            f"{steps(by_columns, 'total_variation')}; but its mean is {few['shift']:.2f} and {many['shift']:.2f} true "
            "standard deviations away",
            PART if many["total_variation"] < few["total_variation"] else NOT,
        ],
        [
            "because the true posterior becomes more Gaussian",
            "mean distance of the true one from its best Gaussian",
            "no figure",
            f"{few[gaussian]:.3f} and {many[gaussian]:.3f}; same kind of table: {steps(by_columns, gaussian)}. In part "
            "so; but the approximation does not improve with it",
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
        [
            "the same was seen with other data sets, and in comparisons that are not illustrated",
            "not tested: they are not named",
            "",
            "",
            UNKNOWN,
        ],
        [
            "conclusions: its speed would permit several models in a hierarchy",
            f"a tree of {', '.join(map(str, tree['maps']))} maps of digits: leaves less one map, new images, nats a "
            f"row; {len(gains)} seeds",
            "no figure",
            f"{min(g for g, _ in gains):+.2f} to {max(g for g, _ in gains):+.2f}; leaves less a flat mixture of as "
            f"many maps {min(flat):+.2f} to {max(flat):+.2f}; possible, but no gain by the hierarchy; not timed "
            "against one fitted by sampling",
            PART if all(gain > 2.0 * error for gain, error in gains) else NOT,
        ],
    ]
