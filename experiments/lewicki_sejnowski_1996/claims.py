"""The cells of claims.md that have to be worked out: our figure, with the verdict where it depends on the results."""

from common import Found, holds


def of(count: int, runs: int) -> str:
    return f"{count:,} of {runs:,}"


def efficiently(found: Found) -> tuple[str, str]:
    paper = found["lines"]["paper"]
    words = f"{of(paper['both'], paper['runs'])}, {paper['seconds']:.1f} s"
    return words, holds(paper["both"] > 0.9 * paper["runs"], paper["both"] > 0)


def ten_lines(found: Found) -> tuple[str, str]:
    paper, ours = found["lines"]["paper"], found["lines"]["ours"]
    words = f"{of(paper['lines'], paper['runs'])}; {of(ours['lines'], ours['runs'])}"
    return words, holds(paper["lines"] > 0.9 * paper["runs"], paper["lines"] > 0)


def four_sets(found: Found) -> tuple[str, str]:
    """Of the runs that have the lines."""
    paper, ours = found["lines"]["paper"], found["lines"]["ours"]
    words = f"{of(paper['both'], paper['lines'])}; {of(ours['both'], ours['lines'])}"
    return words, holds(paper["both"] > 0.5 * paper["lines"], paper["both"] > 0)


def bias_unit(found: Found) -> tuple[str, str]:
    """The unit that is no set: always on, or for the free lines."""
    bias, on = (found["pictures"][name] for name in ("unit that is no set", "P(on) of the unit that is no set"))
    spread = "; ".join(f"strengths {low:.2f} to {high:.2f}" for low, high in bias)
    words = (
        f"{spread}, on with probability {often(found)}: like the free lines (.6), so that it stands for these and is "
        "not always on"
    )
    return words, holds(len(bias) == 1 and on[0] > 0.95, len(bias) == 1)


def often(found: Found) -> str:
    return ", ".join(f"{p:.2f}" for p in found["pictures"]["P(on) of the unit that is no set"])
