"""The claims of section 4: the twos, negative eigenvalues, the counterexample, and what the paper concludes."""

from typing import Any

import numpy as np
from claims_of_model import NONE
from common import HOLDS, PART, UNKNOWN

ZERO = 1e-12  # rounding


def between(least: str) -> str:
    return f"{100 * float(least):g} to {100 * (1 - float(least)):g}%"


def part(one: dict[str, Any]) -> str:
    """The smallest eigenvalue, which is negative, as a part of the largest."""
    return f"{-one['smallest'] / one['largest']:.3f}"


def of_the_introduction(found: dict[str, Any]) -> list[list[Any]]:
    outputs, digits = found["outputs"], found["digits"]
    rows = [["Section 1: a Boltzmann machine takes too long to train", "not tested: no size or time is given", NONE]]
    rows[0] += ["", UNKNOWN]
    if isinstance(outputs, str):
        return rows
    back = digits["reconstruction"]
    return [
        *rows,
        [
            "the linear manifold of PCA is not appropriate for bits",
            "test twos from 16 principal components of the bits: numbers below 0 or above 1; pixels that are wrong "
            "after a cut at one half, and by the clipped model",
            NONE,
            f"{100 * outputs['pca']['outside']:.0f}%; but {100 * back['thresholded PCA']:.1f}% wrong, clipped "
            f"{100 * back['clipped']:.1f}%",
            PART,
        ],
    ]


def of_the_twos(found: dict[str, Any]) -> list[list[Any]]:
    digits, outputs, rarest = found["digits"], found["outputs"], found["rarity"]
    s, raw, corrected = digits["spectrum"], digits["draws_of_paper"], digits["draws"]
    least = list(rarest)[-1]
    common, back, m = rarest[least], digits["reconstruction"], found["morphs"]
    drop, near = s["first_rank_at_which_hidden_is_the_smaller_share"], m["pixels_from_the_nearest_training_image"]
    ways = outputs["distortions"]["ways"]
    best = "; ".join(f"{name} {w['all']:.2f} ({w['best']:.2f})" for name, w in ways.items() if name != "slant")
    return [
        [
            "Section 4, equation 9: biases give the means of the bits",
            f"{raw['rows']:,} twos drawn by `ClippedPCA.paper()`, and by the corrected model with noise: largest error "
            "of a pixel's mean",
            "0 but for chance",
            f"{raw['largest_error_of_means']:.4f}; {corrected['largest_error_of_means']:.4f}",
            HOLDS,
        ],
        [
            "Figure 4: the eigenvalues of C^XX drop more steeply than those of C^SS",
            "divide each spectrum by its first value: the rank from which on that of C^XX (with pseudo-rows) is the "
            "lower one. C^SS as covariances; as ⟨s_i s_j⟩ (equation 5); only the pixels with ink in "
            f"{between(least)} of the images, which need no pseudo-rows",
            "the drawing",
            f"{drop['bits']}; {outputs['second_moments']['drops_from']}; {common['drops_from']}",
            PART,
        ],
        [
            "the 16 eigenvectors are rotations and stretching",
            "small turns and stretches of the mean image: share of their square in the space of the 16 (chance "
            f"{outputs['distortions']['chance']:.2f}), and in the best single one",
            NONE,
            best,
            PART,
        ],
        [
            "they look like those of standard PCA",
            "the pictures (the first ones do); mean squared cosine between the two spaces",
            NONE,
            f"{s['overlap_with_pca']:.2f}",
            PART,
        ],
        [
            "a morph flips pixels in an order that the model determines",
            f"{m['pairs']} pairs of test images. Without noise hardly any image has hidden values, so we use posterior "
            "means of the model with noise. First number: the most often any pixel flips during a morph. Second: share "
            "of pixels in which the morph's ends differ from the real images",
            NONE,
            f"{m['most_flips_of_a_pixel']}; {100 * back['clipped']:.1f}%",
            HOLDS,
        ],
        [
            "morphing by conventional PCA would be a linear interpolation between the two images, and not look "
            "anything like the data",
            "half way, pixels from the nearest training image: cross-fade, its greys made bits by chance; clipped "
            "morph; test images. Not tested as stated: a cross-fade mixes the images, PCA would mix its "
            "reconstructions of them",
            NONE,
            "; ".join(
                f"{near[name]:.1f}" for name in ("cross-fade, its greys made bits by chance", "clipped", "test images")
            ),
            PART,
        ],
        *of_negative_eigenvalues(found),
    ]


def of_negative_eigenvalues(found: dict[str, Any]) -> list[list[Any]]:
    digits, rarest, second = found["digits"], found["rarity"], found["outputs"]["second_moments"]
    least = list(rarest)[-1]
    whole, common, own = rarest["0.0"], rarest[least], digits["spectrum"]
    drawn = found["negative"]["twos"][str(digits["rows"][0])]
    count, low = np.mean([one["negative"] for one in drawn]), np.mean([one["smallest"] for one in drawn])
    return [
        [
            "C^SS is positive definite",
            "its smallest eigenvalue, without the pixels that never vary: as ⟨s_i s_j⟩ (equation 5); as covariances",
            "above 0",
            f"{second['smallest']:.0e}; {own['smallest_of_bits']:.0e}, rounding of 0; "
            f"{own['constant_columns']} pixels never vary",
            PART,
        ],
        [
            "equation 10 does not guarantee that C^XX is positive definite",
            "smallest eigenvalue of the twos' C^XX, with pseudo-rows, and of pixels that need none "
            f"(ink in {between(least)})",
            "below 0",
            f"{whole['smallest']:.2f}; {common['smallest']:.2f}",
            HOLDS,
        ],
        [
            "C^XX has some small negative eigenvalues",
            f"number, and size of the smallest as a share of the largest: all {whole['columns']} pixels that vary, "
            f"with pseudo-rows, which the paper does not have; the {common['columns']} with ink in {between(least)}, "
            "which need none",
            NONE,
            f"{whole['negative']}, {part(whole)}; {common['negative']}, {part(common)}",
            PART,
        ],
        [
            "they indicate a shortcoming of the model for this data",
            f"{len(drawn)} times {digits['rows'][0]} rows drawn from a model whose true C^XX has none: number and "
            "smallest, means; the twos. Chance can make them, but that it made those of the twos is not shown",
            NONE,
            f"{count:.0f}, {low:.2f}; {whole['negative']}, {whole['smallest']:.2f}",
            UNKNOWN,
        ],
    ]


def of_the_end(found: dict[str, Any]) -> list[list[Any]]:
    sizes, outputs = found["constraint"]["all sizes"], found["outputs"]
    rows = [
        [
            "for N ≥ 4 no Gaussian has bits that match the correlations of bits with sum zero",
            "smallest eigenvalue of C^XX, enumerated; for odd N the sum is -1 or 1. In closed form, and below 0 for "
            "every N ≥ 4 (below)",
            "below 0",
            ", ".join(f"{one['smallest'] + 0.0:.3f} (N = {n})".replace("-0.000", "0.000") for n, one in sizes.items())
            + ": 0 for N = 2 and 3, so that the bound is sharp",
            HOLDS if all((one["closed_form"] < -ZERO) == (int(n) >= 4) for n, one in sizes.items()) else PART,
        ]
    ]
    if not isinstance(outputs, str):
        rows += of_the_summary(found)
    return [
        *rows,
        [
            "Figure 4: heights of the curves, and the two images of the morph",
            "not printed, and the images are not known",
            "not printed",
            "",
            UNKNOWN,
        ],
    ]


def of_the_summary(found: dict[str, Any]) -> list[list[Any]]:
    outputs, overlap = found["outputs"], found["low_rank"]["overlap_of_two"]
    errors = outputs["likelihood"]
    better = sum(one["gain"] > 2.0 * one["error"] for one in errors.values())
    worse = sum(one["gain"] < -2.0 * one["error"] for one in errors.values())
    size = "16" if "16" in errors else next(iter(errors))
    alone = found["checks"]["twos: processor seconds for all 32,640 pairs, with standard errors"]["measured"]
    whole = f"; {outputs['seconds']['clipped']:.1f}" if outputs["seconds"] else ""
    return [
        [
            "abstract, end: C^XX has advantages over using the correlations of the outputs directly",
            "twos: test error of the corrected model with W from C^XX, and with W from the correlations of the bits, "
            f"P = {size}; how often the one and the other is better by two standard errors, "
            f"P = {', '.join(errors)}. Ring: overlap of the two leading eigenvectors of C^XX and C^SS",
            NONE,
            f"{errors[size]['hidden']:.2f}, {errors[size]['bits']:.2f}; {better} and {worse} of {len(errors)}; "
            f"{overlap:.4f}: the number of modes is clearer; that the modes are better is not seen",
            PART,
        ],
        [
            "the inverse mapping need not be learned",
            "by construction: the fit counts pairs of columns, and nothing else. Hidden values of a row have to be "
            "inferred afterwards, which the paper does not explain",
            NONE,
            "no inverse mapping in the fit",
            HOLDS,
        ],
        [
            "training is extremely efficient",
            "processor seconds for 731 twos: the correlations of all 32,640 pairs of pixels; the whole fit by "
            "`ClippedPCA.paper()`, P = 16",
            NONE,
            f"{alone:.1f}{whole}",
            HOLDS,
        ],
    ]
