"""Every model's pass beside its bare arithmetic, for docs/performance.md."""

from typing import Any

from report_parts import HERE, how, load, table

FOLDER, SIZES = HERE / "bare" / "results", ("small", "medium", "large")
# What a pass does beside its bare arithmetic, and so what is left where it misses the goal; profiles say how much of it.
LIMITS = {
    (
        "BernoulliMixture",
        "pass",
    ): "the largest score of each row, the shift, the sum and the quotient: four more steps over (row, class) beside one "
    "exponential; they weigh most where rows have few ones",
    (
        "LogisticPCA",
        "pass",
    ): "a root, a quotient and a product of logarithms' arguments for each cell beside its tanh; the moments and the inverse of each row's precision, "
    "which grow with the dimensions and stay in double precision",
    ("LogisticPCAMixture", "pass"): "what one map costs beside its products, for every map",
    (
        "CombinationMachine",
        "pass over rows",
    ): "softplus and sigmoid of every (row, unit) take an exponential, a logarithm and a quotient; bits count as -1 and 1, which is "
    "one more step over each product",
    (
        "CombinationMachine",
        "enumeration",
    ): "1 + u z and the products of columns whose logarithm is taken, two more steps over every (state, column); on few states the calls",
    ("ClippedPCA", "counts of pairs"): "the calls",
    (
        "BinarySparseCoding",
        "pass",
    ): "the choice of candidates and the look-ups of their couplings, row by row; it weighs less the larger the fields are",
    ("NoisyOrNetwork", "enumeration"): "as for a Bernoulli mixture, with a class for every state",
    (
        "NoisyOrNetwork",
        "Gibbs",
    ): "finding the ones of dense rows, random numbers, and the states of rows that are kept eight to a byte",
    ("TreeMixture", "pass"): "parents are looked up for every (one, class), which the bare products do not do",
    ("TreeMixture", "pass that looks for trees"): "the calls",
    (
        "HiddenTree",
        "pass",
    ): "products of messages, scales and quotients: seven steps over every (row, column, state) beside three small matrix products",
}


def bare() -> str:
    report = load("bare", FOLDER)
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
    return f"""## Every model against its own arithmetic
One pass on one thread (the E-step over all blocks, statistics added up), divided by the bare arithmetic over the same blocks: the matrix products that nothing can do
without and one exp, tanh or log for every element, in plain NumPy into kept buffers, with the same precision and one BLAS thread. The two take turns; the ratio is the median of those of
neighbouring turns (in brackets the smallest and the largest), in processor time. What is bare for each model stands at the top of its file in `benchmarks/bare`. The goal is {goal:g}: {within}
of {len(figures)} meet it. A ratio below 1 is a compiled kernel, or arithmetic that the pass saves. For the others there are the three functions with the most self time here (products count
for who calls them), and the whole profile in `benchmarks/bare/results`.

{table(head, rows)}

What is left, where the goal is missed:

{chr(10).join(limits) or "- nothing."}

Small tables take a millisecond or less: there it is the calls, of Python and of NumPy. {how(report)}
"""


def _name(f: dict[str, Any]) -> str:
    return f["model"] if f["what"] == "pass" else f"{f['model']}, {f['what']}"
