"""The cells of claims.md that have to be worked out: our figure, with the verdict where it depends on the results."""

from collections.abc import Callable
from typing import Any

import numpy as np
from common import HOLDS, NOT, PART, Found, holds

TABLES = {"Synthetic-16": "synthetic", "Digit-256": "twos"}


def both(make: Callable[[str], str]) -> str:
    """The same figure of both tables."""
    return "; ".join(f"{short} {make(name)}" for name, short in TABLES.items())


def median(runs: list[dict[str, Any]], key: str, name: str) -> float:
    return float(np.median([run[key][name] for run in runs]))


def error_of(fit: dict[str, Any], digits: int = 2) -> str:
    """The error of a fit; said where it is an estimate."""
    return f"{fit['error']:.{digits}f}" + ("" if fit["likelihood"] == "exact" else " (estimate)")


def lowest(fits: dict[str, Any]) -> dict[str, Any]:
    """The fit of a table with the lowest error."""
    return min((one for one in fits.values() if isinstance(one, dict)), key=lambda one: float(one["error"]))


def starts(found: Found) -> int:
    return len(found["printed"]["Synthetic-16"]["runs"])


# ----------------------------------------------------------------------------------------- the model and its bound


def dependencies(found: Found) -> str:
    table = found["table1"]
    return both(lambda name: f"{error_of(lowest(table[name]))} for {table[name]['independent bits']:.2f}")


def sample_of_the_prior(found: Found) -> str:
    def off(name: str, of: str) -> float:
        runs = found["printed"][name]["runs"]
        return median(runs, "error_on_the_draws", of) - median(runs, "error", of)

    return both(lambda name: f"variational {off(name, 'variational'):+.3f}, sampling {off(name, 'sampling'):+.3f}")


def falls_of_sampling(found: Found) -> tuple[str, str]:
    falls = max(run["falls"]["sampling"] for name in TABLES for run in found["printed"][name]["runs"])
    return f"{falls:.0e}", HOLDS if falls < 1e-4 else PART


def bound_of_a_cell(found: Found) -> tuple[str, str]:
    largest = found["equations"]["cells"]["largest"]
    return f"{largest:.0e}", HOLDS if largest <= 1e-12 else NOT


def equality_of_a_cell(found: Found) -> tuple[str, str]:
    apart = found["equations"]["cells"]["where_xi_is_A"]
    return f"{apart:.0e}", HOLDS if apart <= 1e-12 else NOT


def falls_of_rows(found: Found) -> tuple[str, str]:
    falls = {name: found["equations"][name]["xi"]["largest_fall"] for name in TABLES}
    verdict = HOLDS if max(falls.values()) < 1e-11 else NOT
    return both(lambda name: f"{falls[name]:.0e}") + " (rounding)", verdict


def two_updates(found: Found) -> tuple[str, str]:
    passes = [one for name in TABLES for one in found["printed"][name]["inner"].values()]
    warm, cold = (max(one[way]["2"] for one in passes) for way in ("warm", "cold"))
    return f"goes on {warm:.0e}; begins at the prior {cold:.2f}", PART if cold > 0.01 else HOLDS


def numbers_of_parameters(found: Found) -> str:
    def numbers(name: str) -> str:
        rows, columns = (found["equations"][name][what] for what in ("rows", "columns"))
        return f"{rows * columns:,} for {rows * found['printed']['draws']:,}"

    return both(numbers)


# ------------------------------------------------------------------------------------------------------- the maps


def copies(one: dict[str, Any]) -> str:
    pairs = zip(one["copies_without_an_error"], one["most_frequent_other_row"], strict=True)
    return ", ".join(f"{right} to {other}" for right, other in pairs)


def clear_clusters(found: Found) -> str:
    one = found["maps"]["synthetic"]["0.05"]
    share, by_pca = one["nearest_neighbor_of_the_same_prototype"], one["the_same_by_pca"]
    return f"{share:.1%} (PCA {by_pca:.1%}); {copies(one)}"


def prototypes_with_noise(found: Found) -> tuple[str, str]:
    one = found["maps"]["synthetic"]["0.15"]
    pairs = zip(one["copies_without_an_error"], one["most_frequent_other_row"], strict=True)
    still = all(right > other for right, other in pairs)
    return copies(one) + (": still the most frequent rows" if still else ""), NOT if still else HOLDS


# ------------------------------------------------------------------------------------------------ Table 1, Figure 4


def errors_of_synthetic(found: Found) -> tuple[str, str]:
    table = found["table1"]
    ours, verdict = errors(table["Synthetic-16"], (5.14, 4.93))
    spread = [table["spread"][of] for of in ("variational", "sampling")]
    return f"{ours}; {', '.join(f'{min(one):.2f} to {max(one):.2f}' for one in spread)}", verdict


def errors_of_digits(found: Found) -> tuple[str, str]:
    return errors(found["table1"]["Digit-256"], (30.23, 30.19))


def errors(table: dict[str, Any], paper: tuple[float, float]) -> tuple[str, str]:
    """Our errors; in part where they are those of the paper, as the seed, or the images, were not the paper's."""
    fits = [table[of] for of in ("variational", "sampling")]
    close = all(abs(fit["error"] - goal) < 0.05 for fit, goal in zip(fits, paper, strict=True))
    return ", ".join(map(error_of, fits)), PART if close else NOT


def times(runs: list[dict[str, Any]]) -> list[float]:
    """How many times as long sampling takes, from each start."""
    return [run["seconds"]["sampling"] / run["seconds"]["variational"] for run in runs]


def spoken_times(runs: list[dict[str, Any]]) -> str:
    each = times(runs)
    return f"{np.median(each):.1f} ({min(each):.1f} to {max(each):.1f})"


def considerably_faster(found: Found) -> tuple[str, str]:
    runs = {name: found["printed"][name]["runs"] for name in TABLES}
    return both(lambda name: spoken_times(runs[name])), holds(*(min(times(each)) > 2.0 for each in runs.values()))


def difference_in_error(found: Found) -> str:
    def gap(key: str) -> Callable[[str], str]:
        def of(name: str) -> str:
            runs = found["printed"][name]["runs"]
            each = float(np.median([run[key]["variational"] - run[key]["sampling"] for run in runs]))
            return f"{each:.2f} ({100.0 * each / median(runs, key, 'sampling'):.1f}%)"

        return of

    return f"{both(gap('error_on_the_draws'))}; true errors: {both(gap('error'))}"


def removed_by_the_polish(found: Found) -> float:
    rough, polished, best = (
        found["table1"]["Synthetic-16"][of]["error"] for of in ("variational", "polished", "quadrature")
    )
    return float((rough - polished) / (rough - best))


def by_columns(found: Found, key: str) -> str:
    tables = {"synthetic": found["claim"]["Synthetic"], "twos": found["claim"]["Digit 2"]}
    return "; ".join(f"{name} " + ", ".join(f"{one[key]:.3f}" for one in of.values()) for name, of in tables.items())


def accuracy_of_posteriors(found: Found) -> tuple[str, str]:
    few, many = found["claim"]["Figure 4"], found["claim"]["Digit 2"]["256"]
    words = (
        f"{few['total_variation']:.2f} and {many['total_variation']:.2f}; same kind of table: "
        f"{by_columns(found, 'total_variation')}; but its mean is {few['shift']:.2f} and {many['shift']:.2f} true "
        "standard deviations away"
    )
    return words, PART if many["total_variation"] < few["total_variation"] else NOT


def gaussian_posteriors(found: Found) -> str:
    key = "total_variation_of_the_best_gaussian"
    few, many = found["claim"]["Figure 4"][key], found["claim"]["Digit 2"]["256"][key]
    return f"{few:.3f} and {many:.3f}; same kind of table: {by_columns(found, key)}"
