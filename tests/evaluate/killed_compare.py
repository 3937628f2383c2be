"""The program that test_compare_resume kills: a comparison with a folder, whose table is written at the end."""

import json
import sys
from pathlib import Path

from hiddenbits import evaluate
from hiddenbits.datasets import simulate_mixture

SIZES = {"LatentClassAnalysis": [1, 2, 3, 4], "ClippedPCA": [1, 2], "CombinationMachine": [1]}


def main(folder: str) -> None:
    X = simulate_mixture(500, 8, 3, random_state=0).X
    found = evaluate.compare(X, ["IndependentColumns", *SIZES], sizes=SIZES, folder=Path(folder) / "fits")
    (Path(folder) / "table.json").write_text(json.dumps(found.records()))


if __name__ == "__main__":
    main(sys.argv[1])
