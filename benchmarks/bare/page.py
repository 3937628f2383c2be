"""Every model's pass compared with its bare arithmetic: benchmarks/results/bare.md."""

from pathlib import Path
from typing import Any

from benchmarks.record import how, load, table, topic_page, write

SIZES = ("small", "medium", "large")
THREADS = 1.8
# What a pass does in addition to its bare arithmetic, which is why it misses the goal; profiles say how much of it.
LIMITS = {
    (
        "LatentClassAnalysis",
        "pass",
    ): "the largest score of each row, the shift, the sum and the quotient are four more steps over (row, class) in addition to "
    "one exponential; a small table does not load the kernel that makes one of them",
    (
        "LogisticPCA",
        "pass",
    ): "a root and a quotient for each cell in addition to its tanh, which matter most in float32, where products cost half; from three dimensions on the inverse of each "
    "row's precision; small tables are fitted without compiled kernels, by NumPy, in five steps over each cell",
    (
        "LogisticPCA",
        "refine",
    ): "the mean and the variance of every cell are computed twice a pass, before and after a row's step, and three functions of the cell are integrated over them, for which there is no closed form; "
    "small tables do it without compiled kernels",
    (
        "CombinationMachine",
        "pass over rows",
    ): "a small table is fitted without compiled kernels, in eight steps over (row, unit)",
    ("CombinationMachine", "enumeration"): "with few states, the overhead of calls",
    ("ClippedPCA", "counts of pairs"): "the overhead of calls",
    (
        "BinarySparseCoding",
        "pass",
    ): "the choice of candidates and the look-ups of their couplings, row by row; this matters less for larger fields, and is as expensive in float32",
    (
        "NoisyOrNetwork",
        "enumeration",
    ): "the sum of each row's weights of states and the quotient, in addition to one exponential, and the overhead of calls",
    (
        "NoisyOrNetwork",
        "Gibbs",
    ): "finding the ones of dense rows, random numbers, and packing the states of rows eight to a byte",
    (
        "TreeMixture",
        "pass",
    ): "the walk over the ones, with a look-up of parents for every (one, class): with few classes it costs more than the products, of dense tables most",
    ("TreeMixture", "pass that looks for trees"): "the overhead of calls",
    ("HiddenTree", "pass"): "products of messages, scales and quotients, in addition to three small matrix products",
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
    return f"""{_refinement(figures)}

The ratio is the time of one pass on one thread (the E-step over all blocks, with statistics added up), divided by the time of the bare arithmetic over the same blocks. Bare arithmetic means the
unavoidable matrix products and one exp, tanh or log for every element, in plain NumPy with reused buffers, the same precision and one BLAS thread. The two are run alternately, in processor time; the
ratio is the median of the ratios of neighboring runs, not that of the two medians next to it (in brackets the smallest and the largest; 3 to 15 pairs). The file of each model in `benchmarks/bare` says at its top what its bare arithmetic is. The goal is {goal:g}: {within}
of {len(figures)} meet it. A ratio below 1 comes from a compiled kernel, or from another algorithm (words of bits in place of products). For those that miss the goal, the table lists the three functions with the most self time (a product counts
for its caller); `benchmarks/bare/results` has the whole profile.

{table(head, rows)}

Why the goal is missed:

{chr(10).join(limits) or "- nothing."}

Small tables take milliseconds: calls of Python and NumPy functions count. Below a million cells most models do without compiled kernels, which take most of a second to load. {how(report)}

{_threads()}
"""


def _refinement(figures: list[dict[str, Any]]) -> str:
    """Say what the rows of logistic PCA are of: a default fit makes passes of two stages."""
    ratios = [f["ratio"] for f in figures if f["what"] == "refine"]
    return (
        f"**A default fit of `LogisticPCA` makes passes of two stages.** The rows `LogisticPCA` are passes of the first, the variational bound, which is all that `refine=False` does; the rows `LogisticPCA, refine` are passes of the second. These take "
        f"{min(ratios):.2g} to {max(ratios):.2g} times their bare arithmetic. Whole fits with and without the refinement are under [logistic PCA](logistic.md)."
    )


def _threads() -> str:
    """Two threads next to one, and next to two processes."""
    report = load("bare/threads")
    figures = sorted(report["figures"].values(), key=lambda f: (f["model"], f["what"], f["storage"]))
    head = ["model", "table", "storage", "a pass, one thread", "two threads", "two processes", "by blocks", "processor"]
    rows = [
        [
            _name(f),
            ", ".join(filter(None, (f["table"], f["hidden"]))),
            f["storage"],
            f"{f['milliseconds']:g} ms",
            f"{f['two_threads']:.2f}",
            f"{f['two_processes']:.2f}",
            f"{f['most_by_blocks']:.2f} ({f['blocks']})",
            f"{f['processor']:.2f}",
        ]
        for f in figures
    ]
    few = sum(f["two_threads"] < THREADS and f["most_by_blocks"] < THREADS for f in figures)
    reached = sum(f["two_threads"] >= THREADS for f in figures)
    near = sum(f["two_threads"] >= 0.9 * f["two_processes"] for f in figures)
    return f"""## Two threads
How many times faster a pass is on two threads than on one, by the clock; and what two processes reach that each make the whole pass at the same time and share nothing but the computer (two passes in the time of one would be 2). The goal is {THREADS:g}: {reached} of {len(figures)} meet it, and {near} reach nine tenths of what two processes do, or more.
Nothing can be above 2: such figures, and threads that are ahead of processes or of their blocks, show how much the computer wavers.

What holds back the passes that miss the goal? "By blocks" is the most that blocks allow, and in brackets their number: a thread takes whole blocks, the last of which is shorter, and a table of few rows for its columns
has few, because a block's work must be worth its statistics. {few} of them could not reach the goal with their blocks; tables with more rows have more. "Processor" is the processor time of the pass on two threads, divided by that on
one: above 1 the two are in each other's way, in the caches and on the way to memory. The rest was not looked into.

{table(head, rows)}

{how(report)}"""


def _name(f: dict[str, Any]) -> str:
    return f["model"] if f["what"] == "pass" else f"{f['model']}, {f['what']}"


def pages() -> dict[Path, str]:
    return topic_page("bare", "bare", "Every model against its own arithmetic", bare())


if __name__ == "__main__":
    write(pages())
