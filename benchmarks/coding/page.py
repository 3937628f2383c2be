"""The figures of binary sparse coding: docs/performance/coding.md."""

import json
from pathlib import Path

from benchmarks.page_parts import DOCS, how, load, table, topic_page, write


def coding() -> str:
    report = load("coding/run")
    rows = [
        [
            dtype,
            f["microseconds_a_row"]["products"],
            f["microseconds_a_row"]["pass"],
            f"{f['ratio']} ({min(f['ratio_each'])} to {max(f['ratio_each'])})",
            f["goal"],
            f["ratio_with_the_cut"],
            f["direct_times_slower_than_the_e_step"],
        ]
        for dtype, f in report["figures"].items()
    ]
    n_rows = next(iter(report["figures"].values()))["rows"]
    head = ["numbers", "two products, microseconds a row", "a pass", "times the products", "goal", "with the data cut"]
    head += ["direct energies, times the E-step"]
    return f"""## At the size of the paper's images
700 causes, rows of 676 numbers, 10 candidates of which 8 may be on (1,703 states a row), {n_rows:,} rows, one thread. A pass (E- and M-step) is compared with the two
matrix products Y W and Y' <s> that it cannot avoid. The data cut reads all rows a second time. "Direct energies" are |y - W s|^2 of the same states, computed by definition; the goal is {report["figures"]["float64"]["direct_goal"]} times.

{table(head, rows)}

{how(report)}

{whole()}
"""


def whole() -> str:
    """Return the paper's complete run, from the experiment's results."""
    report = json.loads((DOCS.parent / "experiments/henniges_2010/results/full_size.json").read_text())
    f = report["figures"]
    early, late = f["seconds_a_pass_alone"]
    return f"""The whole fit, {f["patches"]:,} patches and {f["passes"]} passes in float32 on two threads, takes {f["minutes_alone"]:.1f} minutes. This is computed from the median time of the passes during which nothing
else ran ({early:.1f} s each, {late:.1f} s with the data cut). Processor time is {f["minutes_of_processor"]:.1f} minutes. The goal was 30 minutes. `{report["command"]}` at commit {report["commit"]}; the fields are in
[the experiment](../experiments/henniges_2010.md)."""


def pages() -> dict[Path, str]:
    return topic_page("coding", "coding", "Binary sparse coding", coding())


if __name__ == "__main__":
    write(pages())
