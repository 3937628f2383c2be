"""Draw files of `src` at two commits for readers who do not know which is which.

    python tools/reading_sample.py BEFORE AFTER FOLDER [--seed N]     two commits, and an empty folder

Thirty files that exist at both commits (renamed ones too) are drawn with a seed (50; 51 for a second round).
`FOLDER/reader1` has each of them as it was at one of the commits, drawn by chance, `FOLDER/reader2` at the other, both
in the same shuffled order and under neutral names; `FOLDER/key.json` says which is which. A file is cut after its first
160 lines.
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np

N_FILES, MOST_LINES, FEWEST_LINES = 30, 160, 40


def git(*words: str) -> str:
    """Return what a git command prints."""
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


def pairs(before: str, after: str) -> list[tuple[str, str]]:
    """Return the paths of the Python files of src at both commits, where both have the file."""
    renamed = {}
    for line in git("diff", "--name-status", "-M30%", before, after, "--", "src").splitlines():
        status, *paths = line.split("\t")
        if status.startswith("R"):
            renamed[paths[0]] = paths[1]
    names = [set(git("ls-tree", "-r", "--name-only", commit, "--", "src").split()) for commit in (before, after)]
    both = [(name, renamed.get(name, name)) for name in sorted(names[0]) if name.endswith(".py")]
    return [(old, new) for old, new in both if new in names[1]]


def main() -> None:
    """Write the files of two readers and the key."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    for name in ("before", "after", "folder"):
        arguments.add_argument(name)
    arguments.add_argument("--seed", type=int, default=50)
    chosen = arguments.parse_args()
    rng, commits = np.random.default_rng(chosen.seed), (chosen.before, chosen.after)
    texts = []
    for paths in rng.permutation(pairs(*commits)):
        versions = [git("show", f"{commit}:{path}") for commit, path in zip(commits, paths, strict=True)]
        if min(text.count("\n") for text in versions) >= FEWEST_LINES:
            texts.append((list(map(str, paths)), versions))
        if len(texts) == N_FILES:
            break
    key = []
    for number, (paths, versions) in enumerate(texts, 1):
        first = int(rng.integers(2))  # which version the first reader sees
        for reader, which in ((1, first), (2, 1 - first)):
            folder = Path(chosen.folder) / f"reader{reader}"
            folder.mkdir(parents=True, exist_ok=True)
            lines = versions[which].splitlines(keepends=True)[:MOST_LINES]
            (folder / f"file{number:02d}.py").write_text("".join(lines), encoding="utf-8")
        key.append({"number": number, "before": paths[0], "after": paths[1], "reader1": ("before", "after")[first]})
    (Path(chosen.folder) / "key.json").write_text(json.dumps(key, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
