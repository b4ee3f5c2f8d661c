"""`fold` and `annotate` of sequences are `cata` and `decorate` of each list, in value and in gradient."""

import functools
import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import close, differentiated, QUICKLY
from cells import elements, FromEnd, FromStart, Net, net, Noisy, NoisyFromStart

from cdl import algebra, annotate, cata, decorate, fold, ListF, Nil, Packed, Seq, to_list
from cdl.compiled import Scan
from cdl.functors import SnocF, to_snoc


LENGTHS = [1, 0, 4]
DIRECTIONS = {"from the end": (FromEnd, to_list), "from the start": (FromStart, to_snoc)}
NOISY = {"from the end": (Noisy, to_list), "from the start": (NoisyFromStart, to_snoc)}


def defined(make: Any, lists: Any, rows: list[Any], arrays: Any, lengths: list[int], time: int) -> Any:
    """The value of each list, and at each element's node, zero where there is none."""
    roots, every = [], []
    for row, n in zip(rows, lengths, strict=True):
        tree = lists([jax.tree.map(lambda x, t=t: x[t], row) for t in range(n)])
        node = decorate(make(arrays))(tree)
        values = []
        while (inner := _inner(node.tail)) is not None:
            values.append(node.head)
            node = inner
        values = values if lists is to_list else values[::-1]
        start = jax.tree.map(jnp.asarray, node.head)
        roots.append(start if not n else values[0 if lists is to_list else -1])
        nothing = jax.tree.map(jnp.zeros_like, start)
        every.append(jax.tree.map(lambda *xs: jnp.stack(xs), *values, *[nothing] * (time - n)))
    stacked = lambda trees: jax.tree.map(lambda *xs: jnp.stack(xs), *trees)
    return stacked(roots), stacked(every)


def _inner(layer: Any) -> Any:
    return getattr(layer, "tail", None) or getattr(layer, "init", None)


@functools.cache
def expected(what: str, name: str, direction: str, x64: bool) -> Any:
    """The definition's values and gradients."""
    with jax.enable_x64(x64):
        dtype = jnp.float64 if x64 else jnp.float32
        kinds, lists = DIRECTIONS[direction]
        arrays, rest = eqx.partition(net(name, jr.key(1), dtype), eqx.is_array)
        rows = elements(name, jr.key(2), LENGTHS, dtype)
        make = lambda arrays: kinds(eqx.combine(arrays, rest))
        both = lambda arrays, rows: defined(make, lists, rows, arrays, LENGTHS, max(LENGTHS))
        of = lambda arrays, rows: both(arrays, rows)[what == "annotate"]
        found = eqx.filter_jit(differentiated(of), compiler_options=QUICKLY)(arrays, rows)
        return make, arrays, rows, jax.tree.map(np.asarray, found)


def laid(rows: list[Any], kind: str) -> Any:
    """The lists padded or packed, with NaN past each list's end."""
    data: Any = Seq.of(rows, time=max(LENGTHS) + 1) if kind == "padded" else Packed.of(rows, lanes=1)
    own = data.mask
    poisoned = lambda x: jnp.where(own.reshape(own.shape + (1,) * (x.ndim - 2)), x, jnp.nan) if _smooth(x) else x
    return eqx.tree_at(lambda d: d.values, data, jax.tree.map(poisoned, data.values))


def run(what: str, alg: Any, data: Any, **how: Any) -> Any:
    """`fold`, or `annotate` as arrays `(lists, longest, …)`."""
    if what == "fold":
        return fold(alg, data, **how)
    every = annotate(alg, data, **how)
    every = every.padded() if isinstance(every, Packed) else every
    return jax.tree.map(lambda x: x[:, : max(LENGTHS)], every.values)


def agrees(what: str, name: str, direction: str, kind: str, x64: bool = False, **how: Any) -> None:
    """`fold` or `annotate` beside its definition; what is past a list's end is not a number."""
    make, arrays, rows, wanted = expected(what, name, direction, x64)
    tolerance = 1e-10 if x64 else 1e-4
    with jax.enable_x64(x64):
        data = laid(rows, kind)
        own = data.mask
        compiled = lambda arrays, data: run(what, make(arrays), data, **how)
        found, (to_arrays, to_data) = eqx.filter_jit(differentiated(compiled), compiler_options=QUICKLY)(arrays, data)
        close(found, wanted[0], tolerance)
        close(to_arrays, wanted[1][0], tolerance)
        to_data = eqx.tree_at(lambda d: (d.lengths, *_marks(d)), to_data, (data.lengths, *_marks(data)), is_leaf=_none)
        smooth = jax.tree.map(lambda x: None if x is None else _rows(data, x), to_data.values, is_leaf=_none)
        scale = max(float(np.abs(x).max(initial=0)) for x in jax.tree.leaves(wanted[1][1]))
        for i, n in enumerate(LENGTHS):
            mine = jax.tree.map(lambda x, i=i, n=n: x[i][:n], smooth)
            for a, b in zip(jax.tree.leaves(mine), jax.tree.leaves(wanted[1][1][i]), strict=True):
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale)
        for x in jax.tree.leaves(to_data.values):
            assert not np.any(np.asarray(x)[~np.asarray(own)])  # nothing goes to what is no element


def _marks(data: Any) -> tuple[Any, ...]:
    return (data.owner, data.place, data.lane, data.start) if isinstance(data, Packed) else ()


def _rows(data: Any, x: Any) -> Any:
    """An array of places as one of lists."""
    return eqx.tree_at(lambda d: d.values, data, x).padded().values if isinstance(data, Packed) else x


def _none(x: Any) -> bool:
    return x is None


def _smooth(x: Any) -> bool:
    return bool(jnp.issubdtype(x.dtype, jnp.inexact))


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Blocks of two steps, so that there are several."""
    monkeypatch.setattr(sys.modules["cdl._engine.lists._scan"], "BLOCK", 2)


@pytest.mark.parametrize(
    ("what", "name", "direction", "kind"),
    [
        ("annotate", "elman", "from the end", "padded"),
        ("fold", "gru", "from the start", "packed"),
        ("annotate", "lstm", "from the end", "packed"),
        pytest.param("fold", "lstm", "from the start", "padded", marks=pytest.mark.slow),
        ("fold", "everything", "from the end", "packed"),
        ("annotate", "everything", "from the start", "padded"),
    ],
)
def test_fold_and_annotate_are_their_definitions(what, name, direction, kind):
    agrees(what, name, direction, kind, x64=True)


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(Scan(bulk=False), marks=pytest.mark.slow),
        Scan(bulk=False, segment=2, unroll=2),
        Scan(bulk=True, segment="sqrt"),
    ],
    ids=str,
)
def test_a_strategy_changes_no_number(how):
    agrees("fold", "lstm", "from the start", "padded", x64=True, how=how)


@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize(
    ("what", "name", "direction", "kind"),
    [
        ("fold", "lstm", "from the start", "packed"),
        ("annotate", "everything", "from the start", "packed"),
    ],
)
def test_the_values_alone_are_those_of_the_definition(what, name, direction, kind, forward):
    make, arrays, rows, wanted = expected(what, name, direction, True)
    with jax.enable_x64(True):
        compiled = lambda arrays, data: run(what, make(arrays), data, how=Scan(forward=forward))
        found = eqx.filter_jit(compiled, compiler_options=QUICKLY)(arrays, laid(rows, kind))
        close(found, wanted[0], 1e-10)


@pytest.mark.parametrize(("direction", "bulk"), [("from the end", True), ("from the start", False)])
def test_keys_are_those_of_the_definition(direction, bulk):
    kind, lists = NOISY[direction]
    alg, key = kind(net("elman", jr.key(1), jnp.float32)), jr.key(3)
    rows = elements("elman", jr.key(2), [2, 0, 1], jnp.float32)

    def defined(alg: Any) -> Any:
        return sum(jnp.sum(cata(alg, key=jr.fold_in(key, i))(lists(list(row)))) for i, row in enumerate(rows))

    compiled = lambda alg: jnp.sum(fold(alg, Packed.of(rows, lanes=1), key=key, how=Scan(bulk=bulk)))
    wanted, found = (eqx.filter_value_and_grad(f)(alg) for f in (defined, compiled))
    close(found, wanted, 1e-5)


def test_integers_have_no_gradient_and_are_folded():
    @algebra
    def number(layer: ListF[Any, Any]) -> Any:
        return 10 * layer.tail + layer.head if hasattr(layer, "head") else 0

    @algebra
    def other(layer: SnocF[Any, Any]) -> Any:
        return 10 * layer.init + layer.last if hasattr(layer, "last") else 0

    seq = Seq.of([np.array([1, 2, 3]), np.array([4])])
    assert fold(number, seq).tolist() == [321, 4]
    assert fold(other, seq).tolist() == [123, 4]
    assert annotate(number, seq).values.tolist() == [[321, 32, 3], [4, 0, 0]]
    assert annotate(other, seq).values.tolist() == [[1, 12, 123], [4, 0, 0]]


@pytest.mark.parametrize("how", [Scan(), Scan(segment=2, unroll=2)], ids=str)
@pytest.mark.parametrize("end", [True, False], ids=["from the end", "from the start"])
def test_fold_of_a_step_without_derivative_has_its_value(end: bool, how: Scan):
    halved = lambda x: jax.lax.while_loop(lambda h: jnp.sum(h * h) > 1, lambda h: 0.5 * h, x)
    alg, lists = (FromEnd, to_list) if end else (FromStart, to_snoc)
    reader = alg(Net(jnp.ones(2), lambda x, h: halved(3 * h + x)))
    rows = [np.array([1.0, -2.0, 3.0], np.float32), np.array([4.0], np.float32)]
    wanted = jnp.stack([cata(reader)(lists(list(row))) for row in rows])
    for data in (Seq.of(rows), Packed.of(rows)):
        close(eqx.filter_jit(fold)(reader, data, how=how), wanted, 1e-6)


GIVEN = {
    "made of a weight": lambda b, x, s: jnp.broadcast_to(b[0] * 2, (2,)),
    "also read": lambda b, x, s: (b, s * b)[0] + 0 * s,
}


class Giving(eqx.Module):
    """Two states: one that `how` makes of a weight, and one that reads it."""

    weight: jax.Array
    how: str = eqx.field(static=True)

    def __call__(self, layer: ListF[jax.Array, Any]) -> Any:
        if isinstance(layer, Nil):
            return self.weight * 3, self.weight[:1]
        first, second = layer.tail
        return GIVEN[self.how](self.weight, layer.head, first), second * first[0] + layer.head[:1]


@pytest.mark.parametrize("how", [Scan(), Scan(bulk=False, segment=2)], ids=repr)
@pytest.mark.parametrize("given", GIVEN)
def test_a_state_that_is_a_weight_has_its_gradient(given, how):
    alg, rows = Giving(jnp.array([0.5, 0.7]), given), jnp.arange(6.0).reshape(3, 2)
    plus = lambda pair: pair[0].sum() + 2 * pair[1].sum()
    slow = eqx.filter_grad(lambda alg: plus(cata(algebra(alg.__call__))(to_list(list(rows)))))(alg)
    fast = eqx.filter_jit(eqx.filter_grad(lambda alg: plus(fold(algebra(alg.__call__), Seq.of([rows]), how=how))))(alg)
    np.testing.assert_allclose(fast.weight, slow.weight, 1e-5)
