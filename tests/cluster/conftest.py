import pytest

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")


def pytest_collection_modifyitems(items):
    """Let distributed close its sockets when Python collects them: that warning is not ours; fits here are short."""
    ours = ("unclosed:ResourceWarning", ":pytest.PytestUnraisableExceptionWarning", "Sending large graph")
    for item in items:
        if "cluster" in item.path.parts:
            for what in (*ours, ":sklearn.exceptions.ConvergenceWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{what}"))


@pytest.fixture(scope="session")
def cluster():
    """Two real worker processes and a scheduler, on loopback."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="2GiB"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="session")
def lone_worker():
    """One worker process with one thread: a task that waits for another task, and keeps the thread, waits for ever."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="2GiB"
    ) as cluster:
        yield cluster


@pytest.fixture
def lone_client(lone_worker):
    with distributed.Client(lone_worker) as client:
        yield client
