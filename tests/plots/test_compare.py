"""The picture of a comparison, checked through what was drawn."""

import numpy as np
import pytest

from hiddenbits import IndependentColumns, LatentClassAnalysis, LogisticPCA, evaluate, plots
from hiddenbits.datasets import simulate_mixture


@pytest.mark.slow
def test_marks_stand_where_the_table_says():
    X = simulate_mixture(400, 8, 3, random_state=0).X
    maps = LogisticPCA(4, n_draws=20, tol=1e-2, random_state=0)
    models = {"$a$": LatentClassAnalysis(3, random_state=0), "none": IndependentColumns(), "map": maps}
    found = evaluate.compare(X, models, sizes={"$a$": [3], "map": []}, measures=())
    ax = plots.compare(found, n_errors=1.5)
    marks = [container.lines[0] for container in ax.containers]
    np.testing.assert_array_equal([m.get_xdata()[0] for m in marks], [e.difference for e in found.entries])
    np.testing.assert_array_equal([m.get_ydata()[0] for m in marks], [0, 1, 2])
    hollow = [m.get_markerfacecolor() == "none" for m in marks]
    assert hollow == [e.kind != "exact" for e in found.entries]
    assert any(hollow)
    (bar,) = ax.containers[1].lines[2]
    ends = bar.get_segments()[0][:, 0]
    entry = found.entries[1]
    np.testing.assert_allclose(ends, entry.difference + 1.5 * entry.difference_error * np.array([-1, 1]))
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert "$a$ (3)" in names
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())


def test_the_named_family_is_a_diamond():
    """An estimator under two names is even with itself, with equally many parameters: the first is named."""
    X = simulate_mixture(300, 6, 2, random_state=1).X
    models = dict.fromkeys(["first", "second"], LatentClassAnalysis(2, random_state=0))
    found = evaluate.compare(X, models, sizes={key: [] for key in models}, measures=(), cv=0.3)
    assert (found.best, len(found.ties())) == ("first", 2)
    marks = [container.lines[0].get_marker() for container in plots.compare(found).containers]
    assert marks == ["D" if entry.model == found.best else "o" for entry in found.entries]
