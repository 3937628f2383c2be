"""Rows of the table of claims: the introduction, section 2 and appendix A."""

from typing import Any

import numpy as np
from common import HOLDS, NOT, PART

Row = list[Any]


def holds(*facts: bool) -> str:
    """All, some or none of what a claim says."""
    return HOLDS if all(facts) else PART if any(facts) else NOT


def mean(cells: list[dict[str, Any]], measure: str, part: str = "test") -> float:
    return float(np.mean([cell[part][measure] for cell in cells]))


def in_any_run(found: dict[str, Any]) -> list[Row]:
    """What a quick run without data has, too."""
    claims, model = found["claims"], found["of_model"]
    universal, states = claims["universality"]["1e-06"], {}
    states = {name: part for name, part in claims["projections"].items() if "states" in name}
    even = claims["projections"]["means even in [-1, 1]"]
    unit, power, third = model["influence"], model["fourth power"], model["third order"]
    small, large = power["28"] / power["56"], power["14"] / power["28"]
    plain = unit["as it is"]
    return [
        [
            "section 2.5: any distribution can be approximated",
            "the paper's construction for random distributions of 4 bits",
            "any accuracy",
            f"total variation {universal['total_variation']:.0e} at epsilon 1e-6",
            holds(universal["total_variation"] < 1e-5),
        ],
        [
            "section 2.5: that may take exponentially many units, which cannot be avoided",
            "units of the construction for 4 bits; fewest with 15 free parameters, 5 a unit",
            "at most 16",
            f"{universal['units']}; at least 3 by counting",
            HOLDS,
        ],
        [
            "equations 2.2 to 2.4, 3.4: products in place of sums, each factor rising with w.x; given the row, units "
            "are independent, so that mean field is exact",
            "tests of the library, against enumeration",
            "exact",
            "exact",
            HOLDS,
        ],
        [
            "equations 3.5, 3.6: the gradient has a closed form, exponential in the units",
            "tests of the library, against enumeration",
            "exact",
            "exact, but for the slips below",
            HOLDS,
        ],
        [
            "section 2.6: on the corners of the cube both models have the same ratios; section 3.4: that of reals is a "
            "density of projection pursuit (eq 3.10); no units are fair coins, with a log-loss of 1",
            "algebra: all rows of bits have the same length; eq 2.6 is eq 3.10 with g = 1 + exp",
            "exact",
            "exact",
            HOLDS,
        ],
        [
            "introduction: missing parts of a row can be completed, with probabilities",
            "tests of the library, against enumeration",
            "exact",
            "exact up to 20 units",
            HOLDS,
        ],
        [
            "section 2.3: a longer weight or a higher threshold makes a unit stronger",
            "16 equal weights: how often the unit is on",
            "no figure",
            f"{plain['on']:.2f}; longer {unit['longer']['on']:.2f}, higher {unit['higher']['on']:.2f}",
            holds(plain["on"] < unit["longer"]["on"], plain["on"] < unit["higher"]["on"]),
        ],
        [
            "section 2.3: longer weights with lower thresholds make it narrower",
            "share of all rows towards the unit; both doubled",
            "no figure",
            f"{plain['rows towards it']:.3f}, then {unit['longer, lower']['rows towards it']:.3f}",
            holds(unit["longer, lower"]["rows towards it"] < plain["rows towards it"]),
        ],
        [
            "section 2.3, figure 2.2: over reals it is a mixture of 2^m Gaussians",
            "both densities at 50 points of the plane, largest relative difference",
            "exact",
            f"{model['gaussians']['largest difference']:.0e}",
            holds(model["gaussians"]["largest difference"] < 1e-10),
        ],
        [
            "sections 2.3, 3.5: a unit adds a shifted copy of what was there",
            "shares of the eight Gaussians of figure 2.2, each unit on in half of the rows if alone",
            "all equal",
            "{:.3f} to {:.3f}; equal for orthogonal weights only".format(*model["gaussians"]["shares"]),
            PART,
        ],
        [
            "section 2.4: a unit can represent correlations of any order, principal components cannot",
            "third bit = product of two others but for 5%: single-bit error, correlations at most "
            f"{third['largest correlation']:.2f}",
            "no figure",
            f"machine {third['machine']:.3f}, components {third['components']:.3f}",
            holds(third["machine"] < 0.1 < 0.4 < third["components"]),
        ],
        [
            "section 2.6: for small weights the model of reals fits bits",
            "nats a row between the two, weights as they are and divided by 7",
            "no figure",
            f"A {claims['real']['A']['apart']:.0f}, A/7 {claims['real']['A/7']['apart']:.2f}",
            HOLDS,
        ],
        [
            "section 2.6: the difference is of the order of the fourth power of the weights",
            "ln Z of reals less that of bits as the weights of A are halved, twice",
            "16 times less",
            f"{large:.1f} and {small:.1f} times less",
            holds(abs(small - 16.0) < 1.0),
        ],
        [
            "theorem A: random projections of independent bits become normal as their number grows",
            "Kolmogorov distance, " + ", ".join(even) + " bits with means even in [-1, 1]",
            "to nothing",
            f"{', '.join(f'{value:.3f}' for value in even.values())}; of normal numbers as many "
            f"{claims['projections']['normal numbers themselves']:.3f}",
            HOLDS,
        ],
        [
            "appendix A: so pursuit may take projections of one state for normal",
            "Kolmogorov distance, along the weights",
            "for most directions",
            ", ".join(f"{name} {part['64, along the weights']:.2f}" for name, part in states.items())
            + f"; random directions at most {max(part['64'] for part in states.values()):.2f}",
            PART,
        ],
    ]


def in_full_runs(found: dict[str, Any], mixture: Any, pursuit: Any, chains: Any, product: Any) -> list[Row]:
    """What needs the digits, or more time."""
    model, features, peers = found["of_model"], found["claims"]["features"], found["peers"]
    several = {t: model[f"classes for units, {t}"] for t in "AB"}
    alone = model["units for classes"]
    given = [cell["log-loss"] for cell in chains if cell.get("log_partition") is not None]
    components, *on_targets = list(peers.values())[1:]
    ours = {t: mean(found["synthetic"][t]["greedy exact"], "bit") for t in "AB"}
    theirs = dict(zip("AB", (mean(cells, "bit") for cells in on_targets), strict=True))
    on_digits = mean(pursuit, "bit"), mean(components, "bit")
    few, many = (100.0 * (np.mean(features["raw bits"][n]) - np.mean(features["machine"][n])) for n in ("100", "1000"))
    worse = 100.0 * (np.mean(features["pursuit"]["100"]) - np.mean(features["raw bits"]["100"]))
    return [
        [
            "introduction, section 2.3: where influences combine, a mixture needs a class for each combination",
            "test log-loss on A and B: true ten units; mixtures",
            "exponentially many",
            "; ".join(
                f"{t}: {one['truth']:.3f}; "
                + ", ".join(f"{n} classes {value:.3f}" for n, value in one.items() if n.isdigit())
                for t, one in several.items()
            ),
            holds(*(one["160"] > one["truth"] for one in several.values())),
        ],
        [
            "section 2.3: without such structure the machine is no better than a mixture",
            "rows of ten classes: test log-loss of ten classes, of ten units",
            "no better",
            f"{alone['classes']:.4f}, {alone['units']:.4f}",
            holds(alone["units"] >= alone["classes"]),
        ],
        [
            "section 2.3: of digits the machine has the larger likelihood, parameters being as many",
            "test log-loss of 45 units by chains (estimate) and of 45 classes",
            "larger",
            f"{np.mean(given):.3f} ({len(given)} of {len(chains)} data sets), {mean(mixture, 'log-loss'):.3f}"
            if given
            else "no estimate",
            holds(bool(given) and float(np.mean(given)) < mean(mixture, "log-loss")),
        ],
        [
            "section 2.5: few units describe digits well",
            "single bit, test: 45 units by pursuit; independent pixels",
            ".20, .30",
            f"{mean(pursuit, 'bit'):.3f}, {mean(product, 'bit'):.3f}",
            holds(mean(pursuit, "bit") < 0.67 * mean(product, "bit")),
        ],
        [
            "introduction, section 2.4: for several influences at once better than principal components",
            "single bit, test: targets, ten units grown, ten components; digits, 45 units by pursuit, 45 components",
            "evidence promised for section 4, none given",
            ", ".join(f"{t} {value:.3f}, components {theirs[t]:.3f}" for t, value in ours.items())
            + "; digits {:.3f}, components {:.3f}".format(*on_digits),
            holds(*(ours[t] < theirs[t] for t in "AB"), on_digits[0] < on_digits[1]),
        ],
        [
            "introduction: hidden features help in supervised learning",
            "points of error that a linear classifier of digits gains on raw bits with 100 and 1,000 labels",
            "no figure",
            f"machine {few:+.1f} and {many:+.1f}; pursuit {-worse:+.1f} with 100",
            holds(few > 0.0, many > 0.5, worse < 0.0),
        ],
    ]
