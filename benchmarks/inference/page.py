"""The figures of docs/guides/inference.md: the parts between its marks, from recorded results.

python -m benchmarks.inference.page
"""

from pathlib import Path

from benchmarks.record import DOCS, how, load, result, table, write
from experiments.common import filled

PAGE = DOCS / "guides" / "inference.md"
TESTS = ("maps", "pairs", "lrt", "starts")
METHODS = ("information", "bootstrap")
ERRORS = ("sandwich", "information")
DESIGNS = {
    "apart": "3 classes that lie apart, 1,000 x 10",
    "mixture": "3 classes that overlap, 1,000 x 10",
    "map": "map of 2 dimensions, 800 x 10",
    "small_map": "map of 2 dimensions, 500 x 8",
    "clusters": "2 classes, 100 clusters of 10 rows",
    "causes": "`NoisyOrNetwork(3)`, 600 x 9",
    "trees": "`TreeMixture(2)`, 600 x 8",
    "large_trees": "`TreeMixture(2)`, 2,400 x 8",
}
# What a figure is called in the results, and on the page.
WORDS = {
    "profiles": "profiles",
    "shares": "class shares",
    "profiles, away": "profiles, no estimate at 0 or 1",
    "shares, away": "class shares, no estimate at 0 or 1",
    "varimax loadings": "varimax loadings",
    "shares, ignored": "class shares, clusters ignored",
    "strengths": "strengths",
    "profiles, found": "profiles, both true trees found",
    "shares, found": "class shares, both true trees found",
    "given the parent, found": "P(bit given its parent), both true trees found",
}


def recorded(*names: str) -> list[dict]:
    return [load(f"inference/{name}") for name in names if result(f"inference/{name}").is_file()]


def size() -> str:
    reports = recorded(*(f"size_{test}" for test in TESTS))
    rows = [
        [*name.split(", ", 1), f"{figure['rejected']} of {figure['tables']}"]
        for report in reports
        for name, figure in report["figures"].items()
    ]
    rows = [[test, what.replace("size", "the model is true"), count] for test, what, count in rows]
    return table(["test at 5%", "tables", "rejected"], rows) + "\n\n" + printed(reports)


def figures_of(report: dict) -> dict[tuple[str, str], dict]:
    """Return the figures of a result by what they are of and by method."""
    found = {}
    for name, figure in report["figures"].items():
        name = name.replace("with clusters=", "information").replace("bootstrap of clusters", "bootstrap")
        method = "bootstrap" if "bootstrap" in name else "information"
        what = name.replace(f", {method}", "")
        found[next(word for word in sorted(WORDS, key=len, reverse=True) if what.endswith(word)), method] = figure
    return found


def coverage() -> str:
    rows, all_reports = [], []
    for design, label in DESIGNS.items():
        reports = recorded(*(f"coverage_{design}{method}" for method in ("", "_information", "_bootstrap")))
        found = {key: figure for report in reports for key, figure in figures_of(report).items()}
        for word, what in WORDS.items():
            some = {method: found[word, method] for method in METHODS if (word, method) in found}
            everywhere = all(figure == found[word.removesuffix(", away"), method] for method, figure in some.items())
            if some and not (word.endswith("away") and everywhere):
                cells = [f"{some[method]['coverage']:.3f}".lstrip("0") if method in some else "" for method in METHODS]
                n_tables = dict.fromkeys(figure["tables"] for figure in some.values())
                rows.append([label, what, *cells, ", ".join(map(str, n_tables))])
        all_reports += reports
    return table(["model and tables", "95% intervals of", *METHODS, "tables"], rows) + "\n\n" + printed(all_reports)


def levels() -> str:
    report = load("inference/levels")
    rows: list[list[object]] = []
    for design, found in report["figures"]["coverage"].items():
        for what in ("shares", "probabilities"):
            both = [found[f"{what}, {prior}"] for prior in ("maximum likelihood", "default prior")]
            cells = [f"{one['coverage']:.3f}".lstrip("0") for one in both]
            left_out = [f"{one['left_out']:,} of {one['intervals'] + one['left_out']:,}" for one in both]
            rows.append(
                [design, found["entropy"], what, *(c for pair in zip(cells, left_out, strict=True) for c in pair)]
            )
    head = ["3 classes", "entropy", "95% intervals of", "maximum likelihood", "left out", "default prior", "left out"]
    gone, errors = report["figures"]["missing"], report["figures"]["missing"]["largest_mean_error"]
    worst = "; ".join(
        f"{what} {errors[f'{key}, maximum likelihood']:.4f}, with the default prior {errors[f'{key}, default prior']:.4f}"
        for what, key in (("class shares", "classes"), ("items' shares of levels", "levels"))
    )
    n_tables = report["tables"]
    return f"""Classes of binary items and of items with 4 levels, {n_tables["coverage"]} simulated tables a design; intervals by information. "Left out": probabilities estimated outside (.001, .999).

{table(head, rows)}

With {gone["missing"]:.0%} of the cells missing at random given five complete columns (3 classes, 2,000 x 20 items of 3 levels, {n_tables["missing"]} tables), the largest mean error of any share is, by maximum likelihood: {worst}. Among the recorded cells alone it is {errors["levels, recorded cells"]:.4f}.

{printed([report])}"""


def mixed() -> str:
    report = load("inference/mixed")
    kinds = [f"{errors}, {prior}" for prior in ("maximum likelihood", "default prior") for errors in ERRORS]
    rows: list[list[object]] = []
    for design, found in report["figures"].items():
        for what in ("shares", "probabilities", "means", "variances", "rates"):
            cells = [found[f"{what}, {kind}"] for kind in kinds]
            left_out = [f"{one['left_out']:,} of {one['intervals'] + one['left_out']:,}" for one in cells[::2]]
            rows.append(
                [design, found["entropy"], what, *(f"{c['coverage']:.3f}".lstrip("0") for c in cells), *left_out]
            )
    below = [
        f"{row[2]}, {row[0]} ({cell}, {kind})"
        for row in rows
        for cell, kind in zip(row[3 : 3 + len(kinds)], kinds, strict=True)
        if not 0.93 <= float(str(cell)) <= 0.97
    ]
    head = ["classes and rows", "entropy", "95% intervals of", *kinds, "left out", "left out, default prior"]
    return f"""Classes of mixed columns (3 binary, 2 nominal of 3 levels, 3 continuous, 2 counts), {report["tables"]} simulated tables a design; intervals of shares and probabilities are computed as logits, of variances and rates as logarithms. Outside .93 to .97: {"; ".join(below) or "none"}.

{table(head, rows)}

{printed([report])}"""


def overlap() -> str:
    reports = recorded("overlap")
    rows = [
        [
            f"{int(n_rows):,}",
            *(f"{figure[name]:.3f}".lstrip("0") for name in ("logits", "shares", "from_truth", "with_prior")),
            f"{figure['at_border']:.0%}",
            f"{figure['other_maximum']:.0%}",
            f"{figure['spread_in_errors']:.2f}",
        ]
        for report in reports
        for n_rows, figure in report["figures"].items()
    ]
    head = [
        "rows",
        "as printed",
        "on the scale of shares",
        "at the maximum next to the truth",
        "with the default prior",
    ]
    head += ["tables with an estimate at 0 or 1", "at another maximum", "spread of estimates / standard error"]
    return table(head, rows) + "\n\n" + printed(reports) if reports else ""


def replicates() -> str:
    reports = recorded("replicates")
    lines = [
        f"200 replicates of `LatentClassAnalysis(5)` on 20,000 x 100 take the processor time of "
        f"{report['figures']['cold_fits_in_200_replicates']:g} fits of the model ({report['figures']['replicate_s']:.2g} "
        f"seconds a replicate; a fit, with its {report['figures']['starts_of_cold_fit']} starts, takes {report['figures']['cold_fit_s']:.2g})."
        for report in reports
    ]
    for report in recorded("at_once"):
        kinds = [
            f"{figure['ratio']:.2f} (classes {name}, entropy {figure['entropy']:.2f}, {figure['seconds_one_thread']:.1f} seconds with one thread)"
            for name, figure in report["figures"].items()
        ]
        lines.append(
            f"On two cores, {report['replicates']} replicates of 4 classes on 20,000 x 50 take this part of their time with one thread: "
            f"{', '.join(kinds)}."
        )
        reports = [*reports, report]
    return "\n".join([*lines, printed(reports)]) if reports else ""


def printed(reports: list[dict]) -> str:
    """Return the commands that printed some results, those with the same versions together."""
    groups: dict[str, list[str]] = {}
    for line in dict.fromkeys(map(how, reports)):
        command, _, versions = line.partition("; ")
        groups.setdefault(versions, []).append(command)
    return "Printed by " + " ".join(f"{', '.join(commands)}; {versions}" for versions, commands in groups.items())


def pages() -> dict[Path, str]:
    text = PAGE.read_text(encoding="utf-8")
    for make in (size, coverage, levels, mixed, overlap, replicates):
        text = filled(text, make.__name__, make())
    return {PAGE: text}


if __name__ == "__main__":
    write(pages())
