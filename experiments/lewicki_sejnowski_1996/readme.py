"""Write README.md from readme_template.md and results/: no figure of ours in it is typed."""

from pathlib import Path
from typing import Any

import checks
import numpy as np
from claims import claims
from common import grid, missed, picture, read_results, verdicts
from lines import N_ROWS
from readme_depth import deep_page, levels_table

HERE = Path(__file__).resolve().parent
DEEP = ("deep_lines", "deep_news100", "deep_groceries")
HIDDEN = "learned, 60% of the pixels hidden"


def lines_table(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, f in found.items():
        heights = [f"{value:.2f}" for value in f["log-likelihood a row"]]
        counts = [f"{f['lines']}/{f['runs']}", f"{f['both']}/{f['runs']}"]
        rows.append([name, *counts, *heights, f"{f['seconds']:.1f}"])
    head = [
        "settings",
        "ten lines",
        "and four sets",
        "log-likelihood: least",
        "median",
        "most",
        "processor seconds a fit",
    ]
    return grid(head, rows)


def shifter_table(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, f in found.items():
        accuracies = [f"{value:.4f}" for value in f["accuracy"]]
        counts = [f"{f['all causes']}/{f['runs']}", f"{f['success']}/{f['runs']}"]
        rows.append([name, *counts, *accuracies, f"{f['seconds']:.1f}"])
    head = [
        "settings",
        "all 16 causes",
        "and direction",
        "accuracy: least",
        "median",
        "most",
        "processor seconds a fit",
    ]
    return grid(head, rows)


def survey_table(found: Any) -> str:
    if isinstance(found, str):
        return found
    rows = [[name, f"{f['train']:.3f}", f"{f['test']:.3f}", f"{f['seconds']:.1f}"] for name, f in found.items()]
    return grid(["model", "training rows", "test rows", "seconds"], rows)


def feedback_table(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for share, one in found["hidden"].items():
        for name in ("without", "with"):
            if name not in one:
                continue
            f = one[name]
            rows.append(
                [
                    f"{float(share):.0%}",
                    f"{one['ambiguous rows']:,} of {one['rows']:,}",
                    name,
                    f"{f['log-loss']:.3f}",
                    f"{f['right']:.1%}",
                    f"{f['still ambiguous']:.0%}",
                    f"{f['Gibbs right']:.1%}",
                    f"{f['Gibbs from exact']:.3f} ({f['chance alone']:.3f})",
                ]
            )
    head = [
        "pixels hidden",
        "ambiguous images",
        "layer above",
        "log-loss of a line",
        "right",
        "still ambiguous",
        "right by Gibbs",
        "Gibbs from exact (by chance)",
    ]
    return grid(head, rows)


def sweeps_table(found: dict[str, Any]) -> str:
    names = [name for name in found if name.startswith("learned")]
    counts = [k for k in found[names[0]] if k not in ("explanations", "exact")]
    rows: list[list[object]] = []
    for k in [*counts, "exact"]:
        cells = [f"{found[name][k][what]:.{n}f}" for name in names for what, n in (("off", 4), ("best", 3))]
        tried = found["learning"].get(k)
        rows.append([k, *cells, "" if tried is None else f"{tried['both']} of {tried['runs']}"])
    head = [
        "sweeps",
        "whole images: distance from exact",
        "best explanation",
        "60% hidden: distance",
        "best explanation",
        "learning with so many: lines and sets",
    ]
    return grid(head, rows)


def epochs_table(found: dict[str, Any]) -> str:
    series = found["over time"]
    rows: list[list[object]] = []
    for epoch in series[0]:
        cells = [
            f"{np.mean([one[epoch][k][what] for one in series]):.3f}"
            for what in ("best", "off")
            for k in ("1", "15", "exact")
        ]
        rows.append([epoch, f"{np.mean([one[epoch]['explanations'][0] for one in series]):.0f}", *cells])
    head = [
        "epochs",
        "explanations",
        "best explanation: 1 sweep",
        "15 sweeps",
        "exact draws",
        "distance: 1 sweep",
        "15 sweeps",
        "by chance",
    ]
    return grid(head, rows)


def schedules_table(found: dict[str, Any]) -> str:
    rows: list[list[object]] = []
    for name, f in found.items():
        heights = [f"{value:.2f}" for value in f["log-likelihood a row"]]
        counts = [f"{f[what]}/{f['runs']}" for what in ("lines", "both", "runs with a dead unit")]
        rows.append([name, *counts, *heights, f"{f['epochs']:g}"])
    head = ["all layers", "ten lines", "and four sets", "an unused unit", "log-likelihood: least", "median", "most"]
    return grid([*head, "epochs"], rows)


def feedback_words(found: dict[str, Any]) -> dict[str, str]:
    """What the page says of whole images."""
    whole = found["hidden"]["0.0"]
    words = {
        "whole_rows": f"{whole['ambiguous rows']} of {whole['rows']:,}",
        "whole_lines": f"{whole['ambiguous lines']}",
    }
    for word, name in (("alone", "without"), ("above", "with")):
        one = whole.get(name, {"Gibbs from exact": np.nan, "chance alone": np.nan})
        words[f"whole_{word}"] = f"{one['Gibbs from exact']:.3f}"
        words[f"whole_{word}_chance"] = f"{one['chance alone']:.3f}"
    return words


def prior_words(found: dict[str, Any]) -> dict[str, str]:
    """What the page says of priors that become too strong."""
    off, held = found["at once"], found["layer by layer, held there"]
    return {
        "first_on": f"{found['first P(on)']:.2f}",
        "strong": f"{found['strong']:g}",
        "strong_runs": f"{off['runs']}",
        "switched_off": f"{off['of them switched off']} of {off['unused units']}",
        "used_off": f"{off['used units switched off']}",
        "held_dead": f"{held['runs with a dead unit']} of {held['runs']}",
        "held_both": f"{held['both']} of {held['runs']}",
    }


def made_with(results: dict[str, Any]) -> str:
    """The machines and versions of all results."""
    said = [
        f"{one['cores']} cores, {one['machine']}; {', '.join(f'{k} {v}' for k, v in one['versions'].items())}"
        for one in results.values()
    ]
    return f"All with {' / '.join(dict.fromkeys(said))}."


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    results = read_results(folder)
    figures = {name: report["figures"] for name, report in results.items()}
    found = checks.of(figures)
    feedback, sampling = figures["feedback"], figures["sampling"]
    page = (HERE / "readme_template.md").read_text()
    page = page.format(
        claims=claims(figures),
        n_rows=f"{N_ROWS:,}",
        lines=lines_table(figures["lines"]),
        shifter=shifter_table(figures["shifter"]),
        survey=survey_table(figures["survey"]),
        paper_lines=f"{figures['lines']['paper']['both']} of {figures['lines']['paper']['runs']}",
        paper_shifter=f"{figures['shifter']['paper']['success']} of {figures['shifter']['paper']['runs']}",
        picture_patterns=picture(folder, "figure1_patterns", "Types of patterns and typical rows"),
        picture_lines=picture(folder, "lines", "Our settings: strengths of the ten causes, each on the grid"),
        picture_sets=picture(
            folder, "sets", "Our settings: what the five causes of the second layer switch on, on the grid"
        ),
        picture_strengths=picture(
            folder, "sets_strengths", "Our settings: strengths of the second layer, line by line"
        ),
        picture_shifter=picture(
            folder, "shifter", "Our settings: sixteen causes of our shifter, the bits above their copy"
        ),
        picture_directions=picture(folder, "shifter_directions", "Our settings: the two directions and their causes"),
        copies=f"{figures['pictures']['shifter']['copies of a bit differ by']:g}",
        sentences="\n".join(f"- {sentence}" for sentence in figures["pictures"]["sentences"]),
        feedback=feedback_table(feedback),
        between=" and ".join(f"{edge:g}" for edge in feedback["between"]),
        chains=feedback["chains"],
        sweeps=feedback["sweeps"],
        sweeps_table=sweeps_table(sampling),
        epochs_table=epochs_table(sampling),
        two_hidden=f"{sampling[HIDDEN]['2']['best']:.1%}",
        exact_hidden=f"{sampling[HIDDEN]['exact']['best']:.1%}",
        bias_on=", ".join(f"{p:.2f}" for p in figures["pictures"]["P(on) of the unit that is no set"]),
        n_series=len(sampling["over time"]),
        sampled_rows=sampling["rows"],
        sampled_chains=sampling["chains"],
        schedules=schedules_table(figures["schedules"]),
        levels=levels_table(figures["levels"]),
        level_rows=f"{figures['levels']['rows']:,}",
        deep=deep_page({name.removeprefix("deep_"): figures[name] for name in DEEP}),
        checks=verdicts(found),
        missed=missed(found),
        commands="\n".join(f"- {name}: `{report['command']}`" for name, report in results.items()),
        made_with=made_with(results),
        **feedback_words(feedback),
        **prior_words(figures["strong_priors"]),
    )
    return {folder / "README.md": page}
