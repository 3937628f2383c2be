"""The cells of claims.md that have to be worked out: our figure, with the verdict where it depends on the results."""

from math import log

from common import HOLDS, PART, Found

ZERO = 1e-12  # rounding


def slope(found: Found, dimensions: int, *, biases: bool) -> str:
    """The growth of the entropy with ln N, between the two longest rows of a kind."""
    entropy = found["cells"]["entropy"]
    first, last = [e for e in entropy if e["dimensions"] == dimensions and e["biases"] == biases][-2:]
    return f"{(last['entropy'] - first['entropy']) / log(last['columns'] / first['columns']):.2f}"


def ratio(found: Found, columns: int, *, biases: bool) -> str:
    """The entropies of P = 3 and P = 2 at one N, and the one divided by the other."""
    known = {(e["columns"], e["dimensions"], e["biases"]): e["entropy"] for e in found["cells"]["entropy"]}
    two, three = (known[columns, p, biases] for p in (2, 3))
    return f"{three:.2f} : {two:.2f} = {three / two:.2f}"


def growth_of_two(found: Found) -> str:
    with_biases = slope(found, 2, biases=True)
    return f"{slope(found, 2, biases=False)} without biases, as in section 2; {with_biases} with biases"


def growth_of_three(found: Found) -> str:
    (two, three, ratios), (two_biased, three_biased, ratios_biased) = (
        (*(slope(found, p, biases=b) for p in (2, 3)), ", ".join(ratio(found, n, biases=b) for n in (16, 64)))
        for b in (False, True)
    )
    return (
        f"{three} : {two} without biases, as in section 2, which is P - 1; {ratios}. {three_biased} : {two_biased} "
        f"with biases; {ratios_biased}"
    )


def planes(found: Found) -> list[dict[str, object]]:
    return [counts[kind] for counts in found["cells"]["counts"].values() for kind in ("without biases", "with biases")]


def sets_of_planes(found: Found) -> int:
    return len(planes(found))


def ways_between_cells(found: Found) -> tuple[str, str]:
    straight = all(one["connected"] and one["steps_beyond_flips"] == 0.0 for one in planes(found))
    flips = found["translation"]["flips_to_the_nearest_bump"][1]
    words = "there is one, with no more flips than signs that differ" if straight else "not always"
    return f"{words}; on the ring {flips} flips lead to the next bump", HOLDS if straight else PART


def other_scales(found: Found) -> str:
    scales = [
        f"factors up to {most}: {' and '.join(f'{value:.1f}' for value in one['largest'])}, rank {one['rank']}"
        for most, one in found["low_rank"]["scaled"]["ring"].items()
    ]
    plain = " and ".join(f"{value:.1f}" for value in found["translation"]["largest_of_hidden"])
    return f"{'; '.join(scales)}; without factors {plain}"


def numbers_of_modes(found: Found) -> str:
    rules = found["low_rank"]["rules"]
    hidden, bits = (", ".join(map(str, rules[name].values())) for name in ("hidden", "bits"))
    return f"C^XX {hidden}; C^SS {bits}"


def no_gaussian(found: Found) -> tuple[str, str]:
    sizes = found["constraint"]["all sizes"]
    words = ", ".join(f"{one['smallest'] + 0.0:.3f} (N = {n})".replace("-0.000", "0.000") for n, one in sizes.items())
    sharp = all((one["closed_form"] < -ZERO) == (int(n) >= 4) for n, one in sizes.items())
    return f"{words}: 0 for N = 2 and 3, so that the bound is sharp", HOLDS if sharp else PART
