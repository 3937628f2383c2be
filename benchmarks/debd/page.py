"""Write docs/debd.md from the figures in benchmarks/debd/results."""

from pathlib import Path
from typing import Any

from benchmarks.debd import choices, others
from benchmarks.debd.published import AHEAD, METHODS, PUBLISHED, best
from benchmarks.debd.recipes import LIMITS, NAMES
from benchmarks.report_parts import table

PAGE = Path(__file__).parents[2] / "docs" / "debd.md"
FAMILIES = ("IndependentBits", "BernoulliMixture", "CombinationMachine", "TreeMixture", "HiddenTree")


def ahead(ours: float, theirs: float | None) -> bool:
    return theirs is not None and ours > theirs + AHEAD


def counts(reports: dict[str, dict[str, Any]]) -> str:
    """Return how many tables ours is ahead on, method by method; only exact likelihoods count."""
    exact = {name: r["test"]["ensemble"] for name, r in reports.items() if r["test"]["likelihood"] == "exact"}
    rows = []
    for method in METHODS:
        there = [name for name in reports if method in PUBLISHED[name]]
        won = [name for name in there if name in exact and ahead(exact[name], PUBLISHED[name][method])]
        rows.append([method, f"{len(won)} of {len(there)}"])
    won = [name for name in reports if name in exact and ahead(exact[name], best(name)[1])]
    rows.append(["the best of them, table by table", f"{len(won)} of {len(reports)}"])
    return table(["ahead of", "tables"], rows)


def figures(reports: dict[str, dict[str, Any]]) -> str:
    rows = []
    for name, report in reports.items():
        test, (whose, theirs) = report["test"], best(name)
        ours = test["ensemble"]
        rows.append(
            [
                name,
                f"{ours:.3f} ± {test['standard_error']:.3f}",
                test["likelihood"],
                *(f"{PUBLISHED[name][method]:.2f}" if method in PUBLISHED[name] else "" for method in METHODS),
                f"{whose} {theirs:.2f}",
                f"**{ours - theirs:+.3f}**" if ahead(ours, theirs) else f"{ours - theirs:+.3f}",
            ]
        )
    return table(["table", "ours", "likelihood", *METHODS, "best of these", "ours - best"], rows)


def size(settings: dict[str, Any]) -> str:
    return f" ({settings['n_components']})" if "n_components" in settings else ""


def families(reports: dict[str, dict[str, Any]]) -> str:
    rows = []
    for name, report in reports.items():
        singles, chosen = report["test"]["singles"], report["singles"]
        cells = [
            f"{singles[family]:.3f}{size(chosen[family]['settings'])}" if family in singles else ""
            for family in FAMILIES
        ]
        kept = report["ensemble"]["members"]
        rows.append([name, *cells, f"{report['test']['ensemble']:.3f}", f"{len(kept)} of {report['ensemble']['fits']}"])
    return table(["table", *FAMILIES, "Ensemble", "members"], rows)


def pictures(reports: dict[str, dict[str, Any]]) -> str:
    """Return the table of the families that are no members; an estimate is marked, and so is a fit to some rows."""
    rows = []
    for name in reports:
        found, cells = others.read(name), []
        for family in others.FAMILIES:
            one = found.get(family)
            sign = "" if one is None or one["likelihood"] == "exact" else " (estimate)"
            cells.append("" if one is None else f"{one['test']:.3f} ({one['size']}){sign}")
        if found:
            most = max(one["rows"] for one in found.values())
            rows.append([name, *cells, f"{most:,}"])
    return table(["table", *others.FAMILIES, "rows fitted"], rows)


def limits(reports: dict[str, dict[str, Any]]) -> str:
    behind = [name for name, r in reports.items() if not ahead(r["test"]["ensemble"], best(name)[1])]
    return "\n".join(
        f"- *{name}* ({best(name)[0]} {best(name)[1]:.2f}): {LIMITS.get(name, 'not known.')}" for name in behind
    )


def write() -> None:
    reports = {name: report for name in NAMES if "test" in (report := choices.read(name))}
    if not reports:
        raise SystemExit("No table has test figures yet: run --fit, --choose and --test first.")
    seconds = sum(report["seconds"] for report in reports.values())
    some = next(iter(reports.values()))
    packages = ", ".join(f"{name} {number}" for name, number in some["versions"].items())
    PAGE.write_text(f"""# The standard benchmark of binary density estimation

Written by `python -m benchmarks.debd --page` from `benchmarks/debd/results/`. Twenty tables, each in its published parts: models are
fitted to `train`; sizes, settings and the weights of the mixture are chosen on `valid`; `test` was scored once, after that. Figures are
mean log-likelihoods of a test row in nats; higher is better. "Ahead" means by more than {AHEAD} nats. (A trial of the command with three short fits, none of them used
here, had printed test figures of nltcs and dna before; no choice rests on them, and `--quick` no longer opens `test`.)

## Beside published figures
Ours is an `Ensemble` of fits of our families, its weights fitted to `valid`. Its likelihood is that of one model and exact: the weighted mean of
what its members, all of them exact, say. ± is the standard error over test rows; it is that of the table, mostly, and much
larger than that of a difference between two models of the same rows.

{counts(reports)}

{figures(reports)}

Independent bits and Chow-Liu trees were computed on these files (Laplace smoothing 1). The others are as published: LearnSPN (Gens & Domingos 2013), Strudel
and LearnPSDD ensembles (Dang et al. 2020), XPC ensembles (Di Mauro et al. 2021), Prometheus (Jaini et al. 2018). LearnSPN's figure for jester belongs to another
version of the table.

## What limits the rest
{limits(reports)}

## Our families alone
For each family the fit that is best on `valid`, with its number of classes, units or states; test figures. Passes are limited, which is a
choice made on `valid` as well. "members" are the fits with weight in the ensemble, of all fits.

{families(reports)}

The other families are pictures to look at more than densities, at sizes whose likelihood is exact: two sizes each, the better one on
`valid`, fitted to at most {others.MOST_ROWS:,} rows of `train`. Tables that are not listed have not been run (`--others`).

{pictures(reports)}

All fits of members together took {seconds / 60:.0f} minutes on one core. {packages}; {some["cores"]} cores, {some["machine"]}. Settings, seeds, passes, seconds and weights
of every chosen fit are in `benchmarks/debd/results/`.
""")
    print(f"{PAGE.name} written")
