"""Rows of the table of claims: the introduction, section 2 and appendix A."""

from typing import Any

import numpy as np
from common import HOLDS, NOT, PART, UNKNOWN

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
        *of_the_two_models(found["of_reals"]),
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
            "density of projection pursuit (eq 3.10), and that of bits is similar; no units are fair coins, with a "
            "log-loss of 1",
            "algebra: all rows of bits have the same length; eq 2.6 is eq 3.10 with g = 1 + exp, and so is eq 2.4 with "
            "fair coins in place of the Gaussian",
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
            "section 2.3: a row tends to have a large probability in the direction of a weight vector, a small one "
            "otherwise",
            "not tried: how often is not said; what is tested is that each unit's factor rises with w.x",
            "no figure",
            "",
            UNKNOWN,
        ],
        [
            "section 2.3: the same is true of strength and width in the model of reals",
            "closed forms: one unit is on with odds exp(bias + w.w/2), which rise with both; given a row, on with the "
            "same probability as for bits",
            "the same",
            "so",
            HOLDS,
        ],
        [
            "section 2.3: a longer weight vector strengthens the influence of a unit, and so does a higher bias",
            "one unit on 16 bits, all weights .5, threshold -3: probability that it is on; the same with weights .6; "
            "with threshold -2",
            "no figure",
            f"{plain['on']:.2f}; {unit['longer']['on']:.2f}; {unit['higher']['on']:.2f}",
            holds(plain["on"] < unit["longer"]["on"], plain["on"] < unit["higher"]["on"]),
        ],
        [
            "section 2.3: a longer weight vector together with a lower bias narrows it to rows in its direction",
            "the same unit: P(unit on given the row), averaged over all 2^16 rows; the same with weights and "
            "threshold doubled",
            "no figure",
            f"{plain['rows towards it']:.3f}; {unit['longer, lower']['rows towards it']:.3f}",
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
            "figure 2.2's machine with thresholds at which each unit is on in half of the rows: probabilities of its "
            "eight Gaussians, smallest and largest",
            "1/8 each",
            "{:.3f}, {:.3f}; equal for orthogonal weights only".format(*model["gaussians"]["shares"]),
            PART,
        ],
        [
            "section 2.4: some natural distributions have strong correlations of high order, and those of second order "
            "ignore important information",
            "not tried; on digits components alone guess bits better than the machine",
            "no figure",
            "",
            UNKNOWN,
        ],
        [
            "section 2.4: a unit can represent correlations of any order, principal components cannot",
            "of three bits, each even, the third is the product of the others in 95% of rows, so that no two are "
            f"correlated (at most {third['largest correlation']:.2f} in the sample): single-bit error of a "
            "machine with four units, of two components; for one unit, the coefficient of x1 x2 x3 in its factor",
            "no figure",
            f"machine {third['machine']:.4f}, components {third['components']:.4f}; coefficient "
            f"{third['of one unit']:.4f} (that it is near the machine's error is chance), next to terms of lower "
            "order: one alone is not enough here",
            PART if third["machine"] < 0.1 < 0.4 < third["components"] and third["of one unit"] > 0.01 else NOT,
        ],
        [
            "section 2.6: for small weights the normalization factors of the two models are close, but for a constant",
            "ln Z of reals less ln Z of bits less (n/2) ln(pi/2), nats: target A; A with its weights divided by 7",
            "no figure",
            f"{claims['real']['A']['apart']:.0f}; {claims['real']['A/7']['apart']:.2f}",
            HOLDS,
        ],
        [
            "section 2.6: the difference is of the order of the fourth power of the weights",
            "the same difference for A with weights divided by 14, by 28, by 56: how many times smaller at each "
            "halving",
            "16",
            f"{large:.1f}, {small:.1f}",
            holds(abs(small - 16.0) < 1.0),
        ],
        [
            "theorem A.0.1: random projections of independent bits become normal as their number grows",
            "Kolmogorov distance from normal, " + ", ".join(even) + " bits with means drawn evenly between -1 and 1",
            "to nothing",
            f"{', '.join(f'{value:.3f}' for value in even.values())}; of normal numbers as many "
            f"{claims['projections']['normal numbers themselves']:.3f}",
            HOLDS,
        ],
        [
            "appendix A: so pursuit may take projections of one state for normal",
            "Kolmogorov distance from normal of the rows of one state, along the weights, where pursuit looks",
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
    estimated = [k for k, cell in enumerate(chains) if cell.get("log_partition") is not None]
    given = [chains[k]["log-loss"] for k in estimated]
    classes = [mixture[k]["test"]["log-loss"] for k in estimated]
    components, *on_targets = list(peers.values())[1:]
    ours = {t: mean(found["synthetic"][t]["greedy exact"], "bit") for t in "AB"}
    theirs = dict(zip("AB", (mean(cells, "bit") for cells in on_targets), strict=True))
    classes_of = found["of_optima"]["ten classes"]
    first = {t: cells[0]["test"]["bit"] for t, cells in zip("AB", on_targets, strict=True)}
    on_digits = mean(pursuit, "bit"), mean(components, "bit")
    few, many = (100.0 * (np.mean(features["raw bits"][n]) - np.mean(features["machine"][n])) for n in ("100", "1000"))
    worse = 100.0 * (np.mean(features["pursuit"]["100"]) - np.mean(features["raw bits"]["100"]))
    return [
        [
            "introduction, section 2.3: where influences combine, a mixture needs a class for each combination",
            "test log-loss on A and B, where all 2^10 states are possible: true ten units; mixtures",
            "exponentially many",
            "; ".join(
                f"{t}: {one['truth']:.3f}; "
                + ", ".join(f"{n} classes {value:.3f}" for n, value in one.items() if n.isdigit())
                for t, one in several.items()
            )
            + f": on B 40 classes are within {several['B']['40'] - several['B']['truth']:.3f} of the truth",
            holds(*(min(one["40"], one["160"]) > one["truth"] + 0.015 for one in several.values())),
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
            f"test log-loss of 45 units by chains (an estimate, for {len(given)} of {len(chains)} data sets) and of 45 "
            "classes on the same data sets",
            "larger; evidence promised for section 4, none given",
            f"{np.mean(given):.3f}, {np.mean(classes):.3f}" if given else "no estimate",
            holds(bool(given) and float(np.mean(given)) < float(np.mean(classes))),
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
            "single bit, test: targets, ten units grown, ten components; digits, 45 units by pursuit, 45 units by "
            "chains, 45 components",
            "evidence promised for section 4, none given",
            ", ".join(f"{t} {value:.3f}, components {theirs[t]:.3f}" for t, value in ours.items())
            + f"; digits {on_digits[0]:.3f}, {mean(chains, 'bit'):.3f}, components {on_digits[1]:.3f}: on the only "
            "natural data far worse",
            holds(*(ours[t] < theirs[t] for t in "AB"), mean(chains, "bit") < on_digits[1]),
        ],
        [
            "section 2.4: a network for principal components combines patterns, too, and lacks the weakness of "
            "mixtures",
            "single bit, test, on one data set of A and of B: ten components, ten classes",
            "as powerful in this sense",
            "; ".join(f"{t} {ten:.3f}, {classes_of[t]['bit']:.3f}" for t, ten in first.items())
            + ": on B, where few classes are enough, hardly a difference",
            holds(*(ten < classes_of[t]["bit"] - 0.005 for t, ten in first.items())),
        ],
        *of_appendix(found["of_reals"]),
        [
            "introduction: hidden features help in supervised learning",
            "points of error that a linear classifier of digits gains on raw bits with 100 and 1,000 labels",
            "no figure",
            f"machine {few:+.1f} and {many:+.1f}; pursuit {-worse:+.1f} with 100",
            holds(few > 0.0, many > 0.5, worse < 0.0),
        ],
    ]


def of_the_two_models(found: dict[str, Any]) -> list[Row]:
    """Bits and reals: what is exact."""
    exact, mixture = found["equations"], found["bits as mixture"]["largest difference"]
    errors = [exact[name] for name in ("ln Z", "gradient", "M-step")]
    return [
        [
            "section 2.3, equation 2.3: over bits it is a mixture of 2^m products of bits with means tanh(w(h))",
            "4 units: probabilities of all rows of 6 bits both ways, largest relative difference",
            "exact",
            f"{mixture:.0e}, with Z(h) / Z as the share of a state",
            holds(mixture < 1e-10),
        ],
        [
            "equations 2.7, 2.8, 3.7 to 3.9, 3.14, 3.15: Z, gradient and M-step of the model of reals",
            "three units over the plane: ln Z against quadrature, gradient against differences of it, M-step against a "
            "numerical maximum; largest errors",
            "exact",
            ", ".join(f"{error:.0e}" for error in errors) + "; eq 3.7 not as printed (below)",
            holds(errors[0] < 1e-8, errors[1] < 1e-6, errors[2] < 1e-6),
        ],
    ]


def of_appendix(found: dict[str, Any]) -> list[Row]:
    """Bits and reals: what is close, and the theorem's conditions."""
    near, solved, parts = found["projections"], found["solutions"], list(found["components"].values())
    random, kinds = {name: one["random directions"] for name, one in near.items()}, found["conditions"]
    floor = max(one["the same model twice"] for one in near.values())
    along = {name: one["along the weights"] for name, one in near.items()}
    short, names = list(near)[-1], ", ".join(name.removesuffix("/1") for name in near)
    lacks = {way: [one[way]["lacks"] / one[way]["gain"] for one in solved.values()] for way in ("bits", "reals")}
    ends = {kind: (one["sizes"]["16"], list(one["sizes"].values())[-1]) for kind, one in kinds.items()}
    *drawn, odd = kinds
    last = [ends[kind][1] for kind in drawn]
    most = list(next(iter(kinds.values()))["sizes"])[-1]
    return [
        [
            "end of section 2.6, appendix A: for short weights mixture coefficients and means of the two models are "
            "close, tanh(w(h)) ≈ w(h)",
            f"all 1,024 states of {names}: total variation between the coefficients; length of tanh(w(h)) - w(h) "
            "as a share of that of w(h), mean over states. Rule: both below .01 for the shortest weights",
            "close",
            "; ".join(", ".join(f"{one[name]:.4f}" for one in parts) for name in ("coefficients", "means")),
            holds(*(parts[-1][name] < 0.01 for name in ("coefficients", "means"))),
        ],
        [
            "end of section 2.6, appendix A, its conclusion: for short weights the projections of the two models with "
            "the same parameters are very close",
            f"Kolmogorov distance between 20,000 rows of either model, {names}: random directions; along the "
            "weights; two samples of one model",
            "very close",
            f"{', '.join(f'{v:.3f}' for v in random.values())}; {', '.join(f'{v:.3f}' for v in along.values())}; "
            f"{floor:.3f}. Longest weight vector "
            + ", ".join(f"{one['longest']:.1f}" for one in near.values())
            + ". Along weights that are all of one size bits go in steps, however short they are",
            holds(random[short] < 2.0 * floor, along[short] < 2.0 * floor),
        ],
        [
            "section 3: so maximum likelihood solutions of one model approximately solve the other",
            "Fit model 1 and model 2 to the same rows, and score both solutions under model 1. By what share of model "
            "1's own gain over a machine without units does model 2's solution fall short? Training rows of "
            f"{names}; model 1 is that of bits, then that of reals",
            "approximately, for small weights",
            "; ".join(f"{way}: {', '.join(f'{100 * v:.0f}%' for v in values)}" for way, values in lacks.items()),
            holds(*(max(values[1:]) < 0.1 for values in lacks.values())),
        ],
        [
            "appendix A, conditions A.1 and A.2: rows are nearly of one length, pairs nearly orthogonal, if means are "
            "drawn independently; random weights are enough for that",
            f"n rows of n bits, less their means, n = 16 and n = {most}: shares that are off by more than n/10, "
            "by length (A.1) and by inner product (A.2); means drawn evenly, means of a state with random weights",
            "to nothing",
            "; ".join(
                f"{kind}: A.1 {ends[kind][0]['A.1']:.2f}, {ends[kind][1]['A.1']:.3f}, A.2 {ends[kind][0]['A.2']:.2f}, "
                f"{ends[kind][1]['A.2']:.3f}"
                for kind in drawn
            )
            + f"; the paper's exception has no variance left, {ends[odd][1]['variance']:.3f}",
            holds(*(max(one["A.1"], one["A.2"]) < 0.02 for one in last)),
        ],
        [
            "theorem A.0.1: the variance of the limit is 1 less the mean square of the means",
            f"{most} rows of {most} bits along a random direction: variance, and the theorem's; Kolmogorov distance "
            "from that normal, and that of as many normal numbers",
            "equal",
            "; ".join(
                f"{kind}: {ends[kind][1]['variance']:.3f}, {kinds[kind]['variance']:.3f}; "
                f"{ends[kind][1]['distance']:.3f}, {ends[kind][1]['normal numbers']:.3f}"
                for kind in drawn
            ),
            holds(*(one["distance"] < 1.3 * one["normal numbers"] for one in last)),
        ],
    ]
