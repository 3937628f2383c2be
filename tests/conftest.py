import os
from pathlib import Path

import pytest
from hypothesis import settings

# The continuous integration tries the same examples every time; at a desk new ones are tried.
settings.register_profile("here", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("here")


def pytest_addoption(parser):
    parser.addoption("--seeds", type=int, help="of tests repeated over seeds run so many, the first ones")


def pytest_collection_modifyitems(config, items):
    """Leave further seeds out where asked to: other versions of packages fail with the first seed or with none."""
    most = config.getoption("--seeds")
    if most is None:
        return
    seen = {}
    kept = []
    for item in items:
        given = getattr(item, "callspec", None)
        if given is not None and "seed" in given.params:
            # By identity: not every parameter can be compared, and pytest's own indices are not stable.
            others = [(name, id(value)) for name, value in sorted(given.params.items()) if name != "seed"]
            seeds = seen.setdefault((item.nodeid.partition("[")[0], *others), [])
            if len(seeds) >= most:
                continue
            seeds.append(given.params["seed"])
        kept.append(item)
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


@pytest.fixture
def short(request):
    """Whether fewer seeds, passes and deaths will do; `pytest` without --seeds does all of them."""
    return request.config.getoption("--seeds") is not None


@pytest.fixture
def real_data():
    """The folder of real tables; tests that need it are skipped where it is not at hand."""
    folder = os.environ.get("HIDDENBITS_DATA")
    if not folder:
        pytest.skip("HIDDENBITS_DATA is not set: the real tables are not part of the project")
    return Path(folder)
