"""Write docs/papers.md from papers_template.md and the results of the experiments: no number of ours in it is typed."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from common import HOLDS, NOT, PART, UNKNOWN, Fields, Found, grid, read_results

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "papers.md"
PAPERS = {
    "Tipping": "tipping_1998",
    "Lee & Sompolinsky": "lee_sompolinsky_1998",
    "Freund & Haussler": "freund_haussler_1994",
    "Henniges et al.": "henniges_2010",
    "Lewicki & Sejnowski": "lewicki_sejnowski_1996",
}


def claims(_: Found) -> str:
    """How many claims of each paper hold, counted on the experiments' pages."""
    counts = {}
    for paper, folder in PAPERS.items():
        said = re.search(r"^Of \d+ claims: .*$", (HERE / folder / "README.md").read_text(), re.MULTILINE)
        if said is None:
            raise ValueError(f"The page of {paper} does not count its claims.")
        counts[paper] = [int(number) for number in re.findall(r"\d+", said.group())]
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows: list[list[object]] = [[paper, *row] for paper, row in {**counts, "all five": total}.items()]
    return grid(["paper", "claims", HOLDS, PART, NOT, UNKNOWN], rows)


def times(found: Found, title: str) -> str:
    """How many times as long sampling takes as the variational program."""
    runs = found["tipping_1998"]["printed"][title]["runs"]
    ratios = [run["seconds"]["sampling"] / run["seconds"]["variational"] for run in runs]
    return f"{np.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


def time_synthetic(found: Found) -> str:
    return times(found, "Synthetic-16")


def time_digits(found: Found) -> str:
    return times(found, "Digit-256")


def ratio_of_negative(found: Found, least: str) -> float:
    one = found["lee_sompolinsky_1998"]["rarity"][least]
    return float(-one["smallest"] / one["largest"])


def ratio_all(found: Found) -> float:
    return ratio_of_negative(found, "0.0")


def ratio_common(found: Found) -> float:
    return ratio_of_negative(found, "0.2")


def within_one(found: Found, target: str) -> str:
    """How often the units that are found are as many as the true ones, within one."""
    cells = found["freund_haussler_1994"]["refitted"]["bic"][target]
    return f"{sum(abs(cell['units'] - cell['truth']) <= 1 for cell in cells)} of {len(cells)}"


def stop_a(found: Found) -> str:
    return within_one(found, "A")


def stop_b(found: Found) -> str:
    return within_one(found, "B")


def excess_of_greedy(found: Found) -> list[float]:
    """How far machines grown unit by unit are from the true log-loss, target A."""
    table = found["freund_haussler_1994"]["synthetic"]["A"]
    truth = {cell["rows"]: cell["test"]["log-loss"] for cell in table["true model"]}
    return [cell["test"]["log-loss"] - truth[cell["rows"]] for cell in table["greedy exact"]]


def greedy_excess(found: Found) -> float:
    return max(excess_of_greedy(found))


def greedy_sets(found: Found) -> str:
    return f"{len(excess_of_greedy(found))} of {len(excess_of_greedy(found))}"


def bit(cells: list[dict[str, Any]]) -> float:
    return float(np.mean([cell["test"]["bit"] for cell in cells]))


def mixture_bit(found: Found) -> float:
    return bit(found["freund_haussler_1994"]["digits"]["table"]["mixture, split 1, 2, 4, ... 32, 45"])


def pursuit_bit(found: Found) -> float:
    return bit(found["freund_haussler_1994"]["digits"]["table"]["projection pursuit, 4 EM steps a unit"])


def others_mixture_bit(found: Found) -> float:
    return bit(found["freund_haussler_1994"]["other_digits"]["table"]["mixture, split 1, 2, 4, ... 32, 45"])


def others_pursuit_bit(found: Found) -> float:
    return bit(found["freund_haussler_1994"]["other_digits"]["table"]["projection pursuit, 4 EM steps a unit"])


def machine_bit(found: Found) -> float:
    return bit(found["freund_haussler_1994"]["digits"]["table"]["projection pursuit, then persistent chains"])


def components_bit(found: Found) -> float:
    return bit(found["freund_haussler_1994"]["peers"]["principal components, cut at one half"])


def globular(found: Found) -> int:
    return len(found["henniges_2010"]["drawn_fields"]["globular"])


def deep_gains(found: Found) -> str:
    """On each real table, the deep network that valid rows chose against the flat one with as many parameters."""
    said = []
    for name in ("deep_news100", "deep_groceries"):
        one = found["lewicki_sejnowski_1996"][name]
        deep = one["chosen"][0]
        gain = one["differences"][f"{deep} against {one['models'][deep]['equal']}"]
        said.append(f"{name.removeprefix('deep_')} {gain['mean']:+.3f} ± {gain['error']:.3f} nats a row")
    return ", ".join(said)


def pages() -> dict[Path, str]:
    """docs/papers.md, from the committed results."""
    found: Found = {
        folder: {name: report["figures"] for name, report in read_results(HERE / folder).items()}
        for folder in PAPERS.values()
    }
    return {PAGE: Fields(found, globals()).format((HERE / "papers_template.md").read_text())}
