"""Write README.md from readme_template.md, claims.md and results/: no number of ours in it is typed."""

from pathlib import Path

import claims
import numpy as np
from claims import slope
from common import Found, grid, page

HERE = Path(__file__).resolve().parent
SPECTRA = {"bits": "C^SS", "scaled": "C^SS, unit diagonal", "hidden": "C^XX"}


def cells_table(found: Found) -> str:
    rows: list[list[object]] = []
    for size, c in found["cells"]["counts"].items():
        without, biased = c["without biases"], c["with biases"]
        bounded = biased["fewest_neighbors_of_bounded"]
        rows.append(
            [
                size,
                f"{c['paper']} of {c['rows']}",
                f"{without['cells']} / {without['formula']}",
                f"{biased['cells']} / {biased['formula']}",
                int(size.split(", ")[1]) + 1,
                without["fewest_neighbors"],
                biased["fewest_neighbors"],
                f"{bounded} ({biased['bounded']} cells)" if bounded is not None else "",
                f"{without['fewest_within_two_flips']} / {biased['fewest_within_two_flips']}",
            ]
        )
    head = ["N, P", "paper: N^P, of 2^N rows", "without biases: found / formula", "with biases: found / formula"]
    head += ["paper: neighbors at least", "without biases", "with biases", "of bounded cells"]
    return grid([*head, "within two flips, without / with biases"], rows)


def cells_large(found: Found) -> str:
    return "; ".join(
        f"N, P = {size}: {c['without biases']:,} without biases, {c['with biases']:,} with, N^P = {c['paper']:,}"
        for size, c in found["cells"]["large"].items()
    )


def entropies(found: Found) -> str:
    rows: list[list[object]] = [
        [
            f"{e['columns']}, {e['dimensions']}",
            "with" if e["biases"] else "without",
            *(f"{e[what]:.2f}" for what in ("paper", "largest", "entropy")),
        ]
        for e in found["cells"]["entropy"]
    ]
    return grid(["N, P", "biases", "paper: P ln N", "ln of the count", "entropy of draws"], rows)


def slopes(found: Found) -> str:
    return ", ".join(
        f"{slope(found, q, biases=biases)} (P = {q}, {'with' if biases else 'without'} biases)"
        for q in (2, 3)
        for biases in (True, False)
    )


def entropy_bias(found: Found) -> float:
    cells = found["cells"]
    return float(max(np.exp(e["largest"]) for e in cells["entropy"]) / (2.0 * cells["draws"]))


def rules(found: Found) -> str:
    both = found["low_rank"]["rules"]
    rows: list[list[object]] = [[name, both["hidden"][name], modes] for name, modes in both["bits"].items()]
    return grid(["rule", "C^XX", "C^SS"], rows)


def ranks(found: Found) -> str:
    spectrum = found["digits"]["spectrum"]
    rows: list[list[object]] = [
        [k, *(f"{one[name]:.3f}" for name in SPECTRA)] for k, one in spectrum["share_of_first"].items()
    ]
    trace = spectrum["share_of_trace_in_16"]
    return grid(["rank", *SPECTRA.values()], [*rows, ["first 16, of the trace", *(f"{trace[n]:.3f}" for n in SPECTRA)]])


def likelihoods(found: Found) -> str:
    rows: list[list[object]] = [
        [name, one["dimensions"] or "", f"{one['nll']:.2f}" + (f" ± {one['error']:.3f}" if one["error"] else "")]
        for name, one in found["digits"]["likelihood"].items()
    ]
    return grid(["model", "dimensions", "test error"], rows)


def completion(found: Found) -> str:
    rows: list[list[object]] = [
        [name, f"{one['right']:.3f}", "" if one["nats"] is None else f"{one['nats']:.3f}"]
        for name, one in found["digits"]["completion"].items()
        if isinstance(one, dict)
    ]
    return grid(["by", "guessed rightly", "nats a pixel"], rows)


def missing(found: Found) -> str:
    rows: list[list[object]] = [
        [f"{float(share):.0%}", f"{value:.2f}"] for share, value in found["digits"]["missing"].items()
    ]
    return grid(["training cells missing", "test error"], rows)


def possible(found: Found) -> str:
    counts = found["digits"]["empty_posteriors"]
    return " and for ".join(
        f"{counts[name]['possible'] or 'none'} of {counts[name]['images']} {name} images" for name in counts
    )


def morphs_table(found: Found) -> str:
    near, ink = (found["morphs"][what] for what in ("pixels_from_the_nearest_training_image", "ink"))
    rows: list[list[object]] = [
        [name, f"{pixels:.1f}", f"{ink[name]:.3f}" if name in ink else ""] for name, pixels in near.items()
    ]
    return grid(["images", "pixels from the nearest training image", "ink"], rows)


def odd_sizes(found: Found) -> str:
    sizes = found["constraint"]["all sizes"]
    return ", ".join(f"{one['closed_form']:.3f} (N = {n})" for n, one in sizes.items() if int(n) % 2 and int(n) > 3)


def constraint_table(found: Found) -> str:
    rows: list[list[object]] = [
        [
            n,
            f"{one['smallest']:.6f}",
            f"{one['closed_form']:.6f}",
            f"{one['correlation']:.4f}",
            f"{one['correlation_drawn']:.4f}",
            f"{one['balanced_share']:.3f} ({one['balanced_share_of_independent']:.3f})",
        ]
        for n, one in found["constraint"]["sizes"].items()
    ]
    head = ["N", "smallest eigenvalue", "1 - (N-1) sin(π / (2(N-1)))", "correlation of bits"]
    return grid([*head, "in draws of the corrected model", "draws with sum zero (independent bits)"], rows)


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    return page(HERE, folder, vars(claims) | globals())
