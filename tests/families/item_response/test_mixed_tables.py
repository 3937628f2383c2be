"""Items of every type in one table: likelihood by integration, scores, information, EM, and what takes the model."""

import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.exceptions import ConvergenceWarning

import hiddenbits
from hiddenbits import ItemResponseModel, inference
from tests.families.item_response.items import TYPES, log_likelihood_at, mixed_frame

pd = pytest.importorskip("pandas")

PATTERN = {"a": ["b0", "o", "y"], "b": ["b1", "n", "c", "y"]}
MODELS = {
    "free": {},
    "partial credit": {"ordinal": "partial_credit"},
    "equal": {"slopes": "equal"},
    "fixed": {"slopes": 1},
    "guessing": {"guessing": True},
    "two dimensions": {"n_components": 2},
    "pattern": {"loadings_pattern": PATTERN, "correlated": True, "ordinal": "partial_credit"},
    "bifactor": {"loadings_pattern": {"g": "all", "A": ["b0", "o", "y"], "B": ["n", "c"]}},
}


def fitted(frame, max_iter=8, **options):
    """A model some iterations from its start: what is tested holds at any parameters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ItemResponseModel(column_types=TYPES, max_iter=max_iter, random_state=0, **options).fit(frame)


def answers(model, frame):
    """The levels (-1: missing) and numbers of some rows, by the model's coding."""
    coding = model.coding_
    by_name = {column.name: column for column in coding.columns}
    levels = []
    for name in ("b0", "b1", "o", "n"):
        values = [str(value) for value in by_name[name].ones] if name in ("o", "n") else ["0", "1"]
        cells = [None if pd.isna(v) else f"{v:g}" if isinstance(v, float) else str(v) for v in frame[name]]
        levels.append([-1 if cell is None else values.index(cell) for cell in cells])
    return np.array(levels).T, frame[["y", "c"]].to_numpy(float)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["free", "partial credit", "guessing"])
def test_likelihood_and_moments_equal_integrals(name, seed):
    frame = mixed_frame(200, seed)
    model = fitted(frame, **MODELS[name])
    rows = frame.iloc[:12]
    levels, numbers = answers(model, rows)
    logs, moments = model.score_samples(rows), model.transform(rows, return_cov=True)
    for n in range(len(rows)):

        def density(z, power, n=n):
            return z**power * np.exp(log_likelihood_at(model._params, levels[n], numbers[n], np.array([z])) - z * z / 2)

        mass, first, second = (quad(density, -9, 9, (power,), epsabs=1e-13, limit=200)[0] for power in range(3))
        assert logs[n] == pytest.approx(np.log(mass / np.sqrt(2 * np.pi)), abs=1e-6)  # the nodes' error
        assert moments[0][n, 0] == pytest.approx(first / mass, abs=1e-5)
        assert moments[1][n, 0, 0] == pytest.approx(second / mass - (first / mass) ** 2, abs=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_scores_and_information_equal_differences(name):
    frame = mixed_frame(80)
    model = fitted(frame, max_iter=5, **MODELS[name])
    vector, step = model._free_parameters().vector, 1e-5
    gradients, information = model._row_gradients(frame), model._observed_information(frame)
    assert len(vector) == gradients.shape[1]
    for i in range(len(vector)):
        shift = np.zeros(len(vector))
        shift[i] = step
        up, down = model._with_vector(vector + shift), model._with_vector(vector - shift)
        slope = (up.score_samples(frame) - down.score_samples(frame)) / (2 * step)
        np.testing.assert_allclose(slope, gradients[:, i], atol=1e-6)
        curvature = -(up._row_gradients(frame) - down._row_gradients(frame)).sum(axis=0) / (2 * step)
        np.testing.assert_allclose(curvature, information[i], atol=1e-6 * np.abs(information).max())


def assert_at_maximum(model, table):
    """EM never fell but where nodes changed, and ended within .02 standard errors of where the gradient is zero."""
    assert (np.diff(model.trace_) < -1e-7).sum() <= 2
    free = model._free_parameters()
    gradient = model._row_gradients(table).sum(axis=0) + free.prior_gradient
    curvature = model._observed_information(table) + free.prior_curvature
    size, n_ties = len(gradient), len(free.ties)
    bordered = np.block([[curvature, free.ties.T], [free.ties, np.zeros((n_ties, n_ties))]])
    inverse = np.linalg.inv(bordered)[:size, :size]
    distance = np.abs(inverse @ gradient) / np.sqrt(np.diag(inverse))
    assert distance.max() < 0.02


@pytest.mark.parametrize(
    "name", [name for name, options in MODELS.items() if not {"n_components", "loadings_pattern"} & set(options)]
)
def test_em_ends_where_the_gradient_is_zero(name):
    frame = mixed_frame(300)
    model = ItemResponseModel(column_types=TYPES, tol=1e-10, random_state=0, **MODELS[name]).fit(frame)
    assert_at_maximum(model, frame)


@pytest.mark.parametrize(
    "options",
    [
        {"n_components": 2},
        {"loadings_pattern": {"a": range(6), "b": range(6, 12)}, "correlated": True},
        {"loadings_pattern": {"g": "all", "a": range(4), "b": range(4, 8)}},
    ],
)
def test_em_ends_at_a_maximum_in_several_dimensions(options):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(800, 3)) @ np.array([[1.0, 0.5, 0.5], [0.0, 0.9, 0.0], [0.0, 0.0, 0.9]])
    eta = 1.7 * z[:, np.repeat([0, 1, 2], 4)] + rng.normal(size=12)
    X = (rng.random(eta.shape) < 1 / (1 + np.exp(-eta))).astype(float)
    options = {
        key: {n: v if v == "all" else list(v) for n, v in value.items()} if key == "loadings_pattern" else value
        for key, value in options.items()
    }
    assert_at_maximum(ItemResponseModel(tol=1e-9, random_state=0, **options).fit(X), X)


@pytest.mark.parametrize("name", MODELS)
def test_files_rows_and_samples(name, tmp_path):
    frame = mixed_frame(120)
    model = fitted(frame, **MODELS[name])
    model.save(tmp_path / "model.hb")
    again = hiddenbits.load(tmp_path / "model.hb")
    np.testing.assert_array_equal(again.score_samples(frame), model.score_samples(frame))
    completed = model.complete(frame)
    assert not completed.isna().any().any()
    observed = frame.notna()
    assert (completed["b1"][observed["b1"]] == frame["b1"][observed["b1"]]).all()
    rows, positions = model.sample(50, return_latent=True, random_state=1)
    assert list(rows.columns) == list(frame.columns)
    assert positions.shape == (50, len(model.get_feature_names_out()))
    assert model.inverse_transform(positions).shape == (50, 2 + 4 + 3 + 2)
    assert str(model.summary())
    if name != "guessing":
        assert model.bic(frame) > model.aic(frame)


def test_standard_errors_have_names():
    frame = mixed_frame(300)
    model = ItemResponseModel(column_types=TYPES, tol=1e-10).fit(frame)
    result = inference.standard_errors(model, frame)
    assert set(result.se) == {"slopes", "intercepts", "number_slopes", "number_intercepts", "noise"}
    assert all((errors > 0).all() for errors in result.se.values())


def test_map_is_where_the_posterior_is_highest():
    frame = mixed_frame(100)
    model = fitted(frame)
    rows = frame.iloc[:10]
    levels, numbers = answers(model, rows)
    modes = model.latent_scores(rows, "MAP")
    grid = np.linspace(-4, 4, 8001)
    for n in range(len(rows)):
        heights = [
            log_likelihood_at(model._params, levels[n], numbers[n], np.array([z])) - z * z / 2
            for z in modes["dimension_1"][n] + np.array([-1e-4, 0.0, 1e-4])
        ]
        assert heights[1] >= max(heights[0], heights[2])
    assert np.abs(modes["dimension_1"]).max() < grid[-1]
    assert (modes["se_1"] > 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_plausible_values_have_the_moments_of_the_posterior(seed):
    frame = mixed_frame(400, seed)
    model = ItemResponseModel(column_types=TYPES, random_state=seed).fit(frame)
    means, covariances = model.transform(frame, return_cov=True)
    values = model.plausible_values(frame, 200)
    # 80,000 samples: the standard error of a variance is below .005
    total = means.var() + covariances.mean()
    assert values.var() == pytest.approx(total, rel=0.02)
    np.testing.assert_allclose(values.mean(axis=0), means, atol=6 * np.sqrt(covariances.max() / 200))
    spread = values.var(axis=0)[:, 0] / covariances[:, 0, 0]
    assert spread.mean() == pytest.approx(1.0, abs=0.02)
