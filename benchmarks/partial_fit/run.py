"""What is learned call by call, beside what `fit` learns at once: held-out nats a row, for every family.

    python -m benchmarks.partial_fit.run [--name run] [family ...]

15,000 rows of a mixture of 4 classes in 20 columns, in calls of 500: three times through them from nothing, and the last
12,000 after a `fit` to the first 3,000. The contract (tests/contracts/test_online.py) holds the same figures to account.
To measure another version of the package, put its source on PYTHONPATH and give the result a --name.
"""

import argparse
import warnings

from benchmarks.page_parts import load
from benchmarks.record import record, result
from tests.contracts.online_cases import CALL, FAMILIES, FITTED, PASSES, ROWS, learn

SEEDS = 5


def figures_of(name: str) -> dict[str, list[float]]:
    """Return the figures of a family, one for each seed."""
    found = [learn(name, seed) for seed in range(SEEDS)]
    columns = {
        "independent": [one.independent for one in found],
        "fit": [one.fit for one in found],
        "partial_fit": [one.calls[-1] for one in found],
        "lowest_above_independent": [one.above_independent for one in found],
        "fit_to_the_first_rows": [one.fitted for one in found],
        "after_further_rows": [one.further[-1] for one in found],
        "most_lost": [one.lost for one in found],
    }
    return {key: [round(value, 4) for value in values] for key, values in columns.items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # fits to few rows may use all of their passes
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="run")
    parser.add_argument("families", nargs="*", help="some alone; the figures of others stay as they are")
    asked = parser.parse_args()
    name = f"partial_fit/{asked.name}"
    figures = load(name)["figures"] if asked.families else {}
    for family in asked.families or FAMILIES:
        figures[family] = figures_of(family)
        print(family, figures[family], flush=True)
        record(name, figures, seeds=SEEDS, aloud=False, rows=ROWS, call=CALL, passes=PASSES, fitted=FITTED)
    print(result(name))
