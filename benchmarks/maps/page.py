"""The figures of maps: docs/performance/maps.md."""

from pathlib import Path
from typing import Any

from benchmarks.page_parts import how, load, table, topic_page, write
from benchmarks.record import result

ORDER = ("PCA", "LogisticPCA", "TopographicMap", "umap-learn", "t-SNE")
OURS, CLOSE = "TopographicMap", 0.005  # shares nearer than this count as equal
QUICKER = 1.5  # times that differ by less say little


def shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}".removeprefix("0")


def called(name: str) -> str:
    """Return the name of a table without a comma."""
    first, _, rows = name.partition(", ")
    return f"{first} ({rows})" if rows else first


def by_table(report: dict[str, Any], key: str, form: Any = shown) -> str:
    """Return one figure, table by table and program by program."""
    rows: list[list[object]] = []
    for name, found in report["figures"].items():
        if any(key in figures for figures in found.values()):
            rows.append([called(name), *(form(found[m][key]) if key in found.get(m, {}) else "-" for m in ORDER)])
    return table(["table", *ORDER], rows)


def better(report: dict[str, Any]) -> str:
    """Return what is better elsewhere, by program and figure."""
    words = {
        "share": "rows among their class",
        "share_new": "new rows among their class",
        "share_blanks": "with a fifth of the cells blank",
        "trustworthiness": "trustworthiness",
        "continuity": "continuity",
        "same_neighbours_seeds": "the same map from another seed",
        "same_neighbours_samples": "the same map from another sample",
    }
    lines = []
    tables = {name: found for name, found in report["figures"].items() if OURS in found}
    for method in ("umap-learn", "t-SNE", "PCA", "LogisticPCA"):
        said = []
        for key, word in words.items():
            ahead = [
                f"{called(name)} ({shown(found[method][key])} vs {shown(found[OURS][key])})"
                for name, found in tables.items()
                if (found.get(method, {}).get(key) or 0.0) > (found[OURS].get(key) or 0.0) + CLOSE
            ]
            if ahead:
                said.append(f"{word}: {', '.join(ahead)}")
        quick = [
            called(name)
            for name, found in tables.items()
            if method in found and QUICKER * found[method]["seconds"] < found[OURS]["seconds"]
        ]
        if quick:
            said.append(f"less processor time: {', '.join(quick)}")
        if said:
            lines.append(f"- **{method}**: {'; '.join(said)}.")
    return "\n".join(lines)


def comparison() -> str:
    report = load("maps/run")
    facts = report["tables"]
    tables = "; ".join(f"{called(name)}, {f['rows']:,} x {f['columns']}, {f['class']}" for name, f in facts.items())
    hamming = ", ".join(name for name, f in facts.items() if f["metric"] == "hamming")
    umap = ", ".join(f"{name} {number}" for name, number in report["umap"].items())
    refused = sorted({m for found in report["figures"].values() for m, f in found.items() if f.get("refuses_blanks")})
    return f"""## Where other programs are better than `TopographicMap`
Differences of more than {CLOSE:g}, theirs first, and times that are shorter by a factor of more than {QUICKER:g}. Figures are of one seed unless the table says otherwise; one row of zoo or
senate109 is .010, and shares have standard errors of about .04 on zoo and .02 on senate109, news100 and digits. The length scale of `TopographicMap` was chosen on rows of the ten classes with
their classes in sight, so its lead there says less.

{better(report)}

## Five programs side by side
Each has one thread and its defaults, but umap-learn has a distance for bits instead of the Euclidean: Hamming on {hamming}, and Jaccard on the others, as on
the [peers' page](peers.md). Trustworthiness and continuity go by Hamming distances. The programs ran one after the other, with other work on the machine's second core. t-SNE was not
run on 20,000 rows. Tables, with what a class is, which no fit was given: {tables}.
{", ".join(refused)} refuse blanks: those of senate109 were filled with the more frequent bit of their column.

![Maps of five tables by five programs](../pictures/maps.png)

*Rows coloured by their class. With many columns the posterior of a row concentrates on one point, so rows fall on the grid of `TopographicMap` (senate109, digits); many rows, even whole classes, lie
on its border.*

Use `TopographicMap` where a map needs a likelihood, blanks or new rows; use several seeds before you read more than clusters from it.

### Rows among their class
The share of rows whose class is that of most of their ten neighbours on the map.

{by_table(report, "share")}

### New rows, placed without another fit
The same share, of rows that a bootstrap sample left out, among the rows of the sample. t-SNE cannot place them.

{by_table(report, "share_new")}

### A fifth of the cells blank
The first share again. Programs that refuse blanks had them filled with the more frequent bit of the column.

{by_table(report, "share_blanks")}

### Trustworthiness
Are neighbours on the map neighbours in the table? By the ten nearest rows and the number of bits in which rows differ, with ties in favour of the map.

{by_table(report, "trustworthiness")}

### Continuity
Are neighbours in the table neighbours on the map?

{by_table(report, "continuity")}

### The same map again
The share of a row's ten neighbours on one map that are its neighbours on another: first between {report["seeds"]} seeds (the mean of all pairs), then between {report["samples"]} bootstrap samples. Equal rows count once. PCA is
deterministic and t-SNE is initialised by PCA, so seeds matter little to them. Two bootstrap samples share about 40% of the rows; among fewer rows more of the overlap is chance, most of all on zoo
and senate109, so the two tables cannot be compared with each other.

{by_table(report, "same_neighbours_seeds")}

{by_table(report, "same_neighbours_samples")}

### Processor seconds
Of a fit and the positions of its rows. umap-learn had compiled before, which takes it more than a minute in a new process.

{by_table(report, "seconds", lambda value: f"{value:.2g}" if value < 10 else f"{value:.0f}")}

{how(report)} {umap}.
"""


def likelihood() -> str:
    before, after = load("maps/likelihood_before"), load("maps/likelihood")
    rows: list[list[object]] = []
    for name, now in after["figures"].items():
        then = before["figures"][name]
        rows.append(
            [name, f"{now['rows']:,}"]
            + [f"{f['held_out']:.3f}" for f in (then, now)]
            + [f"{f['processor_seconds']:.1f} s, {f['passes']} passes" for f in (then, now)]
        )
    head = ["table", "rows", "held out, before", "held out, now", "fit, before", "fit, now"]
    return f"""## What faster defaults cost
`TopographicMap(2)` once had all of its 1,024 points from the first pass, regressions of two Newton steps along all 259 coefficients, and tol=1e-5. Now a first stage has 256 points, regressions take one step
and leave out directions that are 0 at every point, and tol is 1e-3. Mean log-likelihood of held-out rows, in nats, and processor seconds:

{table(head, rows)}

{how(after)}
"""


def retail() -> str:
    report = load("maps/retail")
    f, points, fewer = report["figures"], report["points"], report["fewer"]
    fit, whole, half, small = f["fit"], f["all"], f["half"], f["fewer"]
    rows: list[list[object]] = [
        [what, f"{s['ones']:,}", n, f"{s['e_step']:.2f}", f"{s['m_step']:.2f}"]
        for what, s, n in (("all rows", whole, points), ("half of the rows", half, points), ("all rows", small, fewer))
    ]
    return f"""## A wide sparse table
retail, {report["rows"]:,} x {report["columns"]:,}, `TopographicMap(2, n_points={points})`: a fit that is stopped after {fit["passes"]} passes, half of them with {fewer} points, takes {fit["processor_seconds"]:.0f} s of processor time and {fit["peak_memory_mb"]:,} MB
of memory at its peak, of which {fit["memory_before_mb"]} MB are Python and its packages. An array of columns x points has {8e-6 * report["columns"] * points:.0f} MB; at the peak there are the logits, the posterior of a block of rows, and up to three sums.
Processor seconds of the two halves of a pass:

{table(["rows", "ones", "points", "E-step", "M-step"], rows)}

Half of the ones take {half["e_step"] / whole["e_step"]:.2f} of the E-step, a quarter of the points {small["e_step"] / whole["e_step"]:.2f}. The M-step, a regression for each column, hardly depends on the ones ({half["m_step"] / whole["m_step"]:.2f} with
half of the rows); it takes {small["m_step"] / whole["m_step"]:.2f} with a quarter of the points. It is what limits such tables: {whole["m_step"] / (whole["m_step"] + whole["e_step"]):.0%} of a pass.

{how(report)}
"""


def pages() -> dict[Path, str]:
    measured = [retail()] if result("maps/retail").exists() else []
    return topic_page("maps", "maps", "Maps", comparison(), likelihood(), *measured)


if __name__ == "__main__":
    write(pages())
