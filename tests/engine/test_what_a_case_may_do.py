"""The rules of a case: payloads are arrays, a case reads its algebra, and JAX's own errors come through with a note."""

import enum
import functools
import gc
import weakref
from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl import Algebra, algebra, Base, cata, CdlError, fmap, fold, inherit, Many, pack
from cdl.errors import CarrierMismatch
from cdl.schemes import product


X = TypeVar("X", covariant=True)


class Op(enum.Enum):
    ADD = "add"


class Text:
    """Words, flags and sums."""


class Word(Base[Text, Never]):
    word: int
    weight: float
    flag: bool


class Sum(Base[Text, X], Generic[X]):
    left: X
    right: X


class Some(Base[Text, X], Generic[X]):
    parts: Many[X]


TextF = Union[Word, Sum[X], Some[X]]
TREES = [
    Sum(Word(1, 0.5, True), Sum(Word(2, -1.5, False), Word(3, 2.0, True))),
    Some(Many([Word(3, 1.0, False), Word(1, 3.0, True)])),
]
FOREST = pack(TextF, TREES)


def reads(word: Callable[[Any, Any, Any], Any]) -> Any:
    """The algebra that reads a word so, and adds what is below."""

    @algebra
    def alg(layer: Any) -> Any:
        match layer:
            case Word(index, weight, flag):
                return word(index, weight, flag)
            case Sum(left, right):
                return jax.tree.map(jnp.add, left, right)
            case Some(parts):
                return parts.sum()

    return alg


WORKS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "arithmetic": lambda i, w, f: w**2 / (1 + abs(w)) - 2 * w,
    "where": lambda i, w, f: jnp.where(f, w, jnp.exp(w)),
    "an index": lambda i, w, f: w * jnp.array([0.0, 1.0, 4.0, 9.0])[i],
    "cond": lambda i, w, f: jax.lax.cond(f, jnp.sin, lambda w: w / 2, w),
    "scan": lambda i, w, f: jax.lax.scan(lambda c, x: (c * x + w, None), w, jnp.arange(3.0))[0],
    "jit, checkpoint, vmap": lambda i, w, f: (
        jax.jit(jnp.tanh)(w) + jax.checkpoint(jnp.cos)(w) + jax.vmap(jnp.sin)(w[None])[0]
    ),
    "a grad inside": lambda i, w, f: jax.grad(lambda w: jnp.sin(w) * w)(w),
    "a Python number": lambda i, w, f: 2.5,
    "a dictionary": lambda i, w, f: {"b": w, "a": 2 * w},
    "casts": lambda i, w, f: i.astype(float) + f.astype(float) * w,
}


@pytest.mark.parametrize("name", WORKS)
def test_fold_is_cata_at_the_trees_of_the_forest(name: str):
    alg = reads(WORKS[name])
    found = fold(alg, FOREST)
    for t, tree in enumerate(FOREST.trees()):
        for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(cata(alg)(tree)), strict=True):
            np.testing.assert_allclose(x[t], y, rtol=1e-5)


def compares(layer: Any) -> Any:
    return layer.weight if isinstance(layer, Word) and layer.word == "so" else 0.0


def is_in(layer: Any) -> Any:
    match layer:
        case Word(word, weight, _):
            return weight if word in ("so", "no") else 0.0
    return 0.0


def a_member(layer: Any) -> Any:
    match layer:
        case Word(word, weight, _):
            return weight if word == Op.ADD else 0.0
    return 0.0


def a_pattern(layer: Any) -> Any:
    match layer:
        case Word("so" | "no", weight, _):
            return weight
    return 0.0


def a_member_pattern(layer: Any) -> Any:
    match layer:
        case Word(Op.ADD, weight, _):
            return weight
    return 0.0


def a_flag(layer: Any) -> Any:
    match layer:
        case Word(_, weight, True):
            return weight
    return 0.0


def by_keyword(layer: Any) -> Any:
    match layer:
        case Word(flag=False):
            return 1.0
    return 0.0


def is_true(layer: Any) -> Any:
    match layer:
        case Word(_, weight, flag):
            return weight if flag is True else 0.0
    return 0.0


def a_kind(layer: Any) -> Any:
    match layer:
        case Word(word, weight, _):
            return weight if isinstance(word, int | float) or isinstance(word, (int, float)) else 0.0
    return 0.0


def a_kind_pattern(layer: Any) -> Any:
    match layer:
        case Word(int(word), _, _):
            return word
    return 0


def a_nested_match(layer: Any) -> Any:
    match layer:
        case Word(word, weight, _):
            match word:
                case Op.ADD:
                    return weight
    return 0.0


def a_union(layer: Any) -> Any:
    match layer:
        case Word(_, weight, _):
            return weight if isinstance(weight, int | float) else 0.0
    return 0.0


class InAModule(Algebra[Any, Any]):
    by: float

    def __call__(self, layer: Any) -> Any:
        match layer:
            case Word("so"):
                return self.by
        return 0.0


NEVER = [compares, is_in, a_member, a_pattern, a_member_pattern, a_flag, by_keyword, is_true, a_kind, a_kind_pattern]
NEVER += [a_nested_match, a_union]


@pytest.mark.parametrize("case", [*NEVER, InAModule(1.0)], ids=lambda case: getattr(case, "__name__", "module"))
def test_fold_raises_for_what_an_array_always_denies(case: Any):
    name = "InAModule.__call__" if isinstance(case, Algebra) else case.__name__
    with pytest.raises(CdlError, match=rf"`{name}` asks whether a payload is.*at line \d+ of test_what"):
        fold(case if isinstance(case, Algebra) else algebra(case), FOREST)


def test_every_algebra_of_a_call_is_looked_at():
    def down(value: Any, layer: Any) -> Any:
        match layer:
            case Word("so"):
                return layer
        return fmap(lambda _: value, layer)

    for call in (
        lambda: fold(product(algebra(compares), reads(lambda i, w, f: w)), FOREST),
        lambda: inherit(down, FOREST, jnp.zeros(2)),
    ):
        with pytest.raises(CdlError, match="asks whether a payload is"):
            call()


def test_a_name_that_is_used_again_is_no_payload():
    @algebra
    def twice(layer: Any) -> Any:
        match layer:
            case Word(_, weight, _):
                return sum(weight / 2 if half == "half" else weight for half in ("half", "whole"))
            case Sum(half, other):
                return half + other
            case Some(parts):
                return parts.sum()

    assert fold(twice, FOREST).tolist() == [1.5, 6.0]


def test_an_algebra_is_not_kept_by_the_cache():
    array = jnp.ones(3)
    alive = weakref.ref(array)

    def scaled(array: jax.Array) -> Any:
        @algebra
        def alg(layer: Any) -> Any:
            match layer:
                case Word(_, weight, _):
                    return weight * array.sum()
                case Sum(left, right):
                    return left + right
                case Some(parts):
                    return parts.sum()

        return alg

    fold(scaled(array), FOREST)
    del array
    gc.collect()
    assert alive() is None


def test_fold_does_not_ask_of_settings_or_of_layers():
    mode = "so"

    @algebra
    def settings(layer: Any) -> Any:
        if isinstance(layer, Word) and mode == "so" and type(layer).__name__ == "Word":
            return layer.weight
        return layer.left + layer.right if isinstance(layer, Sum) else layer.parts.sum()

    assert fold(settings, FOREST).shape == (2,)


def test_fold_finds_nothing_where_there_is_no_source():
    scope: dict[str, Any] = {"Word": Word}
    exec("def no_source(layer):\n    return 1.0 if getattr(layer, 'word', 0) == 'so' else 0.0", scope)
    assert fold(algebra(scope["no_source"]), FOREST).tolist() == [0.0, 0.0]


BRANCHES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "if": lambda i, w, f: w if w > 0 else -w,
    "max": lambda i, w, f: max(w, 0.0),
    "float": lambda i, w, f: float(w),
    "a loop": lambda i, w, f: sum(w for _ in range(i)),
    "numpy": lambda i, w, f: np.tanh(w),
    "a table": lambda i, w, f: {1: w, 2: w, 3: w}[i],
}


@pytest.mark.parametrize("name", BRANCHES)
def test_fold_notes_the_case_below_the_error_of_jax(name: str):
    with pytest.raises((jax.errors.JAXTypeError, TypeError)) as caught:
        fold(reads(BRANCHES[name]), FOREST)
    (note,) = (x for x in caught.value.__notes__ if x.startswith("cdl called"))
    assert "`alg` for `Word(word=i32[], weight=f32[], flag=bool[])`" in note


def test_fold_notes_the_shapes_of_children():
    @algebra
    def narrow(layer: Any) -> Any:
        return jnp.zeros(4) if isinstance(layer, Word) else jnp.zeros((3, 3)) @ getattr(layer, "left", jnp.zeros(3))

    with pytest.raises(TypeError, match="contracting") as caught:
        fold(narrow, FOREST)
    assert "`narrow` for `Sum(left=f32[4], right=f32[4])`" in "".join(caught.value.__notes__)


def test_python_numbers_take_the_type_of_the_other_cases():
    alg = reads(lambda i, w, f: 1)
    assert fold(alg, FOREST).dtype == jnp.int32
    half = pack(TextF, TREES, dtype=jnp.bfloat16)

    @algebra
    def scaled(layer: Any) -> Any:
        match layer:
            case Word(_, weight, _):
                return weight
            case Sum():
                return 0.0
            case Some(parts):
                return 2 * parts.max()

    assert fold(scaled, half).dtype == jnp.bfloat16
    mixed = algebra(lambda layer: layer.word if isinstance(layer, Word) else jnp.float32(1))
    with pytest.raises(CarrierMismatch, match=r"Word.*i32\[\]"):
        fold(mixed, FOREST)


def test_a_closed_over_array_is_an_input_and_has_a_gradient():
    weight, traced = jnp.array(2.0), []

    @algebra
    def scaled(layer: Any) -> Any:
        traced.append(0)
        match layer:
            case Word(_, w, _):
                return weight * w
            case Sum(left, right):
                return left + right
            case Some(parts):
                return parts.sum()

    first, count = fold(scaled, FOREST), len(traced)
    weight = jnp.array(3.0)
    np.testing.assert_allclose(fold(scaled, FOREST), 1.5 * first)
    assert len(traced) == count

    def loss(x: jax.Array) -> jax.Array:
        return fold(reads(lambda i, w, f: x * w), FOREST).sum()

    sums = np.array([1.0, 4.0])
    assert jax.grad(loss)(weight) == sums.sum()
    assert jax.jit(jax.grad(loss))(weight) == sums.sum()


def test_anything_else_stays_until_the_algebra_is_another_object():
    table = [2.0]
    make = lambda: reads(lambda i, w, f: table[0] * w)
    alg = make()
    first = fold(alg, FOREST)
    table[0] = 3.0
    np.testing.assert_allclose(fold(alg, FOREST), first)
    np.testing.assert_allclose(fold(make(), FOREST), 1.5 * first)


def test_an_algebra_with_other_weights_is_not_traced_again():
    traced = []

    class Net(Algebra[Any, jax.Array]):
        cell: eqx.nn.Linear

        def __call__(self, layer: Any) -> jax.Array:
            traced.append(0)
            match layer:
                case Word(_, w, _):
                    return self.cell(w)
                case Sum(left, right):
                    return left + right
                case Some(parts):
                    return parts.sum()

    make = lambda i: Net(eqx.nn.Linear("scalar", 2, key=jr.key(i)))
    fold(make(0), FOREST)
    count = len(traced)
    fold(make(1), FOREST)
    assert len(traced) == count


def test_a_partial_is_read_too():
    scaled = functools.partial(lambda by, i, w, f: by * w, jnp.array(2.0))
    assert fold(reads(scaled), FOREST).tolist() == [2.0, 8.0]


def test_prints_come_once_for_each_row_at_least(capfd: pytest.CaptureFixture[str]):
    def word(i: Any, w: Any, f: Any) -> Any:
        jax.debug.print("word {i}", i=i)
        return w

    jax.block_until_ready(fold(reads(word), FOREST))
    jax.effects_barrier()
    lines = capfd.readouterr().out.splitlines()
    assert {*lines} == {"word 1", "word 2", "word 3"}
    assert len(lines) >= 5


def test_a_part_that_nothing_reads_has_a_gradient_of_zero():
    class Net(Algebra[Any, Any]):
        weight: jax.Array

        def __call__(self, layer: Any) -> Any:
            match layer:
                case Word(_, w, _):
                    return self.weight * w, jnp.exp(self.weight)
                case Sum((left, _), _):
                    return left, self.weight
                case Some(parts):
                    return parts.map(lambda x: x[0]).sum(), self.weight

    gradient = eqx.filter_grad(lambda net: fold(net, FOREST)[0].sum())(Net(jnp.array(2.0)))
    assert gradient.weight == 0.5 + 4.0
