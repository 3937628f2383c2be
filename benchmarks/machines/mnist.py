"""500 hidden units on MNIST, 60,000 rows of 784 packed bits: time, memory, likelihood with its checks, and pictures.

    python -m benchmarks.machines.mnist --full
    python -m benchmarks.machines.mnist --quick    (few rows and units; the figures mean nothing, the program runs)

The machine learns by persistent chains on two threads. ln Z is estimated by annealed importance sampling from two bases;
where the verdict is that it cannot be trusted there is no likelihood, and the figures say so. The pictures, of drawn
rows and of the weights of some units, are written beside the figures.
"""

import time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from benchmarks.record import asked_quick, peak_memory_mb, record, result

import hiddenbits
from hiddenbits import Chains, CombinationMachine
from hiddenbits.data import Packed
from hiddenbits.data.table import memory_table
from hiddenbits.datasets import data_folder

SEED = 0


def pictures(model: CombinationMachine, drawn: Any, path: Any) -> None:
    """Drawn rows on the left, the weights of the 64 strongest units on the right."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 6.0), layout="constrained")
    for axis, rows, title, colours in (
        (axes[0], drawn[:64], "Rows drawn from the machine", "gray_r"),
        (axes[1], model.weights_[:64], "Weights of the 64 strongest units", "RdBu_r"),
    ):
        size = float(np.abs(rows).max())
        sheet = np.full((8 * 29 - 1, 8 * 29 - 1), 0.0 if colours == "RdBu_r" else 0.3 * size)
        for k, row in enumerate(rows):
            r, c = divmod(k, 8)
            sheet[29 * r : 29 * r + 28, 29 * c : 29 * c + 28] = row.reshape(28, 28)
        low = -size if colours == "RdBu_r" else 0.0
        axis.imshow(sheet, cmap=colours, vmin=low, vmax=size, interpolation="nearest")
        axis.set_title(title)
        axis.set_axis_off()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    quick = asked_quick(__doc__ or "")
    with np.load(data_folder() / "digits" / "mnist_packed.npz") as file:
        packed = {name: file[name] for name in ("train", "test")}
    n_rows, n_units, n_epochs, n_temperatures = (1000, 30, 2, 200) if quick else (60_000, 500, 15, 40_000)
    train, test = (memory_table(Packed(packed[name][:n_rows], 784)) for name in ("train", "test"))
    model = CombinationMachine(n_units, chains=Chains(batch_rows=256), max_iter=n_epochs, random_state=SEED)
    with hiddenbits.run_on(n_jobs=2):
        begun = time.perf_counter()
        model.fit(train)
        fitted = time.perf_counter() - begun
        figures: dict[str, Any] = {
            "rows": n_rows,
            "units": n_units,
            "epochs": n_epochs,
            "fit_seconds": round(fitted, 1),
            "peak_mb_after_fit": round(peak_memory_mb()),
        }
        begun = time.perf_counter()
        found = model.estimate_partition(n_temperatures=n_temperatures)
        figures["ln_z"] = {
            "temperatures": n_temperatures,
            "seconds": round(time.perf_counter() - begun, 1),
            "trustworthy": found.trustworthy,
            "why": found.why,
            "estimates": {
                name: {"ln_z": round(e.log_z, 2), "error": round(e.standard_error, 3), "effective": round(e.ess, 1)}
                for name, e in found.estimates.items()
            },
        }
        if found.trustworthy:
            figures["test_nats_a_row"] = round(model.score(test), 2)
            figures["standard_error_of_ln_z"] = round(model.log_partition_error_, 3)
        wrong = hiddenbits.evaluate.single_bit_error(model, memory_table(Packed(packed["test"][:500], 784)))
        figures["single_bit_error_500_test_rows"] = round(wrong.value, 4)
        drawn = model.sample(64)
        pictures(model, drawn, result("machines/mnist_quick" if quick else "machines/mnist", ".png"))
        figures["peak_mb"] = round(peak_memory_mb())
    record("machines/mnist_quick" if quick else "machines/mnist", figures, seeds=SEED)


if __name__ == "__main__":
    main()
