import os
from collections import Counter
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the full tier: all seeds, and what is marked full or thin")
    parser.addoption("--slow", action="store_true", help="the everyday tier, and what is marked slow")
    parser.addoption("--cases", type=int, help="at most so many cases of each test, others for each test")


def pytest_configure(config):
    if getattr(config.option, "numprocesses", None):  # processes side by side: more threads than cores only wait
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The continuous integration tries the same examples every time; at a desk new ones are tried.
    most = 200 if config.getoption("--full") else 25
    settings.register_profile("here", deadline=None, max_examples=most, derandomize=bool(os.environ.get("CI")))
    settings.load_profile("here")


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config, log):
    """Give each process neighboring tests: what a file imports, writes or starts for all its tests is made once."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.hookimpl(trylast=True)  # after -k and -m: at least one case of every test that they choose
def pytest_collection_modifyitems(config, items):
    """Keep the everyday tier unless asked for more: one seed, nothing slow or full, every n-th case of `thin(n)`."""
    if not config.getoption("--full"):
        _keep(config, items, _everyday(items, with_slow=config.getoption("--slow")))
    if config.getoption("--cases") is not None:
        _keep(config, items, _few_cases(items, config.getoption("--cases")))


def _keep(config, items, kept):
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def _few_cases(items, most):
    """Return some cases of each test, spread over all of them from a place that its name decides."""
    tests = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = set()
    for name, cases in tests.items():
        first = crc32(name.encode()) % len(cases)
        kept.update(cases[(first + number * len(cases) // most) % len(cases)] for number in range(most))
    return [item for item in items if item in kept]


def _everyday(items, *, with_slow):
    seen, cases, kept = set(), Counter(), []
    for item in items:
        if item.get_closest_marker("full") or (item.get_closest_marker("slow") and not with_slow):
            continue
        name, params = item.nodeid.partition("[")[0], getattr(getattr(item, "callspec", None), "params", {})
        # By identity: not every parameter can be compared, and pytest's own indices are not stable.
        others = (name, *((key, id(value)) for key, value in sorted(params.items()) if key != "seed"))
        if "seed" in params and others in seen:
            continue
        seen.add(others)
        if thin := item.get_closest_marker("thin"):
            cases[name] += 1
            if cases[name] % thin.args[0] != 1:
                continue
        kept.append(item)
    return kept


@pytest.fixture(scope="session")
def short(request):
    """Whether fewer passes and deaths will do; `pytest --full` does all of them."""
    return not request.config.getoption("--full")


@pytest.fixture(scope="module")
def few_starts(short):
    """Start fits to small tables as often as those to large ones, where tests ask for something else."""
    with pytest.MonkeyPatch.context() as patch:
        if short:
            patch.setattr("hiddenbits.families._base.estimator.SMALL_TABLE_FLOPS", 0)
        yield


@pytest.fixture
def real_data():
    """The folder of real tables; tests that need it are skipped where it is not at hand."""
    folder = os.environ.get("HIDDENBITS_DATA")
    if not folder:
        pytest.skip("HIDDENBITS_DATA is not set: the real tables are not part of the project")
    return Path(folder)
