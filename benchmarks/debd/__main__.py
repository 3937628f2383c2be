"""The standard benchmark of binary density estimation: all families, sizes and weights chosen on `valid`, `test` once.

python -m benchmarks.debd --fit [--only nltcs,dna] [--minutes 60]   fits what has not been kept yet; can be stopped at any time
python -m benchmarks.debd --choose                                  chooses on `valid`, from the fits that are there
python -m benchmarks.debd --test                                    scores `test` with what was chosen; does so once
python -m benchmarks.debd --others                                  fits, chooses and scores the families that are no members
python -m benchmarks.debd --again [--only nltcs,dna]                fits the best of each family again, to see whether it is as good
python -m benchmarks.debd --page                                    writes docs/debd.md
python -m benchmarks.debd --quick                                   two small tables with few fits, nothing is written

Needs HIDDENBITS_DATA. Fits are kept in benchmarks/debd/kept, which is no part of the repository.
"""

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.debd import again, choices, fits, others, page, recipes
from benchmarks.page_parts import write


def fit_all(names: list[str], minutes: float) -> None:
    """Fit round by round, each table its next member, so that what is there when time is up covers all tables."""
    begin = time.monotonic()
    waiting = {name: [m for m in recipes.members(name) if not fits.of(name, m).done] for name in names}
    while any(waiting.values()):
        for name in names:
            if not waiting[name]:
                continue
            if time.monotonic() - begin > 60 * minutes:
                print(f"time is up; {sum(map(len, waiting.values()))} fits are left: run the same command again")
                return
            record = fits.run(name, waiting[name].pop(0)).record()
            clock = f"{(time.monotonic() - begin) / 60:5.1f} min"
            print(
                f"{clock} {name:10s} {record['family']} {record['settings']} seed {record['seed']} {record['rows']}: "
                f"valid {record['valid']:.4f}, {record['passes']} passes, {record['seconds']} s",
                flush=True,
            )
    print("all fits are there")


def done(name: str) -> list[fits.Fit]:
    return [fit for fit in (fits.of(name, member) for member in recipes.members(name)) if fit.done]


def quick() -> None:
    """Short fits to two small tables, and the choice on `valid`, in a folder that is thrown away; `test` stays shut."""
    with tempfile.TemporaryDirectory() as folder:
        fits.KEPT, choices.RESULTS = Path(folder) / "kept", Path(folder) / "results"
        for name in ("nltcs", "dna"):
            finished = [fits.run(name, member) for member in recipes.quick()]
            print(name, choices.choose(name, finished)["ensemble"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for step in ("fit", "choose", "test", "others", "again", "page", "quick"):
        parser.add_argument(f"--{step}", action="store_true")
    parser.add_argument("--only", help="names of tables, with commas")
    parser.add_argument("--minutes", type=float, default=70.0, help="for --fit: begin no further fit after so long")
    asked = parser.parse_args()
    names = asked.only.split(",") if asked.only else list(recipes.NAMES)
    if asked.quick:
        quick()
    if asked.fit:
        fit_all(names, asked.minutes)
    if asked.choose:
        for name in names:
            if "test" in choices.read(name):
                print(f"{name}: test has been scored, the choice stands")
            elif finished := done(name):
                report = choices.choose(name, finished)
                print(
                    f"{name:10s} {len(finished):3d} fits, ensemble on valid {report['ensemble']['valid']:.4f}",
                    flush=True,
                )
    if asked.test:
        for name in names:
            if choices.read(name):
                print(name, choices.test(name, done(name))["test"], flush=True)
    if asked.others:
        for name in names:
            others.run(name)
    if asked.again:
        again.run(names)
    if asked.page:
        write(page.pages())


if __name__ == "__main__":
    main()
