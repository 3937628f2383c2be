"""`tetrachoric` as users meet it: any table, anywhere it runs, frames, warnings, refusals; and R's psych."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse

from hiddenbits import open_table, run_on, tetrachoric
from hiddenbits.data import Table
from hiddenbits.exceptions import DegeneratePairsWarning, TableError
from hiddenbits.families.tetrachoric import TetrachoricCorrelations
from hiddenbits.maths import pair_counts
from tests.contracts.conftest import MASKS, STORAGES, NotResident, table_of

pytestmark = pytest.mark.core

# psych 2.2.9 (R 4.2.2), tetrachoric(x, smooth = FALSE, global = FALSE): the first row of the matrix.
PSYCH = {
    "lsat": [0.1703045, 0.2275272, 0.1071868, 0.0665011],
    "sat12_binary": [
        *(0.2442219, 0.3340602, 0.2476172, 0.1516730, 0.3611858, 0.1602359, 0.2579446, 0.2372988, 0.0915100, 0.1063075),
        *(0.0434408, 0.1855495, 0.2773864, 0.1988233, 0.2559597, 0.1491987, 0.3074732, 0.1842817, 0.1374307, 0.0800876),
        *(0.2184594, 0.1983480, 0.2024019, 0.2183975, 0.2541891, 0.2831311, 0.2459464, 0.3342391, -0.0725801),
        *(0.3346411, 0.1264058),
    ],
    "psych_ability": [
        *(0.4510183, 0.6145694, 0.4623832, 0.4450793, 0.3676941, 0.4593313, 0.4688742, 0.4028150, 0.3880131, 0.3850361),
        *(0.2734753, 0.4779206, 0.4927377, 0.4452160, 0.4350840),
    ],
}


def structured(seed, n, d, missing=0.0):
    """Bits from two latent dimensions, some cells missing."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + rng.standard_normal((n, d))
    rows = (hidden > rng.uniform(-1, 1, d)).astype(float)
    rows[rng.random((n, d)) < missing] = np.nan
    return rows


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 64 rows, so that a small table has many."""
    for name in ("SHORTEST", "TALL", "TALLEST"):
        monkeypatch.setattr(pair_counts, name, 64)


def same(found, other, *, exactly=True):
    for one, two in ((found.counts, other.counts), (found.fit, other.fit)):
        for name, array in one.to_arrays().items():
            if exactly:
                np.testing.assert_array_equal(array, getattr(two, name))
            else:
                np.testing.assert_allclose(
                    np.broadcast_to(array, getattr(two, name).shape), getattr(two, name), atol=1e-11
                )


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("mask", MASKS)
def test_storages_and_executors(storage, mask, small_blocks):
    """Serial, threads, parts loaded again, every storage and mask: the same bits, and those of plain NumPy."""
    rows = structured(1, 1000, 6, 0.0 if mask == "full" else 0.1)
    plain = tetrachoric(rows)
    x, o = np.nan_to_num(rows).astype(np.int64), (~np.isnan(rows)).astype(np.int64)
    np.testing.assert_array_equal(plain.counts.both, x.T @ x)
    np.testing.assert_array_equal(np.broadcast_to(plain.counts.ones, (6, 6)), x.T @ o)
    np.testing.assert_array_equal(np.broadcast_to(plain.counts.seen, (6, 6)), o.T @ o)
    table = table_of(rows, storage, mask)
    same(tetrachoric(table), plain)
    with run_on(n_jobs=3):
        same(tetrachoric(table), plain)
        same(tetrachoric(Table(NotResident(table.source), part_bytes=500)), plain)


def test_weights_are_repeated_rows(small_blocks):
    """Whole weights exactly; on top of the table's own; a weight of 0 leaves a row out."""
    rows, weights = structured(2, 300, 5, 0.1), np.random.default_rng(0).integers(0, 4, 300)
    repeated = tetrachoric(np.repeat(rows, weights, axis=0))
    same(tetrachoric(rows, sample_weight=weights), repeated)
    table = open_table(rows)
    same(tetrachoric(table.with_weights(weights)), repeated)
    same(
        tetrachoric(table.with_weights(weights), sample_weight=np.full(300, 2.0)),
        tetrachoric(rows, sample_weight=2 * weights),
    )
    scaled = tetrachoric(rows, sample_weight=0.7 * weights)
    np.testing.assert_allclose(scaled.correlation, repeated.correlation, rtol=0, atol=1e-12)
    np.testing.assert_allclose(scaled.standard_error, repeated.standard_error / np.sqrt(0.7), rtol=1e-10)


def test_missing_cells_are_left_out_pair_by_pair():
    """Each pair is as if the table had only the rows in which both were observed."""
    rows = structured(3, 400, 4, 0.2)
    found = tetrachoric(rows)
    for i in range(4):
        for j in range(i):
            both = ~np.isnan(rows[:, [i, j]]).any(axis=1)
            alone = tetrachoric(rows[both][:, [i, j]])
            assert found.correlation[i, j] == pytest.approx(alone.correlation[0, 1], rel=1e-12)
            assert found.standard_error[i, j] == pytest.approx(alone.standard_error[0, 1], rel=1e-12)
            assert found.p_value[i, j] == pytest.approx(alone.p_value[0, 1], rel=1e-12)
            np.testing.assert_array_equal(found.table(i, j), alone.table(0, 1))
    seen = [rows[~np.isnan(rows[:, j]), j] for j in range(4)]
    np.testing.assert_allclose(found.thresholds, [tetrachoric(np.stack([x, x[::-1]], 1)).thresholds[0] for x in seen])


def test_recovers_what_was_drawn():
    """Hidden correlations of a known matrix, within 4.5 standard errors each; thresholds too."""
    C = np.array([[1.0, 0.6, -0.3, 0.0], [0.6, 1.0, 0.2, 0.5], [-0.3, 0.2, 1.0, 0.7], [0.0, 0.5, 0.7, 1.0]])
    cuts = np.array([0.3, -0.8, 1.2, 0.0])
    for seed in range(3):
        hidden = np.random.default_rng(seed).standard_normal((20_000, 4)) @ np.linalg.cholesky(C).T
        found = tetrachoric(hidden > cuts)
        off = ~np.eye(4, dtype=bool)
        assert np.all(np.abs(found.correlation - C)[off] < 4.5 * found.standard_error[off])
        assert np.all(found.standard_error[off] < 0.03)
        np.testing.assert_allclose(found.thresholds, cuts, rtol=0, atol=0.05)
        assert np.all(found.p_value[C > 0.1] < 1e-6)


@pytest.mark.parametrize("name", PSYCH)
def test_agrees_with_psych(name, real_data):
    """For pairs without an empty cell, to 1e-4: psych's optimizer stops at about 1e-5."""
    table = open_table(real_data / "survey" / f"{name}.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegeneratePairsWarning)  # SAT12 has a pair with an empty cell, in another row
        found = tetrachoric(table)
    assert min(found.table(0, j).min() for j in range(1, table.shape[1])) > 0
    np.testing.assert_allclose(found.correlation[0, 1:], PSYCH[name], rtol=0, atol=1e-4)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_in_a_frame_out(library):
    module = pytest.importorskip(library)
    rows = structured(4, 200, 3)
    columns = {name: rows[:, j].astype(np.int64) for j, name in enumerate("abc")}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    found, plain = tetrachoric(frame), tetrachoric(rows)
    assert found.names == ("a", "b", "c")
    matrices = [found.correlation, found.standard_error, found.p_value, *found.interval(0.9), found.nearest("higham")]
    truths = [plain.correlation, plain.standard_error, plain.p_value, *plain.interval(0.9), plain.nearest("higham")]
    for matrix, truth in zip(matrices, truths, strict=True):
        assert type(matrix) is type(frame)
        assert list(matrix.column_names if library == "pyarrow" else matrix.columns) == ["a", "b", "c"]
        np.testing.assert_array_equal(np.stack([np.asarray(matrix[name]) for name in "abc"], axis=1), truth)
    if library == "pandas":
        assert found.correlation.loc["a", "c"] == plain.correlation[0, 2]
    if library == "polars":
        assert type(tetrachoric(frame.lazy()).correlation) is type(frame)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(np.asarray(again.correlation["a"]), plain.correlation[:, 0])


def test_other_inputs():
    rows = structured(5, 100, 4)
    plain = tetrachoric(rows)
    same(tetrachoric(sparse.csr_array(rows)), plain)
    same(tetrachoric(open_table(np.packbits(rows.astype(bool), axis=1), packed=True, n_columns=4)), plain)
    same(tetrachoric(3.0 * rows - 1.0, threshold=0.5), plain)
    same(tetrachoric(rows.tolist()), plain)
    masked = np.ma.MaskedArray(rows, np.zeros_like(rows, bool))
    same(tetrachoric(masked), plain)
    assert repr(plain) == "<TetrachoricCorrelations of 4 columns: 6 pairs, 100 rows>"


def test_degenerate_pairs_are_said():
    rows = structured(6, 60, 4)
    rows[:, 1], rows[:, 3] = rows[:, 0], 1
    with pytest.warns(DegeneratePairsWarning) as caught:
        found = tetrachoric(open_table(rows, names=["a", "b", "c", "same"]))
    assert caught[0].filename == __file__
    said = str(caught[0].message)
    assert "1 of 4 columns do not vary ('same')" in said
    assert "1 of 6 pairs have an empty cell" in said
    assert "observed" not in said
    assert 0.9 < found.correlation[0, 1] < 1
    with pytest.warns(DegeneratePairsWarning, match=r"2 of 3 columns do not vary \(0, 2\)"):
        tetrachoric(np.array([[0, 1, 1], [0, 0, 1]]))
    apart = np.array(
        [[0, np.nan, 0], [1, np.nan, 1], [0, np.nan, 1], [1, np.nan, 0], *[[np.nan, 1, 0], [np.nan, 0, 1]] * 2]
    )
    with pytest.warns(DegeneratePairsWarning, match="1 of 3 pairs do not vary in the rows"):
        tetrachoric(apart)


@pytest.mark.parametrize("seed", range(3))
def test_standard_errors_of_rare_columns(seed):
    """P(1) = .02 in 100 rows: infinite just where a column has no ones, above 1 where the two are never 1 together."""
    X = (np.random.default_rng(seed).random((100, 40)) < 0.02).astype(float)
    with pytest.warns(DegeneratePairsWarning, match="do not vary"):
        found = tetrachoric(X)
    silent = X.sum(axis=0) == 0
    assert silent.any()
    pairs = ~np.eye(40, dtype=bool)
    assert np.array_equal(np.isinf(found.standard_error), (silent[:, None] | silent) & pairs)
    assert (found.correlation[np.isinf(found.standard_error)] == 0).all()
    low, high = found.interval(0.95)
    assert (low[np.isinf(found.standard_error)] == -1).all()
    assert (high[np.isinf(found.standard_error)] == 1).all()


def test_rare_columns_that_are_never_one_together():
    """Four ones each among 200 rows: the standard error is finite and says that anything is possible."""
    X = np.zeros((200, 2))
    X[:4, 0] = X[4:8, 1] = 1
    with pytest.warns(DegeneratePairsWarning, match="empty cell"):
        found = tetrachoric(X)
    assert found.correlation[0, 1] == pytest.approx(-0.5004, abs=1e-4)
    assert found.standard_error[0, 1] == pytest.approx(2.517, abs=1e-3)
    assert found.interval()[0][0, 1] < -0.999
    assert found.interval()[1][0, 1] > 0.999
    assert found.p_value[0, 1] == pytest.approx(0.773, abs=1e-3)


def test_nearest():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegeneratePairsWarning)
        found = tetrachoric(np.random.default_rng(0).integers(0, 2, (12, 8)))
    assert np.linalg.eigvalsh(found.correlation).min() < -0.1
    for method in ("clip", "higham"):
        C = found.nearest(method, floor=1e-4)
        np.testing.assert_array_equal(np.diag(C), 1.0)
        assert np.linalg.eigvalsh(C).min() > 2e-5
    assert np.linalg.norm(found.nearest("higham") - found.correlation) < np.linalg.norm(
        found.nearest() - found.correlation
    )


def test_refusals(monkeypatch):
    rows = structured(8, 200, 3)
    wide = sparse.csr_array((3, 20_001))
    with pytest.raises(TableError, match=r"20001 columns.*3 GB.*at most 20000.*random sample.*LogisticPCA"):
        tetrachoric(wide)
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="pseudo_rows="):
            tetrachoric(rows, pseudo_rows=wrong)
    with pytest.raises(ValueError, match="smooth='some' is not one of"):
        tetrachoric(rows, smooth="some")
    with pytest.raises(TableError, match="row 0, column 1: 2"):
        tetrachoric(np.array([[0, 2], [1, 0]]))
    with pytest.raises(TypeError, match="already open"):
        tetrachoric(open_table(rows), threshold=0.5)
    with pytest.raises(TableError, match="a table of real numbers"):
        tetrachoric(open_table(np.array([[0.5, 1.0], [2.5, 0.0]]), reals=True))
    found = tetrachoric(rows)
    with pytest.raises(ValueError, match="level=1"):
        found.interval(1.0)
    with pytest.raises(ValueError, match="method='best' is not one of"):
        found.nearest("best")
    with pytest.raises(ValueError, match="floor=1"):
        found.nearest(floor=1.0)
    monkeypatch.setattr("hiddenbits.families.tetrachoric.HIGHAM_ITERATIONS", 1)
    with pytest.warns(UserWarning, match="not reached within 1 iterations"):
        TetrachoricCorrelations(
            type(found.fit)(
                np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]),
                *list(found.fit.to_arrays().values())[1:],
            ),
            found.counts,
        ).nearest("higham")
