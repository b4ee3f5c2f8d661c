"""What Python answers otherwise for a number than for an array is refused, where it is asked of a field."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import pytest

from cdl import algebra, annotate, cata, CdlError, fmap, fold, Fork, inherit, Leaf, MealyF, pack, run, TreeF, unfold


TREES = [Leaf(True), Fork(Leaf(True), Leaf(False))]
SHARP = True
ONES = jnp.ones(2)


class Switch(eqx.Module):
    on: Any


def in_a_pattern(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(True):
            return 1.0
        case Leaf():
            return 0.0
        case Fork(left, right):
            return left + right


def in_a_keyword_of_a_pattern(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Fork(left, right):
            return left + right
        case Leaf(label=False):
            return 1.0
    return 0.0


def of_the_kind_in_a_pattern(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(bool(label)):
            return 1.0 * label
        case Fork(left, right):
            return left + right
    return 5.0


def in_a_match_of_a_field(layer: TreeF[Any, Any]) -> Any:
    if isinstance(layer, Fork):
        return layer.left + layer.right
    match layer.label:
        case True:
            return 1.0
    return 0.0


def by_is(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Fork(left, right):
            return left + right
        case Leaf(label):
            return 1.0 if label is True else 0.0


def by_isinstance(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Fork(left, right):
            return left + right
        case Leaf(label):
            return 1.0 if isinstance(label, (float, bool)) else 0.0


def by_isinstance_of_an_attribute(layer: TreeF[Any, Any]) -> Any:
    if isinstance(layer, Leaf):
        label = layer.label
        return (lambda: 1.0 if isinstance(label, int | float) else 0.0)()
    return layer.left + layer.right


def by_type(layer: TreeF[Any, Any]) -> Any:
    if isinstance(layer, Leaf):
        return 1.0 if type(layer.label) in (int, bool) else 0.0
    return layer.left + layer.right


def of_a_child(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Fork(left, right):
            return left + right if isinstance(left, float) else 0.0
        case Leaf(label):
            return 1.0 * label


CASES = [
    *(in_a_pattern, in_a_keyword_of_a_pattern, of_the_kind_in_a_pattern, in_a_match_of_a_field, by_is),
    *(by_isinstance, by_isinstance_of_an_attribute, by_type, of_a_child),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_fold_refuses_what_python_would_answer_otherwise(case: Callable[[Any], Any]):
    alg = algebra(case)
    assert cata(alg)(TREES[1]) != 5.0
    with pytest.raises(
        CdlError, match=rf"`{case.__name__}` asks whether a number is .* at line \d+ of .*test_kinds.py"
    ):
        fold(alg, pack(TreeF, TREES))


class Sharp(eqx.Module):
    """Asks of its own settings, of a global and of what is no field, which have one answer in both forms."""

    rate: float
    on: bool

    def __call__(self, layer: TreeF[Any, Any]) -> Any:
        rates = [r for r in (self.rate, "none") if isinstance(r, float)]
        if isinstance(self.rate, float) and self.on is True and SHARP is True and type(self.rate) is float:
            rates += [float(twice(2))]
        match layer:
            case Leaf(label):
                return jnp.where(label, sum(rates), jnp.zeros(2, dtype=float))
            case Fork(left, right):
                assert isinstance(layer, Fork)
                return left - right
        raise TypeError(layer)


def twice(x: int) -> int:
    """A helper of its own kind."""
    return 2 * x if isinstance(x, int) else x


def test_questions_of_anything_else_are_asked_as_before():
    assert (fold(Sharp(3.0, True), pack(TreeF, TREES)) == jnp.stack([cata(Sharp(3.0, True))(t) for t in TREES])).all()


def test_the_other_compiled_forms_refuse_them_too():
    refused = {
        "annotate": lambda: annotate(algebra(in_a_pattern), pack(TreeF, TREES)),
        "inherit": lambda: inherit(
            lambda x, layer: fmap(lambda _: in_a_pattern(layer), layer), pack(TreeF, TREES), ONES
        ),
        "unfold": lambda: unfold(lambda s: Leaf(1.0 if s.on is True else 0.0), Switch(jnp.array([True])), 1),
        "run": lambda: run(lambda s: MealyF(lambda i: (i, s if s.on is True else None)), Switch(jnp.array(True)), ONES),
    }
    for form in refused.values():
        with pytest.raises(CdlError, match=r"asks whether a number is `True` itself"):
            form()
