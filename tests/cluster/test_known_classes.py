"""Known classes, and values that did not occur in the fit, where workers read the rows from files."""

import warnings

import numpy as np
import pytest

from hiddenbits import LatentClassAnalysis, open_table, run_on
from hiddenbits.exceptions import UnknownValuesWarning

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("distributed", reason="the cluster extra is not installed")


def test_the_same_bits_and_one_warning(client, tmp_path):
    rng = np.random.default_rng(0)
    h = rng.integers(0, 3, 6000)
    p = rng.dirichlet(np.ones(5), (10, 3))
    answers = np.column_stack([[rng.choice(5, p=p[j, k]) for k in h] for j in range(10)])
    frame = pd.DataFrame(np.array(list("abcde"), object)[answers], columns=[f"q{j}" for j in range(10)])
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    frame.assign(q3=frame["q3"].replace("c", "zz")).to_parquet(tmp_path / "new.parquet", row_group_size=500)
    y = np.where(rng.random(6000) < 0.1, (h + 1) % 3, -1)
    model = LatentClassAnalysis(3, handle_unknown="missing", random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hiddenbits.data.named.parquet.open.SMALL_BYTES", 100)
        table = open_table(tmp_path / "rows.parquet", column_types="nominal", part_bytes=20_000)
        assert not table.source.resident
        here = model.fit(table, y)
        params = here._params.to_arrays()
        scores = here.score_samples(frame.assign(q3=frame["q3"].where(frame["q3"] != "c", None)))
        with run_on(client):
            there = model.fit(table, y)
            with warnings.catch_warnings(record=True, action="always") as caught:
                new = there.score_samples(tmp_path / "new.parquet")
    for name, array in there._params.to_arrays().items():
        assert np.array_equal(array, params[name]), name
    np.testing.assert_allclose(new, scores, rtol=1e-12)
    messages = [str(w.message) for w in caught if w.category is UnknownValuesWarning]
    n = f"{int((frame['q3'] == 'c').sum()):,}"
    assert messages == [
        f"{n} cells have values that did not occur in the fit and will count as missing: 'zz' ({n}) in 'q3'."
    ]
