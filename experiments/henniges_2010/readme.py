"""Write README.md from readme_template.md and results/: no figure of ours in it is typed."""

import inspect
from pathlib import Path
from typing import Any

import checks
import further
import numpy as np
import paper_settings
from bars import DEFAULT, PAPER
from claims import RELIABLE, claims, not_reproduced
from claims_of_images import SEVERAL
from common import grid, how, missed, picture, read_results, verdicts
from denoise import OURS
from field_shapes import globular
from natural import AGAIN, FROM_NOISE, GABOR, REDUCED, SETTINGS
from scipy.stats import binom

HERE = Path(__file__).resolve().parent
PAPER_BARS = {
    PAPER: "978 of 1000",
    "paper's, N = 4000": "99%",
    "paper's, N = 2000, start pi H = 3": "96%",
    "paper's, N = 2000, start pi H = 1": "84%",
}
SIMPLE_CELLS = (
    '"properties of simple cell receptive fields that classical sparse coding or ICA-approaches do not reproduce"'
)
PICTURES = {
    "picture_spread": ("bars_spread", "what is learned of each data set"),
    "picture_fields": ("figure1_fields", "images of bars, and fields after some passes"),
    "picture_courses": ("figure1_courses", "sparseness and noise after each pass"),
    "picture_natural": ("natural_fields", "fields of natural images"),
    "picture_globular": ("natural_globular", "the most globular fields"),
    "picture_figure2": ("figure2_courses", "sparseness and noise after each pass, natural images"),
    "picture_full": ("full_size_fields", "200 of 700 fields in the paper's size"),
    "picture_full_globular": ("full_size_globular", "the most globular fields in the paper's size"),
    "picture_linear": ("superposed_linear", "fields that add up"),
    "picture_max": ("superposed_max", "fields of which the largest shows"),
    "picture_max_magnitude": ("superposed_max_magnitude", "fields of which the largest in size shows"),
    "picture_superposed_globular": ("superposed_globular", "the most globular fields of each fit"),
    "picture_denoising": ("denoising", "an image without its noise"),
    "picture_inpainting": ("inpainting", "an image with its holes filled"),
}


def plus(one: dict[str, float], digits: int = 3) -> str:
    return f"{one['mean']:.{digits}f} ± {one['std']:.{digits}f}"


def rate(one: dict[str, Any]) -> str:
    return f"{one['recovered']} of {one['sets']} ({one['recovered'] / one['sets']:.1%})"


def beside(found: dict[str, Any]) -> str:
    """What the paper says, and what we find."""
    ours, paper = found["bars"][DEFAULT], found["bars"][PAPER]
    rows: list[list[object]] = [
        ["bars, N = 1000: all recovered", "978 of 1000", rate(paper), f"**{rate(ours)}**"],
        ["pi H, truth 2", "2.0 ± .01", plus(paper["active"]), plus(ours["active"])],
        ["sigma, truth 2", "2.0 ± .06", plus(paper["noise"]), plus(ours["noise"])],
    ]
    whole, reduced = found["full_size"], found["natural"]
    if not isinstance(whole, str):
        so_far = f"{whole['active'][-1]:.2f} after {whole['done']} of {whole['passes']} passes"
        size = f"pi H, {whole['patches']:,} patches of {whole['side']} x {whole['side']}, H = {whole['causes']}"
        rows.append([size, "7.49", f"{so_far} (other images)", ""])
    drawn = found["drawn_fields"]
    if not isinstance(drawn, str):
        shares = f"{drawn['gabor_share']:.1%} and {drawn['globular_share']:.1%} (of {drawn['shown']} fields)"
        rows.append(["Gabor-like and globular fields, that size", "both seen, not counted", shares, ""])
    if not isinstance(reduced, str) and REDUCED in reduced:
        shapes = (
            f"{spread(reduced, names, 'gabor_share')} and {spread(reduced, names, 'globular_share')}"
            for names in (AGAIN, FROM_NOISE)
        )
        rows.append(["the same, reduced size, three seeds", "", *shapes])
    return grid(["", "paper", "its settings", "our defaults"], rows)


def spread(found: dict[str, Any], names: tuple[str, ...], key: str) -> str:
    """A share over seeds: from the least to the most."""
    shares = [found[name][key] for name in names]
    least, most = min(shares), max(shares)
    return f"{most:.0%}" if f"{least:.0%}" == f"{most:.0%}" else f"{100 * least:.0f} to {most:.0%}"


def with_starts(found: dict[str, Any], five: dict[str, Any]) -> dict[str, Any]:
    """The settings with N = 2,000 and a start at pi H = 5 before the others with N = 2,000, or at the end."""
    before = [name for name in found if not name.startswith(("paper's, N = 2000", "def", "paper's, 7", "paper's, ev"))]
    return {name: found[name] for name in before} | {"paper's, N = 2000": five} | found


def bars(found: dict[str, Any], five: dict[str, Any]) -> str:
    rows: list[list[object]] = [
        [
            f"**{name}**" if name == DEFAULT else further.in_letters(name),
            one["rows"],
            PAPER_BARS.get(name, ""),
            rate(one),
            plus(one["active"]) if one["recovered"] > 1 else "",
            plus(one["noise"]) if one["recovered"] > 1 else "",
            f"{one['seconds']['mean']:.2f}",
        ]
        for name, one in with_starts(found, five).items()
    ]
    head = ["settings", "N", "paper", "all bars recovered", "pi H", "sigma", "processor seconds a fit"]
    return grid(head, rows)


def stops(found: dict[str, Any]) -> str:
    """How the fits by our defaults ended."""
    names = {"converged": "converged", "max_iter": "came to its last pass first", "schedule_done": "ended as planned"}
    said = [f"{n:,} {names.get(stop, stop)}" for stop, n in found[DEFAULT]["stops"].items()]
    failed = found[PAPER]["failed"]
    return (
        f"Of the fits by our defaults {', '.join(said)}. With the paper's settings a bar is missed in {len(failed)} "
        f"sets: {few(failed)}."
    )


def few(numbers: list[int], most: int = 12) -> str:
    said = ", ".join(str(number) for number in numbers[:most])
    return said + (", ..." if len(numbers) > most else "") if numbers else "none"


def natural(found: Any) -> str:
    if isinstance(found, str):
        return f"*{found}.*"
    rows: list[list[object]] = [
        [
            further.in_letters(name),
            f"{one['active'][-1]:.2f}",
            f"{one['noise'][-1]:.2f}",
            f"{one['gabor_share']:.0%}",
            f"{one['gabor_share_of_squares']:.0%}",
            f"{one['globular_share']:.0%}",
            f"{one['near_origin_share']:.0%}",
            f"{one['width']:.2f}",
            f"{one['objective']:.2f}",
            f"{one['processor_seconds']:.0f}",
        ]
        for name, one in found.items()
    ]
    head = [
        "",
        "pi H",
        "sigma",
        "Gabor",
        "Gabor, of squares",
        "globular",
        "near Ringach's origin",
        "width",
        "free energy a row",
    ]
    return grid([*head, "seconds"], rows)


def natural_words(found: Any) -> str:
    if isinstance(found, str) or REDUCED not in found:
        return ""
    one, widths = found[REDUCED], [(found[name]["width"], name) for name in ("H = 50", REDUCED, "H = 200")]
    said = ", ".join(f"{width:.2f} ({name.split(',')[0]})" for width, name in widths)
    keys = ("gabor_share", "gabor_share_of_squares", "globular_share")
    paper, ours = (
        "{} by their variance and {} by their squares, and {} are globular".format(*(spread(found, n, k) for k in keys))
        for n in (AGAIN, FROM_NOISE)
    )
    return (
        f"Over {len(AGAIN)} seeds, Gabor functions are {paper}, from the mean as in the paper; from noise with "
        f"annealing they are {ours}. The goal was 85% Gabor functions. More causes, or more "
        "that may be on, bring curved and composed fields; fewer of either bring Gabor functions. "
        f"The patches' standard deviation is {one['spread']:.2f}. The paper says that with fewer causes the fields are "
        f"spatially more constrained; here the widths are {said}."
    )


def full_size(found: Any) -> str:
    if isinstance(found, str):
        return f"*{found}.*"
    begun = found["first_passes"]
    lines = [
        f"{found['patches']:,} patches of {found['side']} x {found['side']}, H = {found['causes']}, H' = 10, gamma 8, "
        f"in float32: {found['done']} of {found['passes']} passes. pi H is {found['active'][-1]:.3f} (the paper "
        f"ended at 7.49, with other images), sigma {found['noise'][-1]:.3f}.",
        f"The fit was killed (SIGKILL) and resumed: its {len(begun)} processes began with the passes {few(begun)}. "
        f"{found['made_twice'] or 'No'} passes had to be made twice.",
        f"A pass took {found['seconds_a_pass']:.1f} s (median; {found['fastest_and_slowest'][0]:.1f} to "
        f"{found['fastest_and_slowest'][1]:.1f}) of a machine that others used too, and "
        f"{found['processor_seconds_a_pass']:.1f} s of the processor, all threads together.",
    ]
    if "cut_costs" in found:
        lines.append(
            f"From pass {found['uncut']} on the data cut makes a pass {found['cut_costs']:.2f} times as long (measured "
            f"on 20,000 patches). All {found['passes']} passes would take {found['hours_as_measured']:.1f} h at this "
            f"pace, {found['hours_on_a_quiet_machine']:.1f} h with two cores of its own."
        )
        lines.append("`run.py --full --only full_size --iterations 200` goes on to the end.")
    if "minutes_alone" in found:
        (early, late), counts = found["seconds_a_pass_alone"], found["passes_alone"]
        lines.append(
            "The process was paused now and then for other work. Passes that had both cores to themselves took "
            f"{early:.1f} s, and {late:.1f} s with the data cut (medians of {counts[0]} and {counts[1]}): "
            f"{found['minutes_alone']:.1f} minutes for all {found['passes']}, where the goal is 30. In processor time "
            f"they took {found['minutes_of_processor']:.1f} minutes of one core."
        )
    return "\n".join(f"- {line}" for line in lines)


def more_globular(found: Any, chosen: Any) -> str:
    """Which of our other fits have more globular fields."""
    if isinstance(found, str) or isinstance(chosen, str):
        return ""
    told = [
        f"{one['globular_share']:.0%} ({further.in_letters(name)})"
        for name, one in found.items()
        if one["globular_share"] >= SEVERAL
    ]
    hiding = [fit["globular_share"] for fit in chosen["fits"] if fit["way"] != "linear"]
    return (
        f" Other fits have more: in patches of 12 x 12 {', '.join(told)}; where causes hide each other "
        f"{min(hiding):.0%} to {max(hiding):.0%} (below). Shares in patches of another size do not say "
        "what H does."
    )


def abstract(found: Any, more: str) -> str:
    """What the abstract says of the fields, next to the shares among those that were drawn."""
    if isinstance(found, str):
        return f"*The shapes of the fields: {found}.*"
    globular_share = f"{found['globular_share']:.1%} globular; near Ringach's origin {found['near_origin_share']:.1%}"
    rows: list[list[object]] = [
        ["fields", '"Gabor-like basis functions"', f"{found['gabor_share']:.1%} Gabor-like, R^2 above {GABOR}"],
        ["with many causes", f"{SIMPLE_CELLS}: globular fields, by its text", globular_share],
    ]
    verdict = (
        "The first half of the claim holds for most of the fields. The second holds **in part**: there are globular "
        f"fields, but they are few, {len(found['globular'])} of {found['shown']}. The paper gives no share; we ask for "
        f"{SEVERAL:.0%}, which of {found['causes']} fields is {SEVERAL * found['causes']:.0f}.{more}"
        if found["globular_share"] < SEVERAL
        else "Both halves of the claim are reproduced."
    )
    return (
        f"{grid(['', 'the abstract', 'ours'], rows)}\n\nShares are of the {found['shown']} of {found['causes']} fields "
        "in the picture, read back from it pixel by pixel; half of these fields have a Gabor R^2 "
        f"above {found['gabor_median']:.2f}. {verdict}"
    )


def restored(found: Any, task: str) -> str:
    if isinstance(found, str):
        return f"*{found}.*"
    rows: list[list[object]] = [
        [f"**{name}**" if name == OURS else name, f"{one['psnr']:.2f}", f"{one['processor_seconds']:.1f}"]
        for name, one in found[task].items()
    ]
    return grid(["", "PSNR, dB", "seconds"], rows)


def denoise_words(found: Any) -> str:
    if isinstance(found, str):
        return ""
    said = []
    for task, ways in found.items():
        ours = ways[OURS]
        best = max(ways, key=lambda name: float(ways[name]["psnr"]))
        place = "is the best here" if best == OURS else f"loses {ways[best]['psnr'] - ours['psnr']:.2f} dB to {best}"
        said.append(f"{task.capitalize()}: ours {place} (pi H {ours['active']:.1f}, sigma {ours['noise']:.1f})")
    return ". ".join(said) + (
        ". A cause that is on or off has no strength, where an atom has a coefficient: contrasts of all sizes ask for "
        "more causes, and what they do not reach is taken for noise."
    )


def course_words(found: dict[str, Any]) -> str:
    ends = [f"{name} to {one['active'][-1]:.4f} and {one['noise'][-1]:.4f}" for name, one in found["starts"].items()]
    seed = "seed 1, the first with which both starts find all bars"
    return f"on {found['rows']} images ({seed}): from {'; from '.join(ends)}."


def apart(one: dict[str, Any], paper: int = 978) -> str:
    """How far our number of recovered sets is from the paper's, in standard errors of a difference."""
    n, ours = one["sets"], one["recovered"]
    if n != 1000:  # the paper's number is of as many sets
        return "(not in a quick run)"
    error = np.sqrt(sum(k * (n - k) / n for k in (ours, paper)))
    return f"{(paper - ours) / error:.1f}"


def default(function: Any, name: str) -> Any:
    return inspect.signature(function).parameters[name].default


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    reports = read_results(folder)
    found = {name: report["figures"] for name, report in reports.items()}
    verdict = checks.measure(found, full="--full" in reports["bars"]["command"])
    ours = found["bars"][DEFAULT]
    values = {
        "claims": claims(found),
        "not_reproduced": not_reproduced(found),
        "accuracy": further.accuracy(found["accuracy"]),
        "max_bars": further.max_bars(found["max_bars"]),
        "max_missed": further.missed(found["max_bars"]),
        "superposed": further.superposed(found["superposed"]),
        "superposed_words": further.superposed_words(found["superposed"]),
        "causes": further.causes(found["number_of_causes"]),
        "causes_words": further.causes_words(found["number_of_causes"]),
        "beside": beside(found),
        "apart": apart(found["bars"][PAPER]),
        "few_bars": f"{binom.cdf(3, 10, 0.2):.1%}",
        "round_share": f"{default(globular, 'share'):.0%}",
        "round_r2": f"{default(globular, 'r2'):.0%}",
        "abstract": abstract(found["drawn_fields"], more_globular(found["natural"], found["superposed"])),
        "settings": paper_settings.table(),
        "reliable": f"{RELIABLE:.0%}",
        "several": f"{SEVERAL:.0%}",
        "reduced_size": "{0.patches:,} patches of {0.side} x {0.side}, {0.passes} passes".format(SETTINGS[REDUCED]),
        "costs": further.costs(found["costs"]),
        "wider": further.wider(found["bars"]),
        "answer": further.superposed_answer(found["superposed"]),
        "bars_spread": plus(ours["active"]),
        "bars_beside_drawn": plus(ours["beside_drawn"]),
        "paper_of_all": plus(found["bars"][PAPER]["of_all"]["active"]),
        "paper_noise_of_all": plus(found["bars"][PAPER]["of_all"]["noise"]),
        "start_noise": f"{np.sqrt(2 * 100.0 * 0.2 * 0.8 + 4.0):.2f}",
        "bars": bars(found["bars"], found["bars_starts"]),
        "bars_stops": stops(found["bars"]),
        "course_words": course_words(found["course"]),
        "natural": natural(found["natural"]),
        "natural_words": natural_words(found["natural"]),
        "full_size": full_size(found["full_size"]),
        "denoising": restored(found["denoise"], "denoising"),
        "inpainting": restored(found["denoise"], "inpainting"),
        "denoise_words": denoise_words(found["denoise"]),
        "verdicts": verdicts(verdict),
        "missed": missed(verdict),
        **{key: picture(folder, name, words) for key, (name, words) in PICTURES.items()},
        **{f"how_{name}": how(report) for name, report in reports.items()},
    }
    return {folder / "README.md": (HERE / "readme_template.md").read_text().format(**values)}
