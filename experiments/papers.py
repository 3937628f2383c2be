"""Write docs/papers.md from papers_template.md and the results of the experiments: no figure of ours in it is typed."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from common import HOLDS, NOT, PART, UNKNOWN, grid, read_results

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "papers.md"


def figures(name: str, *steps: str) -> tuple[Any, ...]:
    """The figures of some steps of an experiment."""
    return tuple(report["figures"] for report in read_results(HERE / name, steps).values())


PAPERS = {
    "Tipping": "tipping_1998",
    "Lee & Sompolinsky": "lee_sompolinsky_1998",
    "Freund & Haussler": "freund_haussler_1994",
    "Henniges et al.": "henniges_2010",
    "Lewicki & Sejnowski": "lewicki_sejnowski_1996",
}


def claims() -> dict[str, str]:
    """How many claims of each paper hold, counted on the experiments' pages."""
    counts = {}
    for paper, folder in PAPERS.items():
        said = re.search(r"^Of \d+ claims: .*$", (HERE / folder / "README.md").read_text(), re.MULTILINE)
        if said is None:
            raise ValueError(f"The page of {paper} does not count its claims.")
        counts[paper] = [int(number) for number in re.findall(r"\d+", said.group())]
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows: list[list[object]] = [[paper, *row] for paper, row in {**counts, "all five": total}.items()]
    return {"claims": grid(["paper", "claims", HOLDS, PART, NOT, UNKNOWN], rows)}


def tipping() -> dict[str, str]:
    table, printed = figures("tipping_1998", "table1", "printed")
    errors = {name: f"{table['Synthetic-16'][name]['error']:.3f}" for name in ("variational", "sampling")}
    for name, title in (("synthetic", "Synthetic-16"), ("digits", "Digit-256")):
        runs = printed[title]["runs"]
        ratios = [run["seconds"]["sampling"] / run["seconds"]["variational"] for run in runs]
        errors[f"time_{name}"] = f"{np.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
    return errors


def lee() -> dict[str, str]:
    ring, rarity, digits = figures("lee_sompolinsky_1998", "translation", "rarity", "digits")
    possible = digits["empty_posteriors"]["training"]
    found = {"possible": f"{possible['possible']} of {possible['images']}"}
    found |= {"eigenvalue": f"{ring['largest_of_hidden'][0]:.0f}", "eigenvalue_rest": f"{ring['rest_of_hidden']:.0e}"}
    for name, least in (("all", "0.0"), ("common", "0.2")):
        one = rarity[least]
        found[f"negative_{name}"] = f"{one['negative']} of {one['columns']}"
        found[f"ratio_{name}"] = f"{-one['smallest'] / one['largest']:.2f}"
    return found


def freund() -> dict[str, str]:
    steps = ("synthetic", "digits", "other_digits", "refitted", "terms", "peers")
    synthetic, digits, others, refitted, terms, peers = figures("freund_haussler_1994", *steps)
    truth = {cell["rows"]: cell["test"]["log-loss"] for cell in synthetic["A"]["true model"]}
    excess = [cell["test"]["log-loss"] - truth[cell["rows"]] for cell in synthetic["A"]["greedy exact"]]
    mixture, others_mixture = (
        next(cells for name, cells in found["table"].items() if name.startswith("mixture"))
        for found in (digits, others)
    )
    ways = terms["machines"]["digits, 24 units"]["ways"]
    best, components = digits["table"]["projection pursuit, then persistent chains"], list(peers.values())[1]
    pursued, others_pursued = (found["table"]["projection pursuit, 4 EM steps a unit"] for found in (digits, others))
    return {
        **{
            f"stop_{target}": f"{sum(abs(cell['units'] - cell['truth']) <= 1 for cell in cells)} of {len(cells)}"
            for target, cells in refitted["bic"].items()
        },
        "terms_cosine": f"{ways['4,096 largest terms']['cosine']:.5f}",
        "chains_cosine": f"{ways['chains, 1,000 sweeps']['cosine']:.2f}",
        "greedy_excess": f"{max(excess):.4f}",
        "greedy_sets": f"{len(excess)} of {len(excess)}",
        **{
            f"{name}_bit": f"{np.mean([cell['test']['bit'] for cell in cells]):.3f}"
            for name, cells in {
                "mixture": mixture,
                "machine": best,
                "components": components,
                "pursuit": pursued,
                "others_mixture": others_mixture,
                "others_pursuit": others_pursued,
            }.items()
        },
    }


def henniges() -> dict[str, str]:
    bars, drawn, whole = figures("henniges_2010", "bars", "drawn_fields", "full_size")
    ours, paper = bars["our defaults"], bars["paper's settings"]
    return {
        "bars_paper": f"{paper['recovered']:,} of {paper['sets']:,}",
        "bars_ours": f"{ours['recovered']:,}",
        "gabor": f"{drawn['gabor_share']:.1%}",
        "globular": f"{drawn['globular_share']:.0%}",
        "globular_of": f"{len(drawn['globular'])} of {drawn['shown']}",
        "shown": f"{drawn['shown']}",
        "active": f"{whole['active'][-1]:.2f}",
    }


def deep_gains() -> str:
    """On each real table, the deep network that valid rows chose against the flat one with as many parameters."""
    said = []
    for name in ("news100", "groceries"):
        (found,) = figures("lewicki_sejnowski_1996", f"deep_{name}")
        deep = found["chosen"][0]
        one = found["differences"][f"{deep} against {found['models'][deep]['equal']}"]
        said.append(f"{name} {one['mean']:+.3f} ± {one['error']:.3f} nats a row")
    return ", ".join(said)


def lewicki() -> dict[str, str]:
    lines, shifter, feedback, ways = figures("lewicki_sejnowski_1996", "lines", "shifter", "feedback", "schedules")
    hidden, by_layer, at_once = feedback["hidden"]["0.6"], ways["layer by layer"], ways["at once"]
    return {
        "lewicki_deep": deep_gains(),
        "lewicki_alone": f"{hidden['without']['log-loss']:.2f}",
        "lewicki_above": f"{hidden['with']['log-loss']:.2f}",
        "lewicki_at_once": f"{at_once['both']} of {at_once['runs']}",
        "lewicki_by_layer": f"{by_layer['both']} of {by_layer['runs']}",
        "lines_paper": f"{lines['paper']['both']} of {lines['paper']['runs']}",
        "lines_ours": f"{lines['ours']['both']} of {lines['ours']['runs']}",
        "shifter_paper": f"{shifter['paper']['success']}",
        "shifter_ours": f"{shifter['ours']['success']} of {shifter['ours']['runs']}",
    }


def pages() -> dict[Path, str]:
    """docs/papers.md, from the committed results."""
    template = (HERE / "papers_template.md").read_text()
    return {PAGE: template.format(**claims(), **tipping(), **lee(), **freund(), **henniges(), **lewicki())}
