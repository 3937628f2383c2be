"""Rows of the table of claims: section 3, with all that is said about costs and guarantees."""

from typing import Any

import numpy as np
from claims_of_model import Row, holds, mean
from common import HOLDS, NOT, PART, UNKNOWN
from synthetic import PURSUIT

RULE = "Rule for what is guaranteed: one step that lowers the likelihood, and the claim is not reproduced"


def rows(found: dict[str, Any]) -> list[Row]:
    return [*of_the_gradient(found), *of_the_search(found["terms"]), *of_pursuit(found)]


def of_the_gradient(found: dict[str, Any]) -> list[Row]:
    learning, ten = found["of_learning"], found["terms"]["machines"]["A, 10 units"]["ways"]
    chains, costs, epochs = ten["chains, 1,000 sweeps"], learning["costs"]["gradient"], learning["epochs"]
    many = found["terms"]["machines"]["digits, 24 units"]["ways"]
    by_rows, by_bits = learning["costs"]["rows"], learning["costs"]["bits"]
    few, ended = found["of_optima"]["few active"], found["of_optima"]["slow or stuck"]
    further = 64 * np.log(2.0) * float(np.mean([c["excess"] - c["excess, further"] for c in ended]))
    exact_wins = [ways["all terms"]["seconds"] < ways["chains, 1,000 sweeps"]["seconds"] for ways in (ten, many)]
    return [
        [
            "introduction, section 3: faster than sampling, and exact",
            "E[h x] of 10 units by all terms, and by 200 chains of 1,000 sweeps; of 24 units",
            "faster",
            f"{1e3 * ten['all terms']['seconds']:.0f} ms, {1e3 * chains['seconds']:.0f} ms with an error of "
            f"{chains['error']:.3f}; {many['all terms']['seconds']:.0f} s, "
            f"{many['chains, 1,000 sweeps']['seconds']:.0f} s with an error of "
            f"{many['chains, 1,000 sweeps']['error']:.2f}: exact always, faster for few units only",
            holds(*exact_wins),
        ],
        [
            "section 3: its time is exponential in the units, O(nN + 2^m)",
            f"ms for {', '.join(costs)} units, the part that does not look at rows",
            "O(nN + 2^m)",
            ", ".join(f"{1e3 * value:.1f}" for value in costs.values())
            + ": exponential, but O(mnN + n 2^m) by counting",
            PART,
        ],
        [
            "section 3: and linear in rows and bits",
            f"8 units, the part that looks at rows: ms for {', '.join(by_rows)} rows; {', '.join(by_bits)} bits",
            "linear",
            "; ".join(", ".join(f"{1e3 * v:.1f}" for v in part.values()) for part in (by_rows, by_bits)),
            holds(*(list(part.values())[-1] < 1.5 * 4 * next(iter(part.values())) for part in (by_rows, by_bits))),
        ],
        [
            "section 3: if more than k units are hardly ever active together, the O(m^k) states with at most k "
            "are enough",
            "true machines, at most 4 and at most 8 active: P(more), largest error of E[h x]",
            "good approximation",
            "; ".join(
                f"{t}: k = 4 {one['4']['more']:.2f}, {one['4']['error']:.2f}, k = 8 {one['8']['more']:.3f}, "
                f"{one['8']['error']:.3f}"
                for t, one in few.items()
            )
            + ". The error is of the order of P(more); but it is small only for k near m, "
            f"{few['A']['8']['terms']} of {few['A']['10']['terms']} states",
            holds(*(one[k]["error"] < 2.0 * one[k]["more"] for one in few.values() for k in ("4", "8"))),
        ],
        [
            "section 3: with one active unit at most it is a mixture",
            "all rows of 6 bits, largest difference between the two",
            "essentially",
            f"{found['of_model']['one active']['largest difference']:.0e}, with one more class, of fair coins",
            HOLDS,
        ],
        [
            "introduction, section 4: gradient ascent is sure to converge to a local maximum",
            "A, with momentum: epochs of 2,000 that lower the likelihood; after 1,000, root mean square of the "
            f"gradient a row, and nats a test row that L-BFGS gains from there, means of {len(ended)} data sets",
            "guaranteed",
            f"{epochs['falls']}; {np.mean([c['slope'] for c in ended]):.0e}, {further:.2f}. In theory it is true of "
            "small steps without momentum, and in the end, which 1,000 epochs are not",
            HOLDS if epochs["falls"] == 0 else PART,
        ],
        [
            "section 4: it takes about 1,000 epochs to stabilize",
            "nats a row gained by epochs 500 to 1,000, and by 1,000 more",
            "1000",
            f"{epochs['nats, epochs 500 to 1000']:.3f}, {epochs['nats, epochs 1000 to 2000']:.3f}",
            HOLDS if epochs["nats, epochs 1000 to 2000"] < 0.02 else PART,
        ],
    ]


def of_the_search(found: dict[str, Any]) -> list[Row]:
    geometry, machines = found["geometry"], found["machines"]
    right, n = geometry["right"], geometry["machines"]
    large = {name: one["ways"] for name, one in machines.items() if one["units"] > 20}
    own = machines["digits, 24 units"]["ways"]["long tempered chains"]["cosine"]
    cosines = {name: ways["4,096 largest terms"]["cosine"] for name, ways in large.items()}
    return [
        [
            "section 3.1: the largest term is the corner of a box furthest from a point; easy for orthogonal weights",
            f"{n} random machines of 8 units over reals: for how many the rule finds the state that enumeration finds, "
            "if weights are orthogonal; the rule as printed; the rule for weights that are not orthogonal",
            "all; all; no claim",
            f"{right['orthogonal weights']}; {right['orthogonal weights, as printed']}; {right['any weights']}",
            holds(right["orthogonal weights"] == n, right["orthogonal weights, as printed"] == n),
        ],
        [
            "section 3.1: to find it is NP-hard in general",
            f"{geometry['graphs']} random graphs as machines: the largest term is the largest cut, which is NP-hard",
            'NP-hard; later "not clear how hard"',
            f"{geometry['largest cut found by g']} of {geometry['graphs']}",
            holds(geometry["largest cut found by g"] == geometry["graphs"]),
        ],
        [
            'section 3.1, of the model of reals: "it might typically be easy"; then a search for the largest terms '
            "gives the gradient",
            "our search, on the model of bits, 4,096 terms, digits: cosine with the exact gradient (24 units) or with "
            "that of long chains (30), seconds; chains, 1,000 sweeps",
            "left open",
            "; ".join(
                f"{name}: {cosines[name]:.4f}, {ways['4,096 largest terms']['seconds']:.1f} s; chains "
                f"{ways['chains, 1,000 sweeps']['cosine']:.2f}, {ways['chains, 1,000 sweeps']['seconds']:.1f} s"
                for name, ways in large.items()
            )
            + f". At 24 units the long chains' own cosine is {own:.3f}: at 30 the reference is no better than what it "
            "measures",
            PART if cosines and min(cosines.values()) > 0.9 else NOT,
        ],
    ]


def of_pursuit(found: dict[str, Any]) -> list[Row]:
    model, learning = found["of_model"], found["of_learning"]
    apart = {t: model[f"interesting, {t}"] for t in "AB"}
    time, em = learning["costs"]["pursuit"], learning["em"]
    rises = {t: (sum(c["lower bits"] for c in cells), 10 * len(cells)) for t, cells in learning["rises"].items()}
    reals = sum(c["lower reals"] for cells in learning["rises"].values() for c in cells)
    left = {
        t: {
            **{when: float(np.mean([c[when] for c in cells])) for when in ("before", "after", "gained", "left")},
            "most left": max(c["most left"] for c in cells),
        }
        for t, cells in learning["rises"].items()
    }
    alone = found["of_optima"]["one unit"]
    removal = {
        t: [float(np.mean([c[way] for c in cells])) for way in ("paper", "usual")]
        for t, cells in found["of_optima"]["removals"].items()
    }
    epochs = f"{PURSUIT}, then gradient for 100 epochs"
    climbs = {t: [mean(found["synthetic"][t][name], "log-loss") for name in (PURSUIT, epochs)] for t in "AB"}
    refitted = found["refitted"]["bic"]
    near = {t: sum(abs(c["units"] - c["truth"]) <= 1 for c in cells) for t, cells in refitted.items()}
    return [
        [
            "sections 3.3, 3.4, figure 4.1(d): strong units are projections far from normal, with two humps",
            "along true weights, learned weights, random directions: Kolmogorov distance of rows from normal; and for "
            "how many a kernel density has two humps or more",
            "no figure",
            "; ".join(
                f"{t} {a['true']:.2f}, {a['learned']:.2f}, {a['random']:.2f}; "
                + ", ".join("{} of {}".format(*a["humps"][way]) for way in ("true", "learned", "random"))
                for t, a in apart.items()
            ),
            holds(
                *(min(a["true"], a["learned"]) > 2 * a["random"] for a in apart.values()),
                *(a["humps"][way][0] > 0.8 * a["humps"][way][1] for a in apart.values() for way in ("true", "learned")),
            ),
        ],
        [
            "introduction: pursuit has no guarantee of a local optimum",
            "test log-loss on A and B: pursuit; 100 epochs of the gradient from there",
            "no guarantee",
            "; ".join(f"{t} {a:.3f}, {b:.3f}" for t, (a, b) in climbs.items()),
            holds(*(b < a for a, b in climbs.values())),
        ],
        [
            "section 3.5: for one unit EM is much faster than gradient ascent, and converges extremely fast",
            "one unit over reals from one start, passes to 99% of what EM gains in 1,000: EM; gradient ascent with "
            "momentum and the best of five step sizes",
            "much faster",
            "; ".join(f"{t} {one['EM']}, {fewest(one['gradient'])}" for t, one in alone.items()),
            holds(*(fewest(one["gradient"]) > 3 * one["EM"] for one in alone.values())),
        ],
        [
            "section 3.4: the usual removal, which makes a projection wholly normal, is unfit for the machine",
            "ten units by pursuit with the paper's removal, with the usual one: test log-loss, means of 3 data sets",
            "unfit",
            "; ".join(f"{t} {a:.3f}, {b:.3f}" for t, (a, b) in removal.items()),
            holds(*(b > a for a, b in removal.values())),
        ],
        [
            "introduction: the time of pursuit is linear in the units",
            f"seconds for {', '.join(time)} units, 4,000 rows",
            "linear",
            ", ".join(f"{value:.2f}" for value in time.values()),
            holds(time["40"] < 1.3 * 4 * time["10"]),
        ],
        [
            "section 3.5: every step of EM raises the likelihood",
            "ten units over reals, 1 to 20 steps: falls on " + ", ".join(em),
            "0",
            ", ".join(str(one["falls"]) for one in em.values()),
            holds(*(one["falls"] == 0 for one in em.values())),
        ],
        [
            "section 4: 4 steps of EM a unit are enough",
            "likelihood that 4 steps gain, as a share of what 100 steps gain: smallest and median of ten units",
            "stable",
            "; ".join(
                f"{name} {one['smallest share of 4']:.2f}, {one['median share of 4']:.2f}" for name, one in em.items()
            ),
            holds(
                *(one["median share of 4"] > 0.9 for one in em.values()),
                *(one["smallest share of 4"] > 0.9 for one in em.values()),
            ),
        ],
        [
            "section 4: every unit of pursuit raises the likelihood",
            f"units that lower it: of bits on A and B; of reals. {RULE}",
            "guaranteed",
            ", ".join(f"{t} {low} of {n}" for t, (low, n) in rises.items()) + f"; reals {reals} of "
            f"{sum(n for _, n in rises.values())}",
            holds(sum(low for low, _ in rises.values()) + reals == 0),
        ],
        [
            "section 3.5, note: EM for the whole machine is not easy, since its classes share parameters",
            'tests of the library: `method="em"`, every step raises the objective',
            "not easy",
            "the M-step has no closed form, but is concave and needs no pass over the rows",
            PART,
        ],
        [
            "section 3.5: removal eliminates the structure of a unit",
            "nats a row that the unit itself gains on the Gaussian, before and after; Kolmogorov distance from normal "
            "along it (section 3.4 does not promise that it vanishes); means of ten units",
            "nothing left to gain",
            "; ".join(
                f"{t} {one['gained']:.2f}, {one['left']:.2f} (of all at most {one['most left']:.3f}); "
                f"{one['before']:.2f}, {one['after']:.2f}"
                for t, one in left.items()
            )
            + ": the unit is gone, but what is left along it is not normal",
            holds(*(one["most left"] <= 0.0 for one in left.values())),
        ],
        [
            "section 3.4: several units along one line may be needed",
            "pairs of 45 pursued units of digits with a cosine beyond .9",
            "may be",
            learning["templates"]["pairs of units along one line"],
            UNKNOWN,
        ],
        [
            "section 3.2: pursuit estimates the number of units",
            "the paper's pursuit, ended by BIC or by held-out rows: data sets where it ends within one of the true ten",
            "no figure",
            "; ".join(stops(found["stopping"], name) for name in ("A", "B"))
            + ". Another algorithm, which refits all units together and also takes some away (below): "
            + ", ".join(f"{t} {n} of {len(refitted[t])}" for t, n in near.items()),
            holds(most_near(found["stopping"]) >= 0.8),
        ],
        [
            "section 3.4: no good removal of structure is known for bits",
            "ours turns bits where the paper's subtracts w; pursuit ended by BIC: how far its test log-loss is "
            "above the truth's with either",
            "none found",
            "; ".join(removals(found["stopping"], name) for name in ("A", "B"))
            + ": ours is better, but pursuit stays far from the truth",
            PART,
        ],
        [
            "figure 4.6: a stage of backfitting is not useful",
            "the paper does not say what it fitted again. How far the test log-loss is above the truth's: "
            "pursuit (bits, BIC); with all units refitted together and some taken away",
            "not useful",
            "; ".join(
                f"{t} {above(found['stopping'][f'{t}, bits, BIC']):.3f}, {above(cells):.4f}"
                for t, cells in refitted.items()
            )
            + ": of great use here",
            UNKNOWN,
        ],
    ]


def above(cells: list[dict[str, Any]]) -> float:
    """By how much the test log-loss exceeds the truth's, on average."""
    return float(np.mean([c["log-loss"] - c["true log-loss"] for c in cells]))


def fewest(passes: dict[str, int | None]) -> float:
    """The passes of the best step size."""
    return min(n for n in passes.values() if n is not None)


def stops(found: dict[str, Any], table: str) -> str:
    """How often the rules come within one of the truth, removal by removal."""
    parts = [
        f"{name.split(', ', 1)[1]} {sum(abs(c['units'] - c['truth']) <= 1 for c in cells)} of {len(cells)}"
        for name, cells in found.items()
        if name.startswith(f"{table}, reals")
    ]
    return f"{table}: {', '.join(parts)}"


def most_near(found: dict[str, Any]) -> float:
    """Of both rules, with the paper's removal, the largest share on the harder target."""
    shares: dict[str, list[float]] = {}
    for name, cells in found.items():
        if "truth" in cells[0] and "reals" in name:
            share = float(np.mean([abs(c["units"] - c["truth"]) <= 1 for c in cells]))
            shares.setdefault(name.split(", ", 1)[1], []).append(share)
    return max(min(both) for both in shares.values())


def removals(found: dict[str, Any], table: str) -> str:
    """Mean excess of the log-loss with either removal."""
    parts = []
    for way, words in (("reals", "the paper's"), ("bits", "ours")):
        cells = found[f"{table}, {way}, BIC"]
        parts.append(f"{words} {above(cells):.3f}")
    return f"{table}: {', '.join(parts)}"
