import re
from contextlib import contextmanager

import numpy as np
import pytest

from hiddenbits import open_table, report
from hiddenbits.datasets import simulate_mixture

pytest.importorskip("jinja2", reason="the report extra is not installed")


def survey(n=100, seed=0):
    """Two kinds of rows, 8 columns, a few blanks; beside them a name for each row and a party."""
    rng = np.random.default_rng(seed)
    drawn = simulate_mixture(n, 8, 2, random_state=seed)
    X = drawn.X.astype(float)
    X[rng.random(X.shape) < 0.04] = np.nan
    beside = {
        "person": [f"zwerg-{i}-person" for i in range(n)],
        "party": [["Blaue", "Gruene"][i % 2] for i in range(n)],
    }
    return X, beside


COLUMNS = [f"question {j}" for j in range(8)]


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Write the report of a table once, and return its path: `written("name", X, **options)`."""
    folder, made = tmp_path_factory.mktemp("reports"), {}

    def write(key, X=None, names=None, **options):
        if key not in made:
            table = open_table(X) if names is None else open_table(X, names=names)
            with quick():
                write.reports[key] = report(table, **options)
            made[key] = write.reports[key].save(folder / f"{key}.html")
        return made[key]

    write.reports = {}  # what `report` returned
    return write


@contextmanager
def quick():
    """Compare the three pictures that are quickest to fit, and start each fit as often as on large tables."""
    from hiddenbits.reporting import fits

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fits, "MODELS", ["IndependentColumns", "LatentClassAnalysis", "ClippedPCA"])
        patch.setattr("hiddenbits.families._base.estimator.SMALL_TABLE_FLOPS", 0)  # no further starts
        yield


@pytest.fixture(scope="session")
def plain_report(written):
    X, beside = survey()
    return written("plain", X, COLUMNS, beside=beside, title="A small survey")


@pytest.fixture(scope="session")
def small_report(written, plain_report):
    """What `report` returned for the same table."""
    return written.reports[plain_report.stem]


def without_date(text):
    return re.sub(r"<time.*?</time>", "", text)


TRICKS = [
    '<img src=x onerror="document.title=1">',
    "</script><script>document.title='2'</script>",
    "\"quoted\" and 'quoted' and `quoted`",
    "ten thousand " + "w" * 10_000,
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, \u0645\u0631\u062d\u0628\u0627",
    "\U0001f98a\U0001f469\u200d\U0001f680 emoji",
    "{{ 7 * 7 }} {% raw %} ${7 * 7} &lt;b&gt; <!--",
    "\u202ereversed <a href='http://example.org'>b</a>",
]


def hostile(written, *, tricks=True):
    """Return the report of a table whose names and cells try to be more than text, or of the same table without."""
    X, _ = survey(60, seed=7)
    words = TRICKS if tricks else [f"word {k}" for k in range(8)]
    beside = {words[0]: [words[i % 7] for i in range(60)], words[1] + " ": [words[i % 3] for i in range(60)]}
    key = "hostile" if tricks else "tame"
    return written(key, X, words, beside=beside, title=words[0])
