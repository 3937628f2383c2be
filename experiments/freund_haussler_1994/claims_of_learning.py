"""Rows of the table of claims: section 3, with all that is said about costs and guarantees."""

from typing import Any

import numpy as np
from claims_of_model import Row, holds
from common import HOLDS, NOT, PART, UNKNOWN


def rows(found: dict[str, Any]) -> list[Row]:
    return [*of_the_gradient(found), *of_the_search(found["terms"]), *of_pursuit(found)]


def of_the_gradient(found: dict[str, Any]) -> list[Row]:
    learning, ten = found["of_learning"], found["terms"]["machines"]["A, 10 units"]["ways"]
    chains, costs, epochs = ten["chains, 1,000 sweeps"], learning["costs"]["gradient"], learning["epochs"]
    many = found["terms"]["machines"]["digits, 24 units"]["ways"]
    return [
        [
            "introduction, section 3: faster than sampling, and exact",
            "E[h x] of 10 units by all terms, and by 200 chains of 1,000 sweeps",
            "faster",
            f"{1e3 * ten['all terms']['seconds']:.0f} ms; {1e3 * chains['seconds']:.0f} ms with an error of "
            f"{chains['error']:.3f}; of 24 units {many['all terms']['seconds']:.0f} s and "
            f"{many['chains, 1,000 sweeps']['seconds']:.0f} s",
            HOLDS if ten["all terms"]["seconds"] < chains["seconds"] else NOT,
        ],
        [
            "section 3: its time is exponential in the units",
            f"ms for {', '.join(costs)} units",
            "O(nN + 2^m)",
            ", ".join(f"{1e3 * value:.1f}" for value in costs.values()) + "; O(mnN + n 2^m) by counting",
            HOLDS,
        ],
        [
            "section 3: sums over states with few active units are enough",
            "what is missing from ln Z with at most 4 active, nats",
            "good approximation",
            ", ".join(f"{name} {one['missing'][4]:.1f}" for name, one in found["claims"]["truncation"].items()),
            NOT,
        ],
        [
            "section 3: with one active unit at most it is a mixture",
            "all rows of 6 bits, largest difference between the two",
            "essentially",
            f"{found['of_model']['one active']['largest difference']:.0e}, with one more class, of fair coins",
            HOLDS,
        ],
        [
            "introduction: gradient ascent is sure to reach a local maximum",
            "2,000 epochs with momentum on A: epochs that lower the likelihood",
            "guaranteed",
            f"{epochs['falls']}; true of small steps only",
            PART if epochs["falls"] else HOLDS,
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
    cosines = {name: ways["4,096 largest terms"]["cosine"] for name, ways in large.items()}
    return [
        [
            "section 3.1: the largest term is the corner of a box furthest from a point; easy for orthogonal weights",
            f"{n} random machines of 8 units over reals: the rule against enumeration",
            "orthogonal: always",
            f"orthogonal {right['orthogonal weights']}, as printed {right['orthogonal weights, as printed']}; any "
            f"weights {right['any weights']}",
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
            "section 3.1: but typically easy; a search for the largest terms gives the gradient in polynomial time",
            "our search, 4,096 terms, digits: cosine with the exact gradient (24 units) or that of long chains (30), "
            "seconds; chains, 1,000 sweeps",
            "left open",
            "; ".join(
                f"{name}: {cosines[name]:.4f}, {ways['4,096 largest terms']['seconds']:.1f} s; chains "
                f"{ways['chains, 1,000 sweeps']['cosine']:.2f}, {ways['chains, 1,000 sweeps']['seconds']:.1f} s"
                for name, ways in large.items()
            ),
            holds(*(cosine > 0.99 for cosine in cosines.values())) if cosines else UNKNOWN,
        ],
    ]


def of_pursuit(found: dict[str, Any]) -> list[Row]:
    model, learning = found["of_model"], found["of_learning"]
    apart = {t: model[f"interesting, {t}"] for t in "AB"}
    time, em = learning["costs"]["pursuit"], learning["em"]
    rises = {t: (sum(c["lower bits"] for c in cells), 10 * len(cells)) for t, cells in learning["rises"].items()}
    reals = sum(c["lower reals"] for cells in learning["rises"].values() for c in cells)
    left = {
        t: [float(np.mean([c[when] for c in cells])) for when in ("before", "after")]
        for t, cells in learning["rises"].items()
    }
    refitted = found["refitted"]["bic"]
    near = {t: sum(abs(c["units"] - c["truth"]) <= 1 for c in cells) for t, cells in refitted.items()}
    return [
        [
            "sections 3.3, 3.4, figure 4.1(d): strong units are projections far from normal, with two humps",
            "Kolmogorov distance of rows from normal along true weights, learned weights, random directions",
            "no figure",
            "; ".join(f"{t} {a['true']:.2f}, {a['learned']:.2f}, {a['random']:.2f}" for t, a in apart.items()),
            holds(*(min(a["true"], a["learned"]) > 2 * a["random"] for a in apart.values())),
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
            "ten units: smallest and median share of the gain of 100 steps",
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
            "units that lower it: of bits on A and B; of reals",
            "0",
            ", ".join(f"{t} {low} of {n}" for t, (low, n) in rises.items()) + f"; reals {reals} of "
            f"{sum(n for _, n in rises.values())}",
            holds(sum(low for low, _ in rises.values()) == 0, reals == 0),
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
            "Kolmogorov distance from normal along a unit, before and after, means of ten",
            "to nothing",
            "; ".join(f"{t} {before:.2f}, {after:.2f}" for t, (before, after) in left.items()),
            holds(*(after < 0.5 * before for before, after in left.values()), max(a for _, a in left.values()) < 0.03),
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
            "it stops by itself: data sets within one of the true ten",
            "no figure",
            "; ".join(stops(found["stopping"], name) for name in ("A", "B")) + "; if all units are refitted together "
            "and units are also taken away: " + ", ".join(f"{t} {n} of {len(refitted[t])}" for t, n in near.items()),
            holds(most_near(found["stopping"]) >= 0.8, *(n >= 0.8 * len(refitted[t]) for t, n in near.items())),
        ],
        [
            "section 3.4, open problem: removal of structure for bits",
            "bits turned, not subtracted: test log-loss above the truth's, by BIC",
            "none",
            "; ".join(removals(found["stopping"], name) for name in ("A", "B")) + ": it can be done",
            UNKNOWN,
        ],
        [
            "figure 4.6: a stage of backfitting is not useful",
            "the paper does not say what it fitted again; all units together, above the truth's test log-loss",
            "not useful",
            ", ".join(
                f"{t} {np.mean([c['log-loss'] - c['true log-loss'] for c in cells]):.4f}"
                for t, cells in refitted.items()
            )
            + ": of great use here",
            UNKNOWN,
        ],
    ]


def stops(found: dict[str, Any], table: str) -> str:
    """How often the rules come within one of the truth, removal by removal."""
    parts = [
        f"{name.split(', ', 1)[1]} {sum(abs(c['units'] - c['truth']) <= 1 for c in cells)} of {len(cells)}"
        for name, cells in found.items()
        if name.startswith(f"{table},")
    ]
    return f"{table}: {', '.join(parts)}"


def most_near(found: dict[str, Any]) -> float:
    """Of all rules and removals, the largest share on the harder target."""
    shares: dict[str, list[float]] = {}
    for name, cells in found.items():
        if "truth" in cells[0]:
            share = float(np.mean([abs(c["units"] - c["truth"]) <= 1 for c in cells]))
            shares.setdefault(name.split(", ", 1)[1], []).append(share)
    return max(min(both) for both in shares.values())


def removals(found: dict[str, Any], table: str) -> str:
    """Mean excess of the log-loss with either removal."""
    parts = []
    for way in ("reals", "bits"):
        cells = found[f"{table}, {way}, BIC"]
        parts.append(f"{way} {np.mean([c['log-loss'] - c['true log-loss'] for c in cells]):.3f}")
    return f"{table}: {', '.join(parts)}"
