"""What Python answers otherwise for a number than for an array is refused, where it is asked of a field."""

import collections.abc
import enum
import functools
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
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


REAL = int, float


class Colour(enum.IntEnum):
    RED = 1


class Pair(NamedTuple):
    a: float
    b: float


def by_a_local_name(v: Any) -> Any:
    kinds = (float, complex)
    return isinstance(v.label, kinds)


def by_what_is_computed(v: Any) -> Any:
    w = v.label
    w = 1 + (w * 2)
    return isinstance(w, float)


def by_what_is_taken_apart(v: Any) -> Any:
    w, _ = v.label * 2, 1
    return isinstance(w, float)


def in_a_loop(v: Any) -> Any:
    for w in (v.label, v.label):
        if isinstance(w, float):
            return True
    return False


def in_a_pattern_by_an_attribute(v: Any) -> Any:
    match v.label:
        case numbers.Real():
            return True
    return False


def by_an_argument(kinds: Any) -> Callable[[Any], Any]:
    return lambda v: isinstance(v.label, kinds)


# what is asked of a leaf, and which answer a number of Python gets
ASKS: dict[str, Callable[[Any], Any]] = {
    "an abstract class": lambda v: isinstance(v.label, numbers.Real),
    "a tuple by name": lambda v: isinstance(v.label, REAL),
    "a class of an outer function": by_an_argument(float),
    "an array of JAX": lambda v: isinstance(v.label, jax.Array),
    "arrays of NumPy": lambda v: isinstance(v.label, (np.ndarray, np.generic)),
    "a number of NumPy": lambda v: isinstance(v.label, np.float64),
    "a union": lambda v: isinstance(v.label, float | np.ndarray),
    "an enumeration": lambda v: isinstance(v.label, Colour),
    "what can be gone over": lambda v: isinstance(v.label, collections.abc.Iterable),
    "a computed value": lambda v: isinstance(v.label * 2, float),
    "a value that is named on the way": lambda v: isinstance(w := v.label * 2, float) and w > 0,
    "a scalar": lambda v: np.isscalar(v.label),
    "an array by Equinox": lambda v: eqx.is_array(v.label),
    "an attribute": lambda v: hasattr(v.label, "dtype"),
    "a type by name": lambda v: type(v.label) in REAL,
    "a type on the left": lambda v: float is type(v.label),
    "a subclass": lambda v: issubclass(type(v.label), numbers.Number),
    "in a list": lambda v: [w for w in (v.label, v.label) if isinstance(w, float)],
    "any of several": lambda v: any(isinstance(w, float) for w in (v.label, v.label)),
    **{f.__name__: f for f in (by_a_local_name, by_what_is_computed, by_what_is_taken_apart, in_a_loop)},
    "in_a_pattern_by_an_attribute": in_a_pattern_by_an_attribute,
}


@pytest.mark.parametrize("name", ASKS)
def test_a_question_is_known_by_what_it_names(name: str):
    asks = ASKS[name]
    alg = algebra(lambda x: jnp.where(bool(asks(x)), 1.0, 0.0) if isinstance(x, Leaf) else x.left + x.right)
    with pytest.raises(CdlError, match=r"asks whether a number is .* at line \d+ of .*test_kinds.py"):
        fold(alg, pack(TreeF, [Leaf(1.5)]))


ROWS = [0.5, 2]


def of_a_global(v: Any) -> Any:
    doubled = [w * 2 for w in ROWS if isinstance(w, float)]
    return sum(doubled) * v.label


def of_structure(v: Any) -> Any:
    pair = Pair(v.label, 1.0)
    assert isinstance(pair, tuple)
    assert type(pair) is Pair
    return 0.0 if isinstance(v.label, (tuple, dict, Pair, type(None))) else pair.a + pair.b


ALLOWED: dict[str, Callable[[Any], Any]] = {
    "of a global": of_a_global,
    "of structure": of_structure,
    "of none": lambda v: 0.0 if v.label is None else v.label,
    "a comparison with a number": lambda v: jnp.where(v.label > float("-inf"), 1.0, jnp.asarray(v.label, float)),
    "of any object": lambda v: v.label if isinstance(v.label, object) else 0.0,
    "of a shape": lambda v: v.label + jnp.ndim(v.label) if np.isscalar(len(ROWS)) else 0.0,
    "an attribute of both": lambda v: v.label if hasattr(v.label, "__add__") else 0.0,
}


@pytest.mark.parametrize("name", ALLOWED)
def test_questions_that_have_one_answer_are_allowed(name: str):
    alg = algebra(lambda x: ALLOWED[name](x) if isinstance(x, Leaf) else x.left + x.right)
    assert fold(alg, pack(TreeF, [Leaf(1.5)])).tolist() == [float(cata(alg)(Leaf(1.5)))]


@functools.singledispatch
def counted(x: Any) -> float:
    return 0.0


@counted.register
def _(x: bool) -> float:
    return 1.0


def by_dispatch(layer: TreeF[Any, Any]) -> Any:
    return counted(layer.label) if isinstance(layer, Leaf) else layer.left + layer.right


def test_a_function_that_dispatches_on_the_kind_of_a_number_is_refused():
    assert cata(algebra(by_dispatch))(TREES[0]) == 1.0
    with pytest.raises(CdlError, match=r"`by_dispatch` asks of which kind a number is, by `counted`, at line"):
        fold(algebra(by_dispatch), pack(TreeF, TREES))


class Sharp(eqx.Module):
    """Asks of its settings, of a global and of a layer, which have one answer in both forms."""

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
    """Asks of which kind its argument is."""
    return 2 * x if isinstance(x, int) else x


class Settled(eqx.Module):
    """Matches its own settings, in a method whose object has another name."""

    mode: Any

    def __call__(this, layer: TreeF[Any, Any]) -> Any:
        match this.mode:
            case int(n):
                times = float(n)
            case _:
                times = 3.0
        match (True, this.mode):
            case (True, float()):
                times += float(isinstance(this.mode, float))
        match layer:
            case Leaf(label):
                return jnp.where(label, times, 0.0)
            case Fork(left, right):
                return left - right
        raise TypeError(layer)


@pytest.mark.parametrize("mode", [2, 0.5])
def test_settings_are_matched_as_before(mode: Any):
    assert fold(Settled(mode), pack(TreeF, TREES)).tolist() == [float(cata(Settled(mode))(t)) for t in TREES]


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


def is_truth(x: Any) -> bool:
    return bool(x.dtype == bool)


def by_a_name_of_a_dtype(v: Any) -> bool:
    kind = v.label.dtype
    return kind in (bool, int)


OF_TYPES: dict[str, Callable[[Any], bool]] = {
    "of a dtype": lambda v: v.label.dtype == bool,
    "of several dtypes": lambda v: v.label.dtype in (bool, int),
    "of the kind of a dtype": lambda v: issubclass(v.label.dtype.type, np.bool_),
    "of a dtype in a function": lambda v: is_truth(v.label),
    "of a dtype with a name": by_a_name_of_a_dtype,
    "of a dtype and a shape": lambda v: isinstance(v.label.shape, tuple) and v.label.dtype == bool,
}


@pytest.mark.parametrize("name", OF_TYPES)
@pytest.mark.parametrize("value", [np.float32(1.5), np.bool_(True)])
def test_the_dtype_and_the_shape_of_a_field_may_be_read(name: str, value: Any):
    alg = algebra(lambda x: 1.0 if OF_TYPES[name](x) else 2.0)
    assert fold(alg, pack(TreeF, [Leaf(value)])).tolist() == [cata(alg)(Leaf(value))] == [2.0 - (value.dtype == bool)]


def by_isinstance(v: Any) -> float:
    return 1.0 if isinstance(v, int) else 2.0


def by_a_pattern(v: Any) -> float:
    match v:
        case bool() | int():
            return 1.0
        case _:
            return 2.0


NUMERIC = int, float
OF_THE_NUMBER: dict[str, Callable[[Any], Any]] = {
    "by isinstance": by_isinstance,
    "by a pattern": by_a_pattern,
    "by classes with a name": lambda v: 1.0 if isinstance(v, NUMERIC) else 2.0,
    "by a class of another module": lambda v: 1.0 if isinstance(v, jax.Array) else 2.0,
    "by a class in a collection": lambda v: 1.0 if isinstance(v, {"a": int}["a"]) else 2.0,
    "of what is computed": lambda v: 1.0 if isinstance(-v + 1, int) else 2.0,
    "of several": lambda v: sum(1.0 for x in (v, v) if isinstance(x, int)),
    "in a function inside": lambda v: jax.tree.map(lambda x: by_isinstance(x), v),
}


@pytest.mark.parametrize("name", OF_THE_NUMBER)
def test_a_function_that_is_given_the_number_itself_is_seen_when_it_asks(name: str):
    """No field is in sight there: the number is asked for its class."""
    asks = OF_THE_NUMBER[name]
    alg = algebra(lambda x: asks(x.label) if isinstance(x, Leaf) else x.left + x.right)
    with pytest.raises(CdlError, match="asks whether a number is of the kind"):
        fold(alg, pack(TreeF, [Fork(Leaf(3), Leaf(4))]))


def of_another_kind(v: Any) -> float:
    match v:
        case Leaf(_) | (_, _) | str() | None:
            return 1.0
        case _:
            return 3.0 if isinstance(v, list | str) else 2.0


def test_a_question_that_a_number_and_an_array_answer_alike_is_asked_as_before():
    alg = algebra(lambda x: of_another_kind(x.label) if isinstance(x, Leaf) else x.left + x.right)
    tree = Fork(Leaf(3), Leaf(4))
    assert fold(alg, pack(TreeF, [tree])).tolist() == [cata(alg)(tree)] == [4.0]
