"""Every model's pass compared with its bare arithmetic: docs/performance/bare.md."""

from pathlib import Path
from typing import Any

from benchmarks.page_parts import how, load, table, topic_page, write

SIZES = ("small", "medium", "large")
# What a pass does in addition to its bare arithmetic, which is why it misses the goal; profiles say how much of it.
LIMITS = {
    (
        "BernoulliMixture",
        "pass",
    ): "the largest score of each row, the shift, the sum and the quotient are four more steps over (row, class) in addition to "
    "one exponential; they matter most where rows have few ones",
    (
        "LogisticPCA",
        "pass",
    ): "a root, a quotient and a product of logarithms' arguments for each cell, in addition to its tanh; the moments and the inverse of each row's "
    "precision, whose cost grows with the dimensions and which stay in double precision",
    ("LogisticPCAMixture", "pass"): "for every map, what a single map costs in addition to its products",
    (
        "CombinationMachine",
        "pass over rows",
    ): "softplus and sigmoid of every (row, unit) take an exponential, a logarithm and a quotient; bits are coded as -1 and 1, which takes "
    "one more step over each product",
    (
        "CombinationMachine",
        "enumeration",
    ): "1 + u z and the products of columns whose logarithm is taken are two more steps over every (state, column); with few states, the overhead of calls",
    ("ClippedPCA", "counts of pairs"): "the overhead of calls",
    (
        "BinarySparseCoding",
        "pass",
    ): "the choice of candidates and the look-ups of their couplings, row by row; this matters less for larger fields",
    ("NoisyOrNetwork", "enumeration"): "as for a Bernoulli mixture, with a class for every state",
    (
        "NoisyOrNetwork",
        "Gibbs",
    ): "finding the ones of dense rows, random numbers, and packing the states of rows eight to a byte",
    ("TreeMixture", "pass"): "the look-up of parents for every (one, class), which the bare products do not need",
    ("TreeMixture", "pass that looks for trees"): "the overhead of calls",
    (
        "HiddenTree",
        "pass",
    ): "products of messages, scales and quotients: seven steps over every (row, column, state) in addition to three small matrix products",
}


def bare() -> str:
    report = load("bare/bare")
    goal = report["goal"]
    figures = sorted(
        report["figures"].values(), key=lambda f: (f["model"], f["what"], SIZES.index(f["size"]), f["storage"])
    )
    rows = [
        [
            _name(f),
            f["size"],
            ", ".join(filter(None, (f["table"], f["hidden"]))),
            f["dtype"],
            f["storage"],
            f"{f['milliseconds']:g} ms",
            f"{f['milliseconds_bare']:g} ms",
            f"{f['ratio']} ({min(f['ratios'])} to {max(f['ratios'])})",
            ", ".join(f"{name} {100 * share:.0f}%" for name, share in f.get("where", {}).items()).replace("_", "\\_"),
        ]
        for f in figures
    ]
    head = ["model", "size", "table", "numbers", "storage", "a pass", "bare", "ratio", "where the time goes"]
    missed = {(f["model"], f["what"]) for f in figures if f["ratio"] > goal}
    limits = [
        f"- {_name(dict(zip(('model', 'what'), key, strict=True)))}: {text}."
        for key, text in LIMITS.items()
        if key in missed
    ]
    within = sum(f["ratio"] <= goal for f in figures)
    return f"""The ratio is the time of one pass on one thread (the E-step over all blocks, with statistics added up), divided by the time of the bare arithmetic over the same blocks. Bare arithmetic means the
unavoidable matrix products and one exp, tanh or log for every element, in plain NumPy with reused buffers, the same precision and one BLAS thread. The two are run alternately, in processor time; the
ratio is the median over neighbouring runs (in brackets the smallest and the largest). The file of each model in `benchmarks/bare` says at its top what its bare arithmetic is. The goal is {goal:g}: {within}
of {len(figures)} meet it. A ratio below 1 comes from a compiled kernel, or from arithmetic that the pass avoids. For the others, the table lists the three functions with the most self time (a product counts
for its caller); `benchmarks/bare/results` has the whole profile.

{table(head, rows)}

Why the goal is missed:

{chr(10).join(limits) or "- nothing."}

Small tables take a millisecond or less, most of it overhead of Python and NumPy calls. {how(report)}
"""


def _name(f: dict[str, Any]) -> str:
    return f["model"] if f["what"] == "pass" else f"{f['model']}, {f['what']}"


def pages() -> dict[Path, str]:
    return topic_page("bare", "bare", "Every model against its own arithmetic", bare())


if __name__ == "__main__":
    write(pages())
