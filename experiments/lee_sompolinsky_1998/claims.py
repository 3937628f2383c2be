"""Every claim of the paper: how it was tested, its figure next to ours, and the verdict."""

from typing import Any

from common import HOLDS, NOT, PART, UNKNOWN, claims_table


def between(least: str) -> str:
    return f"{100 * float(least):g} to {100 * (1 - float(least)):g}%"


def part(one: dict[str, Any]) -> str:
    """The smallest eigenvalue, which is negative, as a part of the largest."""
    return f"{-one['smallest'] / one['largest']:.3f}"


def claims(found: dict[str, Any]) -> str:
    """The table, and how many claims got each verdict."""
    rows = [*of_the_model(found), *of_the_ring(found["translation"])]
    digits = found["digits"]
    rows += [["Figure 4", "", "", digits, UNKNOWN]] if isinstance(digits, str) else of_the_twos(found)
    rows += of_the_end(found)
    return claims_table(rows)


def of_the_model(found: dict[str, Any]) -> list[list[Any]]:
    checks, counts, entropy = found["checks"], found["cells"]["counts"], found["cells"]["entropy"]
    solver = checks["tetrachoric correlations of seven tables (largest difference)"]["measured"]
    most, first = counts["8, 3"], entropy[0]
    bounded = {size: c["with biases"]["fewest_neighbours_of_bounded"] for size, c in counts.items()}
    size = f"{first['columns']}, {first['dimensions']}"
    return [
        [
            "Equation 7: C^SS is the arcsine of C^XX (and equation 10 with biases)",
            "seven 2 x 2 tables with reference correlations to 30 digits",
            "exact",
            f"largest difference {solver:.0e}",
            HOLDS,
        ],
        [
            "Figure 2, section 2: about N^P rows can be generated",
            "cells of random planes, found by linear programs",
            f"N, P = 8, 3: {most['paper']}",
            f"{most['without biases']['cells']} without biases, {most['with biases']['cells']} with",
            NOT,
        ],
        [
            "the entropy of the rows is P log N",
            f"{found['cells']['draws']:,} draws from random planes",
            f"N, P = {size}: {first['paper']:.2f}",
            f"{first['entropy']:.2f}; at most {first['largest']:.2f}",
            NOT,
        ],
        [
            "the entropy grows in proportion to P",
            "the same draws, N = 16 without biases, P = 2 and 3; for large N the count says P - 1",
            "3 : 2",
            " and ".join(
                f"{e['entropy']:.2f}" for e in entropy if e["columns"] == first["columns"] and not e["biases"]
            ),
            PART,
        ],
        [
            "each cell has at least P + 1 neighbours, one or a few flips away",
            "cells with one other sign, counted",
            "N, P = 8, 3: 4",
            f"{most['with biases']['fewest_neighbours']}; {bounded['8, 3']} of bounded cells",
            PART,
        ],
    ]


def of_the_ring(ring: dict[str, Any]) -> list[list[Any]]:
    n, largest = ring["columns"], " and ".join(f"{value:.4f}" for value in ring["largest_of_hidden"])
    same = f"all {n} bumps, computed"
    return [
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
            f"{ring['draws']:,} rows drawn",
            f"{n} bumps",
            f"{ring['different_rows']} different rows, {ring['bumps_among_them']} of them bumps",
            HOLDS,
        ],
    ]


def of_the_twos(found: dict[str, Any]) -> list[list[Any]]:
    digits, m, rarest = found["digits"], found["morphs"], found["rarity"]
    s, drawn = digits["spectrum"], digits["draws"]
    least = list(rarest)[-1]
    whole, common = rarest["0.0"], rarest[least]
    drop, near = s["first_rank_at_which_hidden_is_the_smaller_share"], m["pixels_from_the_nearest_training_image"]
    chance = found["negative"]["twos"][str(digits["rows"][0])][0]
    return [
        [
            "equation 9: biases give the means of the bits",
            f"{drawn['rows']:,} drawn twos, largest error of a pixel's mean",
            "exact",
            f"{drawn['largest_error_of_means']:.4f}, chance",
            HOLDS,
        ],
        [
            "Figure 4: the eigenvalues of C^XX drop more steeply than those of C^SS",
            "rank from which on they are the smaller part of the first",
            "no figure",
            f"{drop['bits']}; {common['drops_from']} with pixels that are ink in {between(least)} of the images",
            PART,
        ],
        [
            "16 eigenvectors are distortions, and look like those of standard PCA",
            "the pictures; mean squared cosine between the two spaces",
            "no figure",
            f"{s['overlap_with_pca']:.2f}; the first ones are",
            PART,
        ],
        [
            "a morph flips pixels in an order that the model determines",
            f"{m['pairs']} pairs of test images, most flips of a pixel",
            "1",
            m["most_flips_of_a_pixel"],
            HOLDS,
        ],
        [
            "linear interpolation by PCA looks like no data",
            "half way, pixels from the nearest training image",
            "no figure",
            f"cross-fade {near['cross-fade, its greys made bits by chance']:.1f}, clipped {near['clipped']:.1f}; but "
            f"PCA cut at one half {near['thresholded PCA']:.1f}",
            PART,
        ],
        [
            "C^SS is positive definite",
            "its smallest eigenvalue",
            "above 0",
            f"{s['smallest_of_bits']:.0e}: semi-definite",
            PART,
        ],
        [
            "C^XX has some small negative eigenvalues",
            "all pixels, and those that are not rarely ink or paper",
            "no figure",
            f"{whole['negative']} of {whole['columns']}, {part(whole)} of the largest in size; {common['negative']} of "
            f"{common['columns']}, {part(common)}",
            PART,
        ],
        [
            "they indicate a shortcoming of the model",
            "rows drawn from a model whose true C^XX has none",
            "no figure",
            f"{chance['negative']} of {chance['columns']}, the smallest {chance['smallest']:.2f}",
            NOT,
        ],
        [
            "training is extremely efficient",
            "processor seconds for all pairs of 731 images",
            "no figure",
            f"{found['checks']['twos: processor seconds for all 32,640 pairs, with standard errors']['measured']:.1f}",
            HOLDS,
        ],
    ]


def of_the_end(found: dict[str, Any]) -> list[list[Any]]:
    sizes = found["constraint"]["sizes"]
    return [
        [
            "for N ≥ 4 no Gaussian has bits with sum zero",
            "smallest eigenvalue of C^XX, computed",
            "below 0",
            ", ".join(f"{one['smallest']:.4f} (N = {n})" for n, one in sizes.items()),
            HOLDS,
        ],
        ["Figures 3 and 4: heights of the curves, the two images of the morph", "", "not printed", "", UNKNOWN],
        ["a Boltzmann machine takes too long to train", "not tested: no size or time is given", "", "", UNKNOWN],
    ]
