"""The figures of noisy-OR networks: docs/performance/noisy_or.md, and docs/noisy_or.md from its template.

python -m benchmarks.noisy_or.page
"""

from pathlib import Path
from typing import Any

from benchmarks.page_parts import DOCS, how, load, table, topic_page, write

PAGE = DOCS / "noisy_or.md"
TEMPLATE = Path(__file__).parent / "template.md"
TITLES = {"retail": "retail baskets", "20ng": "20newsgroups words"}
MODELS = {"noisy-or": "noisy-OR network", "machine": "combination machine", "independent": "independent bits"}


def model_name(which: str, f: dict[str, Any]) -> str:
    if which.startswith("mixture"):
        return f"mixture, {which.split()[1]} classes"
    size = {"noisy-or": f", {f['causes']} causes", "machine": f", {f['units']} units"}.get(which, "")
    return MODELS[which] + size


def held_out(f: dict[str, Any]) -> str:
    """Return the table of models on one table of bits."""
    rows: list[list[object]] = []
    for which, m in f["models"].items():
        value = f"{m['held_out']} ± {m['standard_error']}"
        if m["likelihood"] == "estimate":
            value += f" (the estimate itself ± {m['row_error']})"
        ahead = "" if which == "noisy-or" else f"{m['noisy_or_ahead_by']} ± {m['standard_error_of_that']}"
        stopped = m["stop_reason"].replace("_", " ") or "closed form"
        rows.append(
            [
                model_name(which, f),
                value,
                m["likelihood"],
                ahead,
                f"{m['seconds_of_cpu']} s of CPU, {m['passes']} passes, {stopped}",
                f"{m['peak_memory_mb']} MB",
            ]
        )
    head = ["model", "log-likelihood of a held-out row", "which is", "noisy-OR is ahead by", "fit", "peak memory"]
    return table(head, rows)


def verdict(f: dict[str, Any]) -> str:
    """Return which model is ahead, in words."""
    rivals = {which: m for which, m in f["models"].items() if which != "noisy-or"}
    best = max(rivals, key=lambda which: rivals[which]["held_out"])
    gap, error = rivals[best]["noisy_or_ahead_by"], rivals[best]["standard_error_of_that"]
    if abs(gap) <= 2 * error:
        return f"The network and the {model_name(best, f)} are level within two standard errors."
    return f"The network is {'ahead of' if gap > 0 else 'behind'} the best of the others, the {model_name(best, f)}."


def noisy_or() -> str:
    report, cost = load("noisy_or/large"), load("noisy_or/sweep")
    parts = []
    for name, f in report["figures"].items():
        sweep = f["models"]["noisy-or"]["sweeps"]
        parts.append(f"""**{TITLES[name]}**, {f["rows"]:,} x {f["columns"]:,}, {f["ones"]:,} ones; {f["held_out"]:,} held-out rows.

{held_out(f)}

{verdict(f)} A sweep over all rows on one thread takes {sweep["seconds_a_sweep_of_all_rows"]} s: {sweep["nanoseconds_a_one_and_cause"]} ns for each one and cause and
{sweep["nanoseconds_a_row_and_cause"]} ns for each row and cause. This formula agrees with all {len(sweep["cases"])} measured sweeps ({len({c[0] for c in sweep["cases"]})} numbers of rows, each with a part of its ones) to
within {sweep["largest_relative_miss"]:.0%}.
""")
    s, g = cost["figures"]["times_by_the_ones"], cost["figures"]["goals"]
    return f"""## A sweep, and held-out rows
A Gibbs sweep ({cost["figures"]["columns"]:,} columns, {cost["figures"]["share_of_ones"]:.1%} ones, {cost["figures"]["causes"]} causes) takes
{cost["figures"]["microseconds_a_row_and_sweep"]["by the ones"]} microseconds a row. It takes {s["zeros linear, dense"]} times as long (goal {g["zeros linear, dense"]}) if zeros are linear but every cell is visited,
and {s["literal"]} times as long (goal {g["literal"]}) if the equations are computed as written. {how(cost)}

Held-out rows, compared with other models. The networks have one start and fewer passes than by default. Machines have as many units as can be enumerated in reasonable time, and stop early. Peak memory
is that of the whole process, on two threads.

{chr(10).join(parts)}
{ways()}

{how(report)}
"""


def ways() -> str:
    report = load("noisy_or/methods")
    rows: list[list[object]] = []
    for f in report["figures"]:
        for method, w in f["ways"].items():
            error = f" ± {w['error_of_the_estimate']}" if w["error_of_the_estimate"] else ""
            each = ", ".join(str(value) for value in w["held_out_each"])
            rows.append([f"{f['table']}, {f['causes']} causes", method, f"{w['held_out']}{error}", each, w["seconds"]])
    head = ["table", "states by", "log-likelihood of a held-out row", "each seed", "seconds a fit"]
    return f"""Enumeration, Gibbs sampling and truncated posteriors on the same rows, one start each:

{table(head, rows)}

{how(report)}"""


def bullets(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def pages() -> dict[Path, str]:
    report = load("noisy_or/lists")
    f = report["figures"]
    news, groceries = f["news100"], f["groceries"]
    page = TEMPLATE.read_text().format(
        news_rows=f"{f['shapes']['news100'][0]:,}",
        news=bullets(news["lines"]),
        news_seconds=news["seconds"],
        basket_rows=f"{f['shapes']['groceries'][0]:,}",
        basket_columns=f["shapes"]["groceries"][1],
        baskets=bullets(groceries["lines"]),
        basket_seconds=groceries["seconds"],
        sentences=bullets(groceries["sentences"]),
        ways=ways(),
        how=how(report),
    )
    return {PAGE: page, **topic_page("noisy_or", "noisy_or", "Noisy-OR networks", noisy_or())}


if __name__ == "__main__":
    write(pages())
