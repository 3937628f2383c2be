"""Write README.md from readme_template.md and results/: no figure of ours in it is typed."""

from pathlib import Path
from typing import Any

import numpy as np
from claims import claims
from claims_of_model import slope
from claims_of_twos import between, part
from common import NO_DATA, grid, how, missed, picture, read_results, verdicts

HERE = Path(__file__).resolve().parent

PARALLEL = "our default, dimensions by parallel analysis"
HIGHAM = "full matrix, Higham's correction"
SPECTRA = {"bits": "C^SS", "scaled": "C^SS, unit diagonal", "hidden": "C^XX"}


def cells(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for size, c in found["counts"].items():
        without, biased = c["without biases"], c["with biases"]
        bounded = biased["fewest_neighbours_of_bounded"]
        rows.append(
            [
                size,
                f"{c['paper']} of {c['rows']}",
                f"{without['cells']} / {without['formula']}",
                f"{biased['cells']} / {biased['formula']}",
                int(size.split(", ")[1]) + 1,
                without["fewest_neighbours"],
                biased["fewest_neighbours"],
                f"{bounded} ({biased['bounded']} cells)" if bounded is not None else "",
                f"{without['fewest_within_two_flips']} / {biased['fewest_within_two_flips']}",
            ]
        )
    head = ["N, P", "paper: N^P, of 2^N rows", "without biases: found / formula", "with biases: found / formula"]
    head += ["paper: neighbours at least", "without biases", "with biases", "of bounded cells"]
    head += ["within two flips, without / with biases"]
    return grid(head, rows)


def entropies(found: dict[str, Any]) -> str:
    rows: list[list[object]] = [
        [
            f"{e['columns']}, {e['dimensions']}",
            "with" if e["biases"] else "without",
            f"{e['paper']:.2f}",
            f"{e['largest']:.2f}",
            f"{e['entropy']:.2f}",
        ]
        for e in found["entropy"]
    ]
    return grid(["N, P", "biases", "paper: P ln N", "ln of the count", "entropy of draws"], rows)


def rules(found: dict[str, Any]) -> str:
    rows: list[list[object]] = [[name, found["hidden"][name], modes] for name, modes in found["bits"].items()]
    return grid(["rule", "C^XX", "C^SS"], rows)


def constraint(found: dict[str, Any]) -> str:
    rows: list[list[object]] = [
        [
            n,
            f"{one['smallest']:.6f}",
            f"{one['closed_form']:.6f}",
            f"{one['correlation']:.4f}",
            f"{one['correlation_drawn']:.4f}",
            f"{one['balanced_share']:.3f} ({one['balanced_share_of_independent']:.3f})",
        ]
        for n, one in found["sizes"].items()
    ]
    head = [
        "N",
        "smallest eigenvalue",
        "1 - (N-1) sin(π / (2(N-1)))",
        "correlation of bits",
        "in draws of the corrected model",
    ]
    return grid([*head, "draws with sum zero (independent bits)"], rows)


def negative(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []

    def line(name: str, n: str, cells: list[dict[str, Any]]) -> None:
        count, low = np.mean([c["negative"] for c in cells]), np.mean([c["smallest"] for c in cells])
        rows.append([name, f"{int(n):,}", f"{count:.0f} of {cells[0]['columns']}", f"{low:.2f}"])

    for n, cells in found["simulated"].items():
        line("simulated, 100 columns, 4 dimensions", n, cells)
    if isinstance(found["twos"], str):
        rows.append(["model of the twos", found["twos"], "", ""])
    else:
        own = found["twos themselves"]
        rows.append(["the twos themselves", "", f"{own['negative']} of {own['columns']}", f"{own['smallest']:.2f}"])
        for n, cells in found["twos"].items():
            line("drawn from the model of the twos", n, cells)
    return grid(["rows from", "rows", "negative eigenvalues", "smallest"], rows)


def rarity(found: Any, empty: Any) -> str:
    if isinstance(found, str):
        return f"*{found}.*"
    rows: list[list[object]] = [
        [
            between(least) if float(least) else "all that vary",
            one["columns"],
            f"{one['negative']} of {one['columns']}",
            f"{one['smallest']:.2f}",
            f"{one['largest']:.2f}",
            part(one),
            one["drops_from"],
            f"{empty[least]:,}",
        ]
        for least, one in found.items()
    ]
    head = ["pixels with ink in", "pixels", "negative eigenvalues", "smallest", "largest", "ratio, without its sign"]
    return grid([*head, "C^XX drops more steeply than C^SS from rank", "pairs with an empty cell"], rows)


def origins(found: Any) -> str:
    """Where large negative eigenvalues lie, and what fewer pseudo-rows do."""
    if isinstance(found, str):
        return f"*{found}.*"
    p = found["places"]
    rows: list[list[object]] = [
        [rows, one["negative"], f"{one['smallest']:.2f}", f"{one['largest']:.2f}"]
        for rows, one in found["pseudo_rows"].items()
    ]
    return (
        f"The eigenvectors of the {p['eigenvalues']} eigenvalues below {p['below']:g} have "
        f"{p['rim']['of_eigenvectors']:.2f} of their squares in the outermost pixels, which are "
        f"{p['rim']['of_pixels']:.2f} of all, and "
        f"{p['rare']['of_eigenvectors']:.2f} in pixels whose ink or paper is in at most {p['rare_below']:.0%} of the "
        f"images, {p['rare']['of_pixels']:.2f} of all. Pseudo-rows do not make the large ones. With fewer of them "
        "for a pair that has an empty cell its correlation is nearer to -1 or 1, and the smallest eigenvalue is lower "
        "still:\n\n"
        f"{grid(['pseudo-rows', 'negative eigenvalues', 'smallest', 'largest'], rows)}"
    )


def about_outputs(found: Any) -> dict[str, str]:
    if isinstance(found, str):
        return dict.fromkeys(("outputs", "distortions"), f"*{found}.*")
    errors: list[list[object]] = [
        [size, f"{one['hidden']:.2f}", f"{one['bits']:.2f}", f"{one['gain']:.2f} ± {one['error']:.2f}"]
        for size, one in found["likelihood"].items()
    ]
    ways: list[list[object]] = [
        [name, f"{w['all']:.2f}", f"{w['best']:.2f} (number {w['best_rank']})", f"{w['pca']:.2f}"]
        for name, w in found["distortions"]["ways"].items()
    ]
    ways.append(["a random direction", f"{found['distortions']['chance']:.2f}", "", ""])
    head = ["change of the mean image", "16 eigenvectors of C^XX", "the best of them", "16 of ordinary PCA"]
    return {
        "outputs": grid(["dimensions", "W from C^XX", "W from the bits", "gain by C^XX"], errors),
        "distortions": grid(head, ways),
    }


def about_digits(found: dict[str, Any]) -> dict[str, str]:
    """Tables and sentences on the digits, or why there are none."""
    d = found["digits"]
    names = (
        "spectrum",
        "ranks",
        "likelihood",
        "completion",
        "missing",
        "reconstruction",
        "posteriors",
        "empty",
        "morphs",
        "parallel",
    )
    if isinstance(d, str):
        return {**dict.fromkeys(names, f"*{NO_DATA}.*"), "empty": "Hardly any has (not counted, without the data)."}
    s, e, m = d["spectrum"], d["empty_posteriors"], found["morphs"]
    trace = s["share_of_trace_in_16"]
    likelihood = [
        [name, one["dimensions"] or "", f"{one['nll']:.2f}" + (f" ± {one['error']:.3f}" if one["error"] else "")]
        for name, one in d["likelihood"].items()
    ]
    completed = {name: one for name, one in d["completion"].items() if isinstance(one, dict)}
    completion = [
        [name, f"{one['right']:.3f}", "" if one["nats"] is None else f"{one['nats']:.3f}"]
        for name, one in completed.items()
    ]
    ranks = [[k, *(f"{one[name]:.3f}" for name in SPECTRA)] for k, one in s["share_of_first"].items()]
    ranks.append(["first 16, of the trace", *(f"{trace[name]:.3f}" for name in SPECTRA)])
    return {
        "spectrum": (
            f"{d['rows'][0]} images to fit on, {d['rows'][1]} to test; {s['constant_columns']} pixels never vary. Of "
            f"the {s['pairs']:,} pairs of the others {s['pairs_with_an_empty_cell']:,} have an empty cell and get a "
            f"pseudo-row. Of the {s['negative']} negative eigenvalues {s['negative_below_minus_one']} are below -1. "
            "The 16 leading eigenvectors of C^XX explain more than all of the variance of "
            f"{s['columns_with_loadings_beyond_1']} pixels."
        ),
        "ranks": grid(["rank", *SPECTRA.values()], ranks),
        "likelihood": grid(["model", "dimensions", "test error"], likelihood),
        "completion": grid(["by", "guessed rightly", "nats a pixel"], completion),
        "missing": grid(
            ["training cells missing", "test error"],
            [[f"{100 * float(share):.0f}%", f"{value:.2f}"] for share, value in d["missing"].items()],
        ),
        "reconstruction": "; ".join(f"{name}, {100 * value:.2f}%" for name, value in d["reconstruction"].items()),
        "posteriors": about_posteriors(d["posteriors"]),
        "empty": "They do for "
        + " and for ".join(f"{e[name]['possible'] or 'none'} of {e[name]['images']} {name} images" for name in e)
        + ".",
        "morphs": about_morphs(m),
        "parallel": str(d["likelihood"].get(PARALLEL, {"dimensions": "(not run)"})["dimensions"]),
    }


def about_posteriors(p: dict[str, Any] | None) -> str:
    if p is None:
        return "*Posteriors are not part of a quick run.*"
    return (
        f"Beside {p['draws']:,} importance draws for each of {p['rows']} test images, posterior means are off by "
        f"at most {p['mean_in_posterior_deviations']:.3f} posterior standard deviations, and log-likelihoods by "
        f"{p['log_likelihood']:.3f}."
    )


def about_morphs(m: dict[str, Any]) -> str:
    near, ink = m["pixels_from_the_nearest_training_image"], m["ink"]
    rows = [[name, f"{pixels:.1f}", f"{ink[name]:.3f}" if name in ink else ""] for name, pixels in near.items()]
    return (
        f"Images half way, over {m['pairs']} pairs: pixels in which they differ from the nearest training image, and "
        f"share of ink. {100 * m['grey_share_of_cross_fade']:.0f}% of the pixels of a cross-fade are grey half way.\n\n"
        f"{grid(['images', 'pixels from the nearest training image', 'ink'], rows)}"
    )


def faithful(found: Any) -> dict[str, str]:
    if isinstance(found, str):
        return dict.fromkeys(("table", "means", "mushrooms"), f"*{found}.*")
    ways = list(next(iter(found.values()))["ways"])
    rows: list[list[object]] = []
    worst: list[list[object]] = []
    for name, table in found.items():
        size = f"{table['rows']:,} x {table['columns']}"
        shown = [f"{table['ways'][way]['pairs']:.3f}" for way in ways]
        shown[ways.index("parallel analysis")] += f" ({table['dimensions']})"
        rows.append([name, size, *shown])
        worst.append([name, *(f"{table['ways'][way]['worst_mean']:.1f}" for way in ways)])
    m = found["mushrooms"]
    full, own = m["ways"]["full matrix"], m["ways"]["the table's own rows, drawn again"]
    low, high = m["ones_a_row"]
    ones = f"exactly {low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
    others = [f"{name} {100 * t['pairs_with_an_empty_cell']:.1f}%" for name, t in found.items() if name != "mushrooms"]
    return {
        "table": grid(["table", "size", *ways], rows),
        "means": grid(["table", *ways], worst),
        "mushrooms": (
            f"Its {m['columns']} columns are the answers to questions with one answer each: every row has {ones} ones. "
            "That is the paper's counterexample, many times over: no Gaussian has such correlations. "
            f"{100 * m['pairs_with_an_empty_cell']:.0f}% of its pairs have an empty cell ({', '.join(others)}). "
            f"Estimated pair by pair, the matrix has a smallest eigenvalue of {m['smallest_eigenvalue']:.1f}, and "
            f"making it positive definite moves single correlations by up to {m['moved_by_correction']:.2f}. So the "
            f"full matrix keeps {full['pairs']:.3f} of the pairs ({full['by_cell']['empty']:.3f} of those with an "
            f"empty cell, {full['by_cell']['full']:.3f} of the others; the table's own rows {own['pairs']:.3f}), and "
            f"Higham's nearest matrix {m['ways'][HIGHAM]['pairs']:.3f}. Column means are kept all the same. Such "
            "columns are better joined into categories, which `LogisticPCA` takes."
        ),
    }


def weighted(found: Any) -> dict[str, str]:
    """What weights and groups change."""
    if isinstance(found, str):
        return dict.fromkeys(("table", "said"), f"*{found}.*")
    rows: list[list[object]] = []
    for name, table in found["tables"].items():
        for way, one in table["ways"].items():
            size = f" ({table['dimensions']})" if way.startswith("few") else ""
            valid = "" if one["valid_rows"] is None else f"{one['valid_rows']:.3f}"
            rows.append([name, way + size, f"{one['pairs']:.3f}", f"{one['worst_mean']:.1f}", valid])
    m = found["tables"]["mushrooms"]
    before, after = m["ways"]["full matrix"], m["ways"]["groups"]
    said = (
        f"mushrooms has {len(m['groups'])} groups of {min(m['groups'])} to {max(m['groups'])} columns and "
        f"{m['always_1']} column that is always 1; spikes15 has {len(found['tables']['spikes15']['groups'])}. Drawn as "
        f"groups, all rows are valid, and {after['pairs']:.3f} of the pairs are kept instead of {before['pairs']:.3f}."
    )
    if found["twos"]:
        t = found["twos"]
        said += (
            f" On the twos weights are no gain: the test error with 16 dimensions is {t['weighted']:.2f} nats, "
            f"{t['plain']:.2f} without them."
        )
    best = max(one["pairs"] for one in m["ways"].values())
    said += f" For mushrooms we wanted 95% of the pairs kept; the best of these ways keeps {100 * best:.0f}%."
    head = ["table", "drawn from", "pairs kept", "worst mean, standard errors", "rows with one answer a question"]
    return {"table": grid(head, rows), "said": said}


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    reports = read_results(folder)
    found = {name: report["figures"] for name, report in reports.items()}
    ring, origin, entropy = found["translation"], found["origins"], found["cells"]["entropy"]
    shown = {
        "cells": picture(folder, "figure2_cells", "Three columns in two dimensions: cells"),
        "ring": picture(folder, "figure3_translation", "Bumps on a ring: draws and spectra"),
        "spectrum": picture(folder, "figure4_spectrum", "Spectra of the twos"),
        "eigenvectors": picture(folder, "figure4_eigenvectors", "Sixteen eigenvectors, and those of ordinary PCA"),
        "morphs": picture(folder, "figure4_morphs", "Three morphs, beside thresholded PCA and cross-fades"),
        "draws": picture(folder, "draws", "Images that the models draw"),
        "completions": picture(folder, "completions", "Hidden pixels and what the models make of them"),
        "negative": picture(folder, "negative_eigenvalues", "Negative eigenvalues by chance"),
        "faithful": picture(folder, "faithful", "Correlations of pairs: drawn against the table"),
    }
    page = {
        **{f"how_{name}": how(report) for name, report in reports.items()},
        **{f"picture_{name}": words for name, words in shown.items()},
        **{f"digits_{name}": words for name, words in about_digits(found).items()},
        **{f"faithful_{name}": words for name, words in faithful(found["faithful"]).items()},
        "claims": claims(found),
        **{f"weighted_{name}": words for name, words in weighted(found["weighted"]).items()},
        "cells": cells(found["cells"]),
        "entropies": entropies(found["cells"]),
        "cell_draws": f"{found['cells']['draws']:,}",
        "constraint": constraint(found["constraint"]),
        "odd": ", ".join(
            f"{one['closed_form']:.3f} (N = {n})"
            for n, one in found["constraint"]["all sizes"].items()
            if int(n) % 2 and int(n) > 3
        ),
        "negative": negative(found["negative"]),
        "rarity": rarity(found["rarity"], None if isinstance(origin, str) else origin["empty_pairs"]),
        "origins": origins(origin),
        **about_outputs(found["outputs"]),
        "rules": rules(found["low_rank"]["rules"]),
        "cells_large": "; ".join(
            f"N, P = {size}: {c['without biases']:,} without biases, {c['with biases']:,} with, N^P = {c['paper']:,}"
            for size, c in found["cells"]["large"].items()
        ),
        "slopes": ", ".join(
            f"{slope(entropy, q, biases=biases):.2f} (P = {q}, {'with' if biases else 'without'} biases)"
            for q in (2, 3)
            for biases in (True, False)
        ),
        "entropy_bias": max(np.exp(e["largest"]) for e in entropy) / (2.0 * found["cells"]["draws"]),
        "ring_bits": " and ".join(f"{value:.4f}" for value in ring["largest_of_bits"]),
        "ring_smallest": f"{ring['smallest_positive_of_bits']:.7f}",
        "ring_closed": f"{ring['from_closed_form']:.0e}",
        "ring_shifts": ring["some_shifts"],
        "ring_shifts_rest": f"{ring['rest_of_hidden_with_some_shifts']:.0e}",
        "ring_draws": f"{ring['draws']:,}",
        "ring_rows": ring["different_rows"],
        "ring_bumps": ring["bumps_among_them"],
        "ring_entropy": f"{ring['entropy']:.4f}",
        "ring_ln": f"{ring['entropy_of_bumps']:.4f}",
        "ring_paper": f"{ring['entropy_by_the_paper']:.4f}",
        "verdicts": verdicts(found["checks"]),
        "missed": missed(found["checks"]),
    }
    return {folder / "README.md": (HERE / "readme_template.md").read_text().format(**page)}
