"""Mixed columns, which the paper's conclusion calls "readily implemented": a map of the animals of the zoo table."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from common import save
from pictures import neighbours

from hiddenbits import LogisticPCA, Variational, datasets, plots

SEEDS = {"start": 0}


def draw(folder: Path, *, full: bool) -> dict[str, Any]:
    """Draw 15 yes/no columns and the number of legs on one map; the types of the animals are colours only."""
    import pandas as pd

    zoo = datasets.load_zoo()
    bits = pd.DataFrame(zoo.X.astype(bool), columns=zoo.names)
    animals = bits.assign(legs=zoo.legs)
    model = LogisticPCA(2, kinds={"legs": "ordered"}, random_state=SEEDS["start"]).fit(animals)
    # All 20 lines would be a thicket.
    figure, ax = plt.subplots(figsize=(7.75, 6.2), layout="constrained")
    plots.map(model, animals, colour=zoo.type, lines=12, ax=ax)
    save(figure, folder, "zoo")
    together = {}
    for kind in ("ordered", "nominal", "real") if full else ("ordered",):
        other = LogisticPCA(2, kinds={"legs": kind}, random_state=SEEDS["start"])
        together[f"legs {kind}"] = neighbours(other.fit_transform(animals), zoo.type)
    for words, polish in ("yes/no columns alone", False), ("yes/no columns alone, polished", True):
        method = Variational(polish=polish)  # mixed tables have no polish
        other = LogisticPCA(2, method=method, random_state=SEEDS["start"])
        together[words] = neighbours(other.fit_transform(bits), zoo.type)
    return {
        "animals": len(animals),
        "distinct_places": len(np.unique(np.round(model.transform(animals), 9), axis=0)),
        "yes_no_columns": bits.shape[1],
        "numbers_of_legs": model.categories_["legs"],
        "animals_with_more_than_4_legs": int((zoo.legs > 4).sum()),
        "nearest_neighbour_of_the_same_type": together,
    }
