"""The claims of sections 2 and 3: the model, the learning rule, and the ring."""

from math import log
from typing import Any

from common import HOLDS, NOT, PART

NONE = "no number"  # what the paper says of a figure where it gives none


def slope(entropy: list[dict[str, Any]], dimensions: int, *, biases: bool) -> float:
    """The growth of the entropy with ln N, between the two longest rows of a kind."""
    first, last = [e for e in entropy if e["dimensions"] == dimensions and e["biases"] == biases][-2:]
    return float((last["entropy"] - first["entropy"]) / log(last["columns"] / first["columns"]))


def ratio(entropy: list[dict[str, Any]], columns: int, *, biases: bool) -> str:
    """The entropies of P = 3 and P = 2 at one N, and the one divided by the other."""
    two, three = (
        next(e["entropy"] for e in entropy if (e["columns"], e["dimensions"], e["biases"]) == (columns, p, biases))
        for p in (2, 3)
    )
    return f"{three:.2f} : {two:.2f} = {three / two:.2f}"


def of_the_model(found: dict[str, Any]) -> list[list[Any]]:
    checks, low, heat = found["checks"], found["low_rank"], found["low_rank"]["temperature"]
    solver = checks["tetrachoric correlations of seven tables (largest difference)"]["measured"]
    ranks, near = low["ranks"], {n: shares[1] for n, shares in low["share_of_first"].items()}
    ring, scaled = found["translation"], low["scaled"]
    return [
        [
            "Section 2: like a sigmoid belief network at zero temperature",
            f"random planes, N, P = {ranks['columns']}, {ranks['dimensions']}: share of bits in which sigmoid units "
            f"differ from signs, at temperatures {', '.join(heat)}",
            "0 in the limit",
            ", ".join(f"{share:.4f}" for share in heat.values()),
            HOLDS,
        ],
        [
            "C^XX has rank P (equation 4); in general C^SS has not",
            f"the same planes: eigenvalues above rounding of C^XX and, by equation 7, of C^SS; N = {ranks['columns']}",
            f"{ranks['dimensions']}, and more",
            f"{ranks['hidden']} and {ranks['bits']}",
            HOLDS,
        ],
        [
            "the spectrum of C^SS may contain a whole continuum",
            "the ring, closed form: different positive eigenvalues; the second of them as a share of the first, for "
            f"N = {' and '.join(near)}",
            "the ring",
            f"{low['different_eigenvalues']} from {ring['smallest_positive_of_bits']:.4f} to "
            f"{ring['largest_of_bits'][0]:.2f}; but {' and '.join(f'{share:.4f}' for share in near.values())}: the "
            "large ones do not move together as N grows",
            PART,
        ],
        [
            "Equation 7: C^SS is the arcsine of C^XX (and equation 10 with biases)",
            "seven 2 x 2 tables with reference correlations to 30 digits",
            "exact",
            f"largest difference {solver:.0e}",
            HOLDS,
        ],
        [
            "introduction: learning is related to PCA by a scalar transformation of the correlation matrix",
            "reading equations 7 and 10",
            "scalar",
            "true of equation 7; with biases equation 10 depends on both means of a pair as well",
            PART,
        ],
        [
            "the scale of a Gaussian variable changes nothing",
            f"{scaled['draws']:,} rows from the same planes, each variable multiplied by 1/2 to 2: bits that change; "
            "largest change of C^SS by equation 7",
            "0",
            f"{scaled['bits_changed']}; {scaled['change_of_bits']:.0e}",
            HOLDS,
        ],
        *of_the_cells(found),
    ]


def of_the_cells(found: dict[str, Any]) -> list[list[Any]]:
    counts, entropy, drawn = found["cells"]["counts"], found["cells"]["entropy"], found["cells"]["draws"]
    large, small = found["cells"]["large"]["256, 2"], counts["8, 3"]
    both = [kind for c in counts.values() for kind in (c["without biases"], c["with biases"])]
    slopes = {(q, b): f"{slope(entropy, q, biases=b):.2f}" for q in (2, 3) for b in (True, False)}
    ratios = {biases: ", ".join(ratio(entropy, n, biases=biases) for n in (16, 64)) for biases in (True, False)}
    straight = all(kind["connected"] and kind["steps_beyond_flips"] == 0.0 for kind in both)
    flips = found["translation"]["flips_to_the_nearest_bump"][1]
    return [
        [
            "Figure 2: N planes make about N^P cells, for N much larger than P",
            "closed form, equal to the cells that linear programs find in four small cases (below)",
            f"N, P = 256, 2: {large['paper']:,}",
            f"{large['without biases']:,} without biases, as in section 2; {large['with biases']:,} with biases: then "
            "the power holds",
            NOT,
        ],
        [
            "to leading order for large N the entropy of the rows is P log N",
            f"{drawn:,} draws from random planes, P = 2: growth of the entropy with ln N",
            "2",
            f"{slopes[2, False]} without biases, as in section 2; {slopes[2, True]} with biases: then the power holds",
            NOT,
        ],
        [
            "the entropy is directly proportional to P",
            "the same draws, P = 3 and 2: growth with ln N; and the entropies themselves at N = 16 and N = 64",
            "3 : 2 = 1.5",
            f"{slopes[3, False]} : {slopes[2, False]} without biases, as in section 2, which is P - 1; "
            f"{ratios[False]}. {slopes[3, True]} : {slopes[2, True]} with biases; {ratios[True]}",
            NOT,
        ],
        [
            "each cell has at least P + 1 neighbours, a single or a small number of flips away",
            "all cells for N, P = 8, 3 with biases: cells that share a face (one flip), and cells at most two flips "
            "away, of the cell that has the fewest",
            "4",
            f"{small['with biases']['fewest_neighbours']} (of bounded cells "
            f"{small['with biases']['fewest_neighbours_of_bounded']}); "
            f"{small['with biases']['fewest_within_two_flips']} within two flips",
            PART,
        ],
        [
            "the rows are connected with small Hamming distances",
            f"{len(both)} sets of planes: a way from every cell to every other by single flips; the ring",
            NONE,
            f"{'there is one, with no more flips than signs that differ' if straight else 'not always'}; on the ring "
            f"{flips} flips lead to the next bump",
            HOLDS if straight else PART,
        ],
    ]


def of_the_rule(found: dict[str, Any]) -> list[list[Any]]:
    low, outputs = found["low_rank"], found["outputs"]
    angles, ring = low["angles"], low["scaled"]["ring"]
    seconds = None if isinstance(outputs, str) else outputs["seconds"]
    scales = [
        f"factors up to {most}: {' and '.join(f'{value:.1f}' for value in one['largest'])}, rank {one['rank']}"
        for most, one in ring.items()
    ]
    plain = " and ".join(f"{value:.1f}" for value in found["translation"]["largest_of_hidden"])
    rows = [
        [
            "Section 3: maximum likelihood needs integrals that are analytically intractable",
            f"P = 2, where the probability of a row is an angle over 2π; N = {angles['columns']}: entropy from angles, "
            "and of draws. For P = 16 we know of no closed form",
            NONE,
            f"{angles['entropy']:.3f}; {angles['entropy_of_draws']:.3f}: tractable for P = 2",
            PART,
        ],
        *of_low_rank(found["rarity"]),
        [
            "other scales of the x_i give slightly different eigenvalues of C^XX, and the same rank",
            "the ring, each variable multiplied by a factor drawn by chance",
            "rank 2",
            f"{'; '.join(scales)}; without factors {plain}",
            PART,
        ],
    ]
    rows.insert(
        1,
        [
            "the learning rule is approximate: not that of the highest likelihood",
            "by construction: the likelihood does not enter it; other W have lower test errors (How well it fits)",
            NONE,
            "so",
            HOLDS,
        ],
    )
    if seconds:
        rows.insert(
            1,
            [
                "the rule is much more efficient than likelihood, mean field theory or importance sampling",
                "processor seconds of a whole fit to the twos, P = 16: `ClippedPCA.paper()`; the variational "
                "`LogisticPCA` (the paper's reference 7; a logistic model). The others were not run",
                NONE,
                f"{seconds['clipped']:.1f}; {seconds['variational']:.1f}: more efficient than the one that was run",
                PART,
            ],
        )
    return rows


def of_low_rank(rarity: Any) -> list[list[Any]]:
    if isinstance(rarity, str):
        return []
    one = rarity["0.0"]
    near = one["low_rank"]
    return [
        [
            "leading eigenvectors give the best low rank approximation C^XX ≈ WW'",
            "a theorem (Eckart and Young): no other WW' has a smaller sum of squared differences, if no "
            "eigenvalue used is negative. The twos, P = 16: share of the squares of C^XX that WW' misses; the least "
            "that any matrix of rank 16 misses, negative eigenvalues allowed; variances by WW', which are 1 in C^XX",
            "best",
            f"{near['missed']:.3f}; {near['missed_by_either_sign']:.3f}; {near['variances'][0]:.2f} to "
            f"{near['variances'][1]:.2f}, above 1 for {near['beyond_1']} of {one['columns']} pixels: the best WW', but "
            "it loses the unit variances",
            PART,
        ]
    ]


def of_the_ring(ring: dict[str, Any], low: dict[str, Any]) -> list[list[Any]]:
    n, largest = ring["columns"], " and ".join(f"{value:.4f}" for value in ring["largest_of_hidden"])
    same, waves, rules = f"all {n} bumps, computed", low["fourier"], low["rules"]
    return [
        [
            "the ring's C^SS depends only on the distance of i and j",
            f"{same}: largest difference from a triangle wave of the distance",
            "0",
            f"{waves['from_triangle']:.1g}",
            HOLDS,
        ],
        [
            "its eigenvectors are Fourier modes, its eigenvalues their overlaps with a triangle wave",
            f"{same}: C^SS in Fourier modes, largest value off the diagonal; largest difference of eigenvalues",
            "0",
            f"{waves['off_diagonal']:.0e}; {waves['from_overlaps']:.0e}",
            HOLDS,
        ],
        [
            "Figure 3: C^SS has N/2 positive eigenvalues",
            same,
            n // 2,
            ring["positive_eigenvalues_of_bits"],
            HOLDS,
        ],
        [
            "C^XX has two positive eigenvalues, the rest are exactly zero",
            same,
            "2, then 0",
            f"{largest}; the rest at most {ring['rest_of_hidden']:.0e}",
            HOLDS,
        ],
        [
            "their eigenvectors are a cosine and a sine",
            "turn of the loadings from column to column",
            f"2π / {n}",
            f"2π / {n}, to {ring['uneven_turn']:.0e}",
            HOLDS,
        ],
        [
            "P = 2 hidden variables make the distribution",
            f"{ring['draws']:,} rows drawn by `ClippedPCA.paper()`",
            f"{n} bumps",
            f"{ring['different_rows']} different rows, {ring['bumps_among_them']} of them bumps",
            HOLDS,
        ],
        [
            "the number of modes is obvious from C^XX, and not clear from C^SS",
            f"numbers by usual rules: {', '.join(rules['bits'])}",
            "2; not clear",
            f"C^XX {', '.join(map(str, rules['hidden'].values()))}; C^SS {', '.join(map(str, rules['bits'].values()))}",
            HOLDS,
        ],
    ]
