"""Iterative logistic-regression imputation, the competitor: scikit-learn's chained equations on our fast regression.

Each column is regressed on all others, whose missing cells hold the last probabilities; the columns go round several
times. The regression is scikit-learn's `LogisticRegression` (L2 penalty 1/C, free intercept), solved by Newton steps on
rows or on columns, whichever are fewer: 645 columns of 102 rows would take minutes a round otherwise.
"""

import warnings
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  makes the next import possible
from sklearn.impute import IterativeImputer

STEPS = 50  # Newton steps at most; about six are taken


class Probability(RegressorMixin, BaseEstimator):
    """P(y = 1 | row) by penalised logistic regression; a regressor, because the imputer fills in what it predicts.

    Minimises C Sum log-loss + |w|^2/2 over w and b. With w = X'a it is a problem in one number a row.
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Probability":
        n, d = X.shape
        wide = d > n
        centre = X.mean(axis=0)  # the intercept is free, so that shifts change nothing but the condition
        Z = X - centre
        features, penalty = (Z @ Z.T, Z @ Z.T) if wide else (Z, np.eye(d))
        weights, intercept = newton(features, penalty, y, self.C)
        self.coef_ = Z.T @ weights if wide else weights
        self.intercept_ = intercept - centre @ self.coef_
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return sigmoid(X @ self.coef_ + self.intercept_)


def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-np.clip(a, -500.0, 500.0)))


def newton(F: np.ndarray, penalty: np.ndarray, y: np.ndarray, C: float) -> tuple[np.ndarray, float]:
    """Minimise C Sum [softplus(A) - y A] + v'(penalty)v/2, A = F v + b, by Newton steps that are halved if need be."""
    share = (y.sum() + 0.5) / (len(y) + 1.0)
    at = np.append(np.zeros(F.shape[1]), np.log(share / (1.0 - share)))
    if y.min() == y.max():
        return at[:-1], float(at[-1])  # a column of one value: its smoothed mean
    design = np.column_stack([F, np.ones(len(F))])
    curve = np.zeros((len(at), len(at)))
    curve[:-1, :-1] = penalty
    ridge = 1e-10 * max(1.0, float(np.trace(penalty)) / len(penalty))  # a kernel of centred rows is singular

    def loss(at: np.ndarray) -> float:
        A = design @ at
        return float(C * (np.logaddexp(0.0, A) - y * A).sum() + 0.5 * at @ curve @ at)

    best = loss(at)
    for _ in range(STEPS):
        p = sigmoid(design @ at)
        gradient = C * design.T @ (p - y) + curve @ at
        matrix = C * (design.T * (p * (1.0 - p))) @ design + curve
        matrix.flat[:: len(at) + 1] += ridge
        step = -cho_solve(cho_factor(matrix, check_finite=False), gradient, check_finite=False)
        gain, length = -gradient @ step, 1.0
        while (new := loss(at + length * step)) > best and length > 1e-6:
            length *= 0.5
        if new > best:
            break
        at, best = at + length * step, new
        if gain < 1e-8 * len(y) * C:
            break
    return at[:-1], float(at[-1])


def impute(X: np.ndarray, C: float, rounds: int) -> np.ndarray:
    """Return the table with P(bit = 1) in its missing cells; observed cells stay."""
    imputer: Any = IterativeImputer(
        Probability(C), max_iter=rounds, min_value=0.0, max_value=1.0, keep_empty_features=True, random_state=0
    )
    with warnings.catch_warnings():  # a few rounds are all that is asked for: README says what more would bring
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(imputer.fit_transform(X))
