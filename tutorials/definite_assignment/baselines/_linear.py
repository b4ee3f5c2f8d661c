"""Logistic regression on sparse features, its strength chosen on the validation part."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool

from ._features import Features


STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


class Linear(NamedTuple):
    """A fitted model: features of a tree, the column of each that was seen in training, and the regression on them."""

    features: Features
    columns: dict[str, int]
    regression: Any

    def predict(self, trees: Sequence[Any]) -> Bool[np.ndarray, " n"]:
        """The answer for each tree."""
        return np.asarray(self.regression.predict(_matrix(map(self.features, trees), self.columns)), bool)

    def accuracy(self, trees: Sequence[Any], answers: Bool[np.ndarray, " n"]) -> float:
        """The share of trees that are answered rightly."""
        return float(np.mean(self.predict(trees) == answers))


def fit_linear(
    features: Features,
    trees: Sequence[Any],
    answers: Bool[np.ndarray, " n"],
    validation_trees: Sequence[Any],
    validation_answers: Bool[np.ndarray, " m"],
    strengths: Sequence[float] = STRENGTHS,
) -> Linear:
    """The logistic regression that is best on the validation part, among several strengths of regularisation.

    **Raises:** `ImportError` where scikit-learn is not installed; the extra `tutorials` has it.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise ImportError(
            "`fit_linear` needs scikit-learn, which is not installed: `pip install scikit-learn`."
        ) from error
    seen = [features(tree) for tree in trees]
    columns = {name: i for i, name in enumerate(sorted(set().union(*seen)))}
    rows = _matrix(seen, columns)
    regressions = [LogisticRegression(C=c, solver="liblinear", max_iter=2000) for c in strengths]
    models = [Linear(features, columns, regression.fit(rows, answers)) for regression in regressions]
    return max(models, key=lambda model: model.accuracy(validation_trees, validation_answers))


def _matrix(rows: Iterable[dict[str, float]], columns: dict[str, int]) -> Any:
    """The features as a sparse matrix, those without a column left out."""
    from scipy.sparse import csr_matrix

    known = [{columns[name]: amount for name, amount in row.items() if name in columns} for row in rows]
    starts = np.cumsum([0, *map(len, known)]).astype(np.int32)
    places = np.fromiter((column for row in known for column in row), np.int32)
    amounts = np.fromiter((amount for row in known for amount in row.values()), float)
    return csr_matrix((amounts, places, starts), shape=(len(known), len(columns)))
