"""The first screens of reports about ten tables, as pictures: what does somebody who sees nothing else say was found?

    HIDDENBITS_DATA=... python -m benchmarks.first_screens.run [NAME ...]     # writes first-screens/NAME.html and pictures

The right answers, written before any screen was shown, are in answers.toml. Needs Chromium. Pictures are of the first
screen: 1400 x 900 and 390 x 844 pixels.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from hiddenbits import open_table, report
from hiddenbits.datasets import data_folder, load_debd, load_senate109, load_survey, load_votes, load_zoo

SCREENS = {"wide": (1400, 900), "phone": (390, 844)}


def zoo() -> Any:
    found = load_zoo()
    return open_table(found.X, names=list(found.names))


def words() -> Any:
    held = np.load(data_folder() / "tables" / "news100.npz", allow_pickle=False)
    return open_table(held["X"], names=[str(word) for word in held["words"]])


def spikes() -> Any:
    held = np.load(data_folder() / "tables" / "spikes15.npz", allow_pickle=False)
    return open_table(held[held.files[0]], names=[f"neuron {j + 1}" for j in range(15)])


def baskets() -> Any:
    folder = data_folder() / "baskets"
    names = (folder / "groceries_items.txt").read_text().splitlines()
    return open_table(folder / "groceries.txt.gz", names=names)


def votes(found: Any) -> Any:
    return open_table(found.X, names=list(found.names))


TABLES = {
    "house84": lambda: votes(load_votes()),
    "psych_ability": lambda: load_survey("psych_ability"),
    "groceries": baskets,
    "zoo": zoo,
    "senate109": lambda: votes(load_senate109()),
    "news100": words,
    "nltcs": lambda: open_table(load_debd("nltcs").train),
    "SAT12": lambda: load_survey("sat12_binary"),
    "spikes15": spikes,
    "noise": lambda: open_table((np.random.default_rng(0).random((1000, 20)) < 0.3).astype(np.uint8)),
}


def main() -> None:
    folder = Path("first-screens")
    folder.mkdir(exist_ok=True)
    for name in sys.argv[1:] or TABLES:
        start, cpu = time.perf_counter(), time.process_time()
        path = (folder / f"{name}.html").resolve()
        report(TABLES[name](), title=name).save(path)
        print(
            f"{name}: {time.perf_counter() - start:.0f} s, {time.process_time() - cpu:.0f} s of processor time",
            flush=True,
        )
        for screen, (width, height) in SCREENS.items():
            flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
            picture = [f"--window-size={width},{height}", f"--screenshot={folder / f'{name}_{screen}.png'}"]
            browser = shutil.which("chromium")
            subprocess.run(
                [str(browser), *flags, *picture, path.as_uri()], check=True, capture_output=True, timeout=120
            )


if __name__ == "__main__":
    main()
