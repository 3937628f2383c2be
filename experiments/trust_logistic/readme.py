"""Write README.md from readme_template.md and results/: no figure in it is typed."""

from pathlib import Path
from typing import Any

import checks
from common import grid, how, missed, picture, read_results, verdicts
from completion import DEFAULT, OURS

HERE = Path(__file__).resolve().parent

Found = dict[str, Any]


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def coverage(found: Found) -> str:
    rows: list[list[object]] = []
    for setting, methods in found["settings"].items():
        cells = []
        for method in ("before the polish", "polished", "exact"):
            both = [methods.get(f"{method}, {source}") for source in ("given", "fitted")]
            cells += [percent(one["coverage"]) if one else "" for one in both]
        seeds = methods["polished, fitted"]["seeds"]
        rows.append([setting, *cells, f"{percent(min(seeds))} to {percent(max(seeds))}"])
    head = ["rows from", "before: given", "fitted", "polished: given", "fitted", "exact: given", "fitted"]
    return grid([*head, "polished, fitted: seeds"], rows)


def by_rows(found: Found) -> str:
    numbers = list(found["by_rows"]["polished"])
    rows = [[method, *(percent(values[n]) for n in numbers)] for method, values in found["by_rows"].items()]
    return grid(["90% intervals hold, %", *(f"{n} rows" for n in numbers)], rows)


def shortfall(found: Found) -> str:
    """Say how much is missing before the polish, and how much narrower the posteriors are."""
    said = []
    for setting, methods in found["settings"].items():
        before, after = methods["before the polish, given"], methods["polished, given"]
        narrow = 1.0 - before["mean_sd"] / after["mean_sd"]
        said.append(f"{90 - 100 * before['coverage']:.1f} points ({setting}; sds {100 * narrow:.0f}% smaller)")
    return ", ".join(said)


def few_rows(found: Found) -> str:
    numbers = found["by_rows"]["polished"]
    short = [n for n, value in numbers.items() if value < 0.88]
    return f"with {' and '.join(short)} rows" if short else "at none of these numbers of rows"


def losses(tables: Found) -> str:
    rows: list[list[object]] = []
    for name, table in tables.items():
        if isinstance(table, str):
            rows.append([name, table, *[""] * 5])
            continue
        for method, f in table["methods"].items():
            more = "" if method == OURS else f"{f['more']:+.4f} ± {f['paired_error']:.4f}"
            words = f"**{method}**" if method == OURS else method
            figures = [f"{f['loss']:.4f} ± {f['error']:.4f}", more, f"{f['ece']:.4f}"]
            rows.append([name, words, *figures, f"{f['worst_bin']:.1f}", f"{f['worst_bin_plain']:.1f}"])
    head = ["table", "method", "log-loss", "more than LogisticPCA", "ECE", "furthest bin", "if cells were independent"]
    return grid(head, rows)


def chosen(tables: Found) -> str:
    lines = []
    for name, table in tables.items():
        if not isinstance(table, str):
            said = [f"{m}: {', '.join(f'{w} ({n})' for w, n in c.items())}" for m, c in table["chosen"].items()]
            lines.append(f"- {name}. {'; '.join(said)}.")
    return "\n".join(lines)


def where_not(tables: Found) -> str:
    """Say, from the figures, where LogisticPCA was better, about as good, or worse."""
    lines = []
    for name, table in tables.items():
        if isinstance(table, str):
            continue
        said: dict[str, list[str]] = {"better than": [], "not told apart from": [], "worse than": []}
        for rival in (*checks.RIVALS, "logistic regressions, C = 1"):
            f = table["methods"][rival]
            sure = abs(f["more"]) > 2.0 * f["paired_error"]
            verdict = "not told apart from" if not sure else "better than" if f["more"] > 0 else "worse than"
            said[verdict].append(f"{rival} ({f['more']:+.4f})")
        lines.append(f"- {name}: " + "; ".join(f"{words} {', '.join(r)}" for words, r in said.items() if r) + ".")
    return "\n".join(lines)


def ridges(found: Found) -> str:
    if not found["ridges"]:
        return "*Not measured in a quick run.*"
    names = list(next(iter(found["ridges"].values())))
    rows: list[list[object]] = []
    for table, figures in found["ridges"].items():
        cells = [f"{f['loss']:.4f}; {f['ece']:.4f}; {f['worst_bin']:.1f}" for f in figures.values()]
        rows.append([table, *cells])
    return grid(["log-loss; ECE; furthest bin", *(f"ridge {name}" for name in names)], rows)


def pages(folder: Path = HERE) -> dict[Path, str]:
    """README.md, from the results in the folder."""
    reports = read_results(folder, ("coverage", "completion"))
    intervals, cells = (report["figures"] for report in reports.values())
    checked = checks.measure(intervals, cells)
    page = {
        **{f"how_{name}": how(report) for name, report in reports.items()},
        "picture_coverage": picture(folder, "coverage", "Coverage by level, and by the number of rows"),
        "picture_reliability": picture(folder, "reliability", "Reliability curves"),
        "picture_losses": picture(folder, "losses", "Log-loss above that of LogisticPCA"),
        "rows": intervals["rows"],
        "n_seeds": intervals["n_seeds"],
        "coverage": coverage(intervals),
        "shortfall": shortfall(intervals),
        "by_rows": by_rows(intervals),
        "few_rows": few_rows(intervals),
        "losses": losses(cells["tables"]),
        "where_not": where_not(cells["tables"]),
        "chosen": chosen(cells["tables"]),
        "default": DEFAULT,
        "ridges": ridges(cells),
        "verdicts": verdicts(checked),
        "missed": missed(checked),
    }
    return {folder / "README.md": (HERE / "readme_template.md").read_text().format(**page)}
