import pytest


@pytest.fixture(autouse=True)
def _no_screen(few_starts):
    """Draw without a screen, and close what was drawn."""
    matplotlib = pytest.importorskip("matplotlib", reason="the plot extra is not installed")
    matplotlib.use("Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
