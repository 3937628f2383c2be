"""Write README.md from readme_template.md and results/: no figure of ours in it is typed."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import programs
from claims_of_the_model import error_of, lowest, median, there
from common import grid, how, missed, picture, read_results, verdicts
from every_claim import claims, spoken_times, times

HERE = Path(__file__).resolve().parent
STEPS = ("table1", "printed", "equations", "claim", "maps", "closer", "tree", "animals", "kinds", "checks")

# The paper's Table 1: seconds and negative log-likelihood a row.
PAPER = {
    "Synthetic-16": {"variational": (7.8, 5.14), "sampling": (331.1, 4.93)},
    "Digit-256": {"variational": (25.6, 30.23), "sampling": (1204.5, 30.19)},
}


def table1(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for title, published in PAPER.items():
        ours = found[title]
        if isinstance(ours, str):
            rows.append([title, ours, "", "", "", "", ""])
            continue
        for name, figures in ours.items():
            seconds, error = (f"{number:g}" for number in published[name]) if name in published else ("", "")
            if name == "independent bits":
                rows.append([title, name, "", "", "", f"{figures:.2f}", ""])
            else:
                mine = [f"{figures['seconds']:.2f} s", error_of(figures, 3), figures["passes"]]
                rows.append([title, name, f"{seconds} s" if seconds else "", error, *mine])
    return grid(["data", "program", "paper: time", "paper: error", "ours: time", "ours: error", "passes"], rows)


def ratio(found: dict[str, Any], title: str) -> str:
    if isinstance(found[title], str) or "sampling" not in found[title]:
        return "not measured"
    return f"{found[title]['sampling']['seconds'] / found[title]['variational']['seconds']:.1f}"


def spread(found: dict[str, Any]) -> str:
    rows = [
        [name, f"{min(values):.2f}", f"{np.median(values):.2f}", f"{max(values):.2f}"]
        for name, values in found["spread"].items()
    ]
    return grid(["program", "smallest", "median", "largest"], rows)


def claim(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for title in ("Synthetic", "Digit 2"):
        if isinstance(found[title], str):
            rows.append([title, found[title], "", "", "", "", "", ""])
            continue
        for columns, f in found[title].items():
            rows.append(
                [
                    title,
                    columns,
                    f"{f['error']:.3f}",
                    f"{f['excess']:.3f} ({f['excess_percent']:.2f}%)",
                    f"{f['gap']:.3f}",
                    f"{f['width']:.2f}",
                    f"{f['total_variation']:.3f}",
                    f"{f['total_variation_of_the_best_gaussian']:.3f}",
                ]
            )
    head = ["data", "columns", "error", "excess", "gap", "width", "distance", "distance of the best Gaussian"]
    return grid(head, rows)


def verdict_on_claim(found: dict[str, Any]) -> str:
    """Say, from the figures, for which measures more columns were better at each step."""
    words = {
        "gap": "the gap of the bound",
        "excess": "the excess error",
        "excess_percent": "the excess error as a share of the error",
        "total_variation": "the distance of the approximate posterior from the true one",
        "total_variation_of_the_best_gaussian": "the distance of the true posterior from a Gaussian",
    }
    lines = []
    for title in ("Synthetic", "Digit 2"):
        if isinstance(found[title], str) or len(found[title]) < 2:
            continue
        ordered = [found[title][columns] for columns in sorted(found[title], key=int)]
        falling = [w for k, w in words.items() if all(b[k] < a[k] for a, b in pairwise(ordered))]
        others = [w for w in words.values() if w not in falling]
        yes, no = ("; ".join(some) or "nothing" for some in (falling, others))
        lines.append(f"- {title}. Smaller at every step: {yes}. Not so: {no}.")
    return "\n".join(lines)


def maps(found: dict[str, Any]) -> dict[str, str]:
    shares = {"synthetic": "nearest_neighbour_of_the_same_prototype", "pca": "the_same_by_pca"}
    said = {
        name: "; ".join(f"{100 * f[key]:.1f}% at {flip}" for flip, f in found["synthetic"].items())
        for name, key in shares.items()
    }
    digits = found["digits"]
    said["bend"] = "" if isinstance(digits, str) else horseshoe(digits)
    senate = found["senate109"]
    if isinstance(senate, str):
        said["senate"] = f"Senate: {senate}."
    else:
        said["senate"] = (
            f"{senate['senators']} rows, {senate['votes']} votes, {100 * senate['blank_cells']:.0f}% of the cells "
            "blank. The rows have parties but no names; as the Senate has 100 seats, not every row is a senator who "
            f"sat throughout. {100 * senate['nearest_neighbour_of_the_same_party']:.0f}% have a nearest neighbour of "
            f"their own party, which the model has not seen. Bits a cell: {senate['bits_per_cell']:.3f}, independent "
            f"bits {senate['bits_per_cell_of_independent_bits']:.3f} (on the rows of the fit)."
        )
    return said


def horseshoe(digits: dict[str, Any]) -> str:
    bends = [digits[key] for key in ("explained_by_a_quadratic", "the_same_by_pca", "bend_of_draws")]
    ours, pca, chance = (f"{100 * share:.0f}%" for share in bends)
    return (
        f'The paper sees an "approximate horseshoe". Ours is a weak one: a quadratic in one direction explains {ours} '
        f"of the direction across it, on the plane of PCA {pca}; as many draws from the Gaussian prior have at most "
        f"{chance}. Where we guess from the ten nearest places whether an image has a loop, the area under the curve "
        f"is {digits['loop_from_the_place']:.2f}, by places of PCA {digits['loop_from_the_place_by_pca']:.2f} (chance "
        "0.50)."
    )


def shift(found: dict[str, Any]) -> str:
    """How far the mean of the approximate posterior is from the true one; the rest of the distance is its width."""
    few, many = found["Figure 4"], found["Digit 2"]
    said = f"{few['shift']:.2f} (synthetic)"
    if not isinstance(many, str) and "256" in many:
        said += f" and {many['256']['shift']:.2f} (digits)"
    return (
        f"The variational means are close to the true ones: {said} standard deviations of the true posterior away, on "
        f"average over {found['rows_compared']} rows. It is the widths that differ (next section)."
    )


def printed(found: dict[str, Any]) -> str:
    """Both programs as printed: time, passes and error."""
    rows: list[list[object]] = []
    for title in there(found):
        runs = found[title]["runs"]
        for name in ("variational", "sampling"):
            rows.append(
                [
                    title,
                    name,
                    f"{median(runs, 'seconds', name):.2f} s",
                    f"{median(runs, 'passes', name):.0f}",
                    f"{median(runs, 'error', name):.3f}",
                    f"{median(runs, 'error_on_the_draws', name):.3f}",
                ]
            )
    head = ["data", "program", "time", "passes", "error", "error on the draws"]
    return grid(head, rows)


def printed_ratio(found: dict[str, Any], title: str) -> str:
    if isinstance(found[title], str):
        return "not measured"
    return spoken_times(times(found[title]["runs"]))


def inner(found: dict[str, Any]) -> str:
    rows = [
        [title, words, f"{one['warm']['2']:.1e}", *(f"{one['cold'][n]:.1e}" for n in ("2", "5", "10"))]
        for title in there(found)
        for words, one in found[title]["inner"].items()
    ]
    head = ["data", "parameters after the", "ξ goes on, 2", "ξ begins at the prior, 2", "5", "10 updates"]
    return grid(head, rows)


def kinds(found: dict[str, Any]) -> str:
    """Held-out scores of tables with columns of several kinds."""
    rows: list[list[object]] = []
    for name, one in found["tables"].items():
        gains = [f"{gain:+.2f} ± {error:.2f}" for gain, error in one["gain"].values()]
        guessed = [f"{100 * share:.0f}%" for share in one["guessed"].values()]
        size = f"{one['rows']} x {one['columns']}"
        rows.append([name, size, one["apart"], f"{one['score']['one map']:.2f}", *gains, *guessed])
    than = ["more than maps of each kind", "more than independent columns"]
    head = ["table", "size", "column of another kind", "one map", *than, "guessed right", "most frequent value"]
    return grid(head, rows)


def closer(found: Any) -> str:
    """Say what the two levels of maps show, and for which digits each map is."""
    if isinstance(found, str):
        return f"USPS: {found}."
    errors = grid(["model", "error"], [[name, f"{error:.2f}"] for name, error in found["error"].items()])
    maps = [
        [f"map {k}", *("" if count == 0 else count for count in counts)]
        for k, counts in enumerate(found["digits_on_each_map"], start=1)
    ]
    shares = (found["nearest_neighbour_of_the_same_digit"], found["the_same_on_the_most_probable_map"])
    overview, below = (f"{100 * share:.0f}%" for share in shares)
    several, single = list(found["error"].values())[-2:]
    verdict = "has a lower error, but nobody can look at it" if single < several else "has no lower error"
    return (
        f"{found['rows']} training images of all ten digits; the {found['rows_drawn']} drawn are test images that no "
        f"fit has seen, and no fit has seen a digit's name. Rows whose nearest other place holds the same digit: "
        f"{overview} on the overview, {below} on their most probable map. Digits by most probable map:\n\n"
        f"{grid(['', *(str(digit) for digit in range(10))], maps)}\n\nError on the drawn images:\n\n{errors}\n\n"
        f"A single map of as many dimensions as all maps together {verdict}. Its error is an estimate by importance "
        "sampling."
    )


def plus_minus(pair: list[float]) -> str:
    return f"{pair[0]:+.2f} ± {pair[1]:.2f}"


def own_digit(counts: list[list[int]]) -> float:
    return sum(max(of_leaf) for of_leaf in counts) / sum(sum(of_leaf) for of_leaf in counts)


def tree(found: dict[str, Any]) -> str:
    """Say how far the levels of maps, and a flat mixture, are from each other on images that no fit has seen."""
    train, valid, new = found["rows"]
    names = [f"level {k + 1}: {n} maps" for k, n in enumerate(found["maps"])]
    same = [*found["nearest_neighbour_of_the_same_digit"], found["the_same_on_the_flat_maps"]]
    errors = [*found["error_by_level"], found["flat_error"]]
    levels = [
        [name.replace(": 1 maps", ": one map"), f"{error:.2f}", f"{100 * share:.0f}%"]
        for name, error, share in zip([*names, f"flat: {found['maps'][-1]} maps"], errors, same, strict=True)
    ]
    leaves = [
        [f"map {name}", *("" if count == 0 else count for count in counts)]
        for name, counts in zip(found["names"][-1], found["digits_on_each_leaf"], strict=True)
    ]
    splits = [
        [f"map {name}", f"{gain:+.3f} ± {error:.3f}", "yes" if kept else "no"]
        for name, gain, error, kept in found["splits"]
    ]
    repeated = [
        [seed, ", ".join(map(str, each["maps"])), *(plus_minus(each[f"tree_less_{k}"]) for k in ("one_map", "flat"))]
        for seed, each in enumerate(found["repeats"])
    ]
    moved = " and ".join(f"{100 * share:.0f}%" for share in found["children_less_parents"])
    return (
        f"The digits of scikit-learn, {found['columns']} pixels, ink above half grey; {train} images are fitted, "
        f"{valid} decide on splits, and the {new} drawn and scored are seen by no fit. A map is split into "
        f"{found['children']}. A row has the colour of its most probable leaf on all levels.\n\n"
        f"{grid(['', 'error', 'nearest neighbour of the same digit'], levels)}\n\n"
        "The log-likelihood of the leaves less that of one map, nats a row: "
        f"{plus_minus(found['tree_less_one_map'])}. Less that of a flat mixture of as many maps, fitted to the same "
        f"images: {plus_minus(found['tree_less_flat'])}. "
        "Any tree is also a flat mixture: if it had more, that would be luck of the start. ± is the standard error "
        "over the images only. With other test images and starts:\n\n"
        f"{grid(['seed', 'maps by level', 'leaves less one map', 'leaves less flat'], repeated)}\n\n"
        f"{grid(['split of', 'gain, held-out rows', 'kept'], splits)}\n\nDigits by most probable leaf:\n\n"
        f"{grid(['', *(str(digit) for digit in range(10))], leaves)}\n\n"
        f"{100 * own_digit(found['digits_on_each_leaf']):.0f}% of the images are on a leaf whose most frequent digit "
        f"is theirs. {100 * found['rows_nearly_all_on_one_leaf']:.0f}% belong to one leaf with more than 90%. "
        "A row has a share in each map, and fitting a level together moves shares from the children of one map to "
        f"those of another: {moved} of a row on average (first to second level, second to third)."
    )


def animals(found: Any) -> str:
    """Say how well the map of the zoo, which has not seen the types, keeps them together."""
    if isinstance(found, str):
        return f"Zoo: {found}."
    shares = "; ".join(f"{k}, {100 * share:.0f}%" for k, share in found["nearest_neighbour_of_the_same_type"].items())
    legs = found["numbers_of_legs"]
    return (
        f"{found['animals']} animals at {found['distinct_places']} places: {found['yes_no_columns']} yes/no columns "
        f"and the number of legs ({', '.join(map(str, legs[:-1]))} or {legs[-1]}), drawn as an ordered column. No "
        f"fit has seen the type of an animal. Animals whose nearest other place holds the same type: {shares}. It is a "
        f"small table, and only {found['animals_with_more_than_4_legs']} animals have more than 4 legs: the shares are "
        "no verdict on the kinds."
    )


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    reports = read_results(folder)
    found = {name: report["figures"] for name, report in reports.items()}
    runs, real = found["printed"]["Synthetic-16"]["runs"], found["kinds"]["real_columns"]
    table, said = reports["table1"]["figures"], maps(reports["maps"]["figures"])
    exact = table["Synthetic-16"]["quadrature"]["error"]
    digits = table["Digit-256"]
    missing = isinstance(digits, str)
    shown = {
        "1": picture(folder, "figure1_synthetic", "Two synthetic maps"),
        "2": picture(folder, "figure2_digits", "The digit 2: map, and images at four places"),
        "2b": picture(folder, "figure2_grid", "The digit 2 over a grid of the map"),
        "3": picture(folder, "figure3_traces", "Error against time"),
        "4": picture(folder, "figure4_posteriors", "True and approximate posteriors of single rows"),
        "senate": picture(folder, "senate109", "The 109th Senate"),
        "closer": picture(folder, "closer_look", "Ten digits: an overview and six maps"),
        "tree": picture(folder, "map_tree", "Digits: one map, its children, and theirs"),
        "animals": picture(folder, "zoo", "Animals by 15 yes/no columns and the number of their legs"),
    }
    page = {
        **{f"how_{name}": how(report) for name, report in reports.items()},
        **{f"picture_{name}": words for name, words in shown.items()},
        **{f"said_{name}": words for name, words in said.items()},
        "said_closer": closer(reports["closer"]["figures"]),
        "said_tree": tree(found["tree"]),
        "said_animals": animals(reports["animals"]["figures"]),
        "claims": claims(found),
        "printed": printed(found["printed"]),
        "printed_draws": found["printed"]["draws"],
        "printed_starts": len(runs),
        "printed_ratio_synthetic": printed_ratio(found["printed"], "Synthetic-16"),
        "printed_ratio_digits": printed_ratio(found["printed"], "Digit-256"),
        "inner": inner(found["printed"]),
        "kinds": kinds(found["kinds"]),
        "real_rows": real["rows"],
        "real_columns": real["columns"],
        "real_difference": f"{real['largest_difference']:.0e}",
        "independent": "not measured" if missing else f"{digits['independent bits']:.1f}",
        "lowest": "not measured" if missing else error_of(lowest(digits), 1),
        "ridge": programs.RIDGE,
        "irls": programs.IRLS,
        "longest": f"{programs.LONGEST:g}",
        "said_shift": shift(found["claim"]),
        "ratio_synthetic": ratio(table, "Synthetic-16"),
        "ratio_digits": ratio(table, "Digit-256"),
        "table1": table1(table),
        "exact": f"{exact:.3f}",
        "own_sample": f"{table['Synthetic-16']['sampling']['error_on_its_own_sample']:.3f}",
        "spread": spread(table),
        "claim": claim(reports["claim"]["figures"]),
        "rows_compared": reports["claim"]["figures"]["rows_compared"],
        "verdict_on_claim": verdict_on_claim(reports["claim"]["figures"]),
        "verdicts": verdicts(reports["checks"]["figures"]),
        "missed": missed(reports["checks"]["figures"]),
    }
    return {folder / "README.md": (HERE / "readme_template.md").read_text().format(**page)}
