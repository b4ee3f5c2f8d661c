"""Cases: an algebra at one variant, traced for one node; and programs: the cases that are the same but for weights.

| the thing     | what it is                                                                              |
| ------------- | --------------------------------------------------------------------------------------- |
| a case        | the jaxpr of `alg(layer)`, and the arrays it closes over: its weights                   |
| a program     | cases of equal jaxprs; a weight that differs between them is stacked, and a case knows  |
|               | its place in the stack; one that does not is shared                                     |

So an algebra of a hundred constructors with one cell each compiles as one cell. The arrays are found by tracing, so
it does not matter how the algebra holds them: as fields, in a closure, or many times over.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from .._errors import CarrierMismatch, CdlError
from ..algebra._algebra import apply, name_of
from ..functor._many import Many
from ._bucket import Bucket, Size
from ._edges import Edges
from ._shapes import one_of, rows_of, shaped
from ._variant import Variant


ADDRESS = re.compile(r"0x[0-9a-f]+")
RULES = "custom_jvp_call", "custom_vjp_call"
PROBES = Size(3, 5, 4), Size(7, 11, 6)  # sizes at which cases are compared, and rows told from edges


@dataclass(frozen=True)
class Carrier:
    """The structure of an algebra's values: a pytree of shapes and types."""

    structure: Any
    leaves: tuple[Any, ...]

    @property
    def types(self) -> tuple[Any, ...]:
        """The type of each leaf."""
        return tuple(x.dtype for x in self.leaves)

    def unflatten(self, leaves: Any) -> Any:
        return jax.tree.unflatten(self.structure, list(leaves))


@dataclass(frozen=True)
class Reading:
    """An algebra, the bucket it is to read, and whether it is given keys."""

    alg: Any
    bucket: Bucket
    keyed: bool


@dataclass
class Program:
    """One compiled case. `members[i]` is the variant at place i of the stacked weights; `at[size]` is the case at every
    row of a chunk, traced once, while what the algebra closes over is at hand."""

    variant: Variant
    columns: tuple[int, ...]
    members: list[int]
    weights: list[Any]
    stacked: list[bool]
    at: dict[Size, Callable[..., list[Any]]]


def read(t: Reading) -> tuple[Carrier, list[Program]]:
    """The carrier of an algebra, and its programs over a bucket's variants.

    The structure of the values is found at the cases that have no child, and every other case is checked against it.

    **Raises:** `CarrierMismatch` where two cases differ, naming both.
    """
    leaves = [i for i, v in enumerate(t.bucket.variants) if v.leaf]
    if not leaves:
        raise CdlError(
            "the carrier's structure is found at a constructor without children, and the forest has none: give "
            "`pack` a `bucket`."
        )
    found, first = None, str(t.bucket.variants[leaves[0]])
    for i in leaves:
        found = _joined(t, first, found, i, _trace(t, i, None, PROBES[0])[1])
    assert found is not None
    carrier = found
    while True:  # until a Python number at a leaf has the type that other cases give it
        cases = [_trace(t, i, carrier, PROBES[0]) for i in range(len(t.bucket.variants))]
        joined = carrier
        for i, (_, own) in enumerate(cases):
            joined = _joined(t, first, joined, i, own)
        if joined.types == carrier.types:
            break
        carrier = joined
    grouped: dict[Any, list[tuple[int, ClosedJaxpr]]] = {}
    for i, (case, _) in enumerate(cases):
        v = t.bucket.variants[i]
        key = (v.slots, v.manys, t.bucket.columns(i), _text(case), tuple(_aval(c) for c in case.consts))
        grouped.setdefault(key, []).append((i, case))
    return carrier, [_program(t, carrier, same) for same in grouped.values()]


def _program(t: Reading, carrier: Carrier, cases: list[tuple[int, ClosedJaxpr]]) -> Program:
    members = [i for i, _ in cases]
    weights, stacked = [], []
    for same in zip(*(case.consts for _, case in cases), strict=True):
        shared = all(_same_array(c, same[0]) for c in same[1:])
        weights.append(jnp.asarray(same[0]) if shared else jnp.stack([jnp.asarray(c) for c in same]))
        stacked.append(not shared)

    sizes = {*PROBES, *t.bucket.sizes, *t.bucket.blocks}
    runs = {size: _rows(size, _open(_trace(t, members[0], carrier, size)[0])) for size in sizes}
    return Program(t.bucket.variants[members[0]], t.bucket.columns(members[0]), members, weights, stacked, runs)


def _rows(size: Size, run: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """A case at every row of a chunk."""

    def rows(weights: list[Any], payload: Any, slots: Any, keys: Any, edges: Any) -> list[Any]:
        def one(row: Any, payload: Any, slots: Any, keys: Any) -> list[Any]:
            return run(*weights, *jax.tree.leaves((row, payload, slots, keys, edges)))

        return jax.vmap(one)(jnp.arange(size.rows, dtype=jnp.int32), payload, slots, keys)

    return rows


def _node(t: Reading, index: int, carrier: Carrier | None) -> Callable[..., Any]:
    """The algebra at one variant, on one node's inputs."""
    variant = t.bucket.variants[index]

    def node(row: Any, payload: Any, slots: Any, keys: Any, edges: Any) -> Any:
        values = [] if carrier is None else [carrier.unflatten(x) for x in slots]
        manys = [Many.over(Edges(row, s, _require(carrier).unflatten(c))) for s, c in edges]
        layer = variant.layer(list(payload), values, manys)
        return apply(t.alg, layer, keys[0] if keys else None)

    return node


def _trace(t: Reading, index: int, carrier: Carrier | None, size: Size) -> tuple[ClosedJaxpr, Carrier]:
    """The case of one variant as a jaxpr whose values have the carrier's types, and the carrier of its own values."""
    node = _node(t, index, carrier)
    own: list[Carrier] = []

    def leaves(*inputs: Any) -> list[Any]:
        out, structure = jax.tree.flatten(node(*inputs))
        arrays = [jnp.asarray(x) for x in out]
        own.append(Carrier(structure, tuple(jax.typeof(x) for x in arrays)))
        if carrier is None or len(arrays) != len(carrier.leaves):
            return arrays
        return [x.astype(a.dtype) for x, a in zip(arrays, carrier.leaves, strict=True)]

    return jax.make_jaxpr(leaves)(*_inputs(t, index, carrier, size)), own[0]


def _inputs(t: Reading, index: int, carrier: Carrier | None, size: Size) -> Any:
    """The shapes of one node's inputs: row, payload, slots, key, and the chunk's edges."""
    v = t.bucket.variants[index]
    state = [] if carrier is None else list(carrier.leaves)
    payload = [shaped(shape, dtype) for shape, dtype in t.bucket.payload[index]]
    many = [(shaped((size.edges_of(g),), jnp.int32), rows_of(size.edges_of(g), state)) for g in range(v.manys)]
    keys = [jax.eval_shape(lambda: jax.random.key(0))] if t.keyed else []
    return shaped((), jnp.int32), payload, [one_of(state)] * v.slots, keys, many


def _joined(t: Reading, first: str, a: Carrier | None, index: int, b: Carrier) -> Carrier:
    """The carrier of two cases: the same structure and shapes, and the same types up to Python numbers'."""
    if a is None:
        return b
    same = a.structure == b.structure and all(x.shape == y.shape for x, y in zip(a.leaves, b.leaves, strict=True))
    joined = [_stronger(x, y) for x, y in zip(a.leaves, b.leaves, strict=True)] if same else [None]
    if None in joined:
        raise CarrierMismatch(
            f"`{name_of(t.alg)}` is no algebra: at `{first}` its value is {_show(a)}, and at "
            f"`{t.bucket.variants[index]}` {_show(b)}. Give every constructor's case the same structure, shapes and "
            "dtypes."
        )
    return Carrier(a.structure, tuple(joined))


def _stronger(x: Any, y: Any) -> Any:
    """Of two numbers of one shape, the one whose type the other takes; none where the types differ for good."""
    if x.dtype == y.dtype:
        return y if x.weak_type else x
    if x.weak_type and (not y.weak_type or jnp.promote_types(x.dtype, y.dtype) == y.dtype):
        return y if jnp.promote_types(x.dtype, y.dtype) == y.dtype else None
    return x if y.weak_type and jnp.promote_types(x.dtype, y.dtype) == x.dtype else None


def _show(carrier: Carrier) -> str:
    return str(eqx.tree_pformat(carrier.unflatten(one_of(carrier.leaves)), struct_as_array=True))


def _require(carrier: Carrier | None) -> Carrier:
    assert carrier is not None
    return carrier


def _aval(x: Any) -> Any:
    return jnp.shape(x), jnp.result_type(x)


def _same_array(x: Any, y: Any) -> bool:
    if x is y:
        return True
    traced = isinstance(x, Tracer) or isinstance(y, Tracer)
    return not traced and bool(np.array_equal(np.asarray(x), np.asarray(y)))


def _text(case: ClosedJaxpr) -> str:
    """The jaxpr without addresses, and where something in it has a derivative rule of its own, that of its vjp, in
    which the rule is written out; an array that only the rule closes over is told apart by its identity."""
    text = ADDRESS.sub("", str(case.jaxpr))
    if not any(name in text for name in RULES):
        return text
    inputs = [shaped(v.aval.shape, v.aval.dtype) for v in (*case.jaxpr.constvars, *case.jaxpr.invars)]
    smooth = [i for i, x in enumerate(inputs) if jnp.issubdtype(x.dtype, jnp.inexact)]
    run = _open(case)

    def backwards(given: list[Any]) -> Any:
        def of(some: list[Any]) -> list[Any]:
            merged = list(given)
            for i, x in zip(smooth, some, strict=True):
                merged[i] = x
            return [x for x in run(*merged) if jnp.issubdtype(x.dtype, jnp.inexact)]

        out, back = jax.vjp(of, [given[i] for i in smooth])
        return back(out)

    rule = jax.make_jaxpr(backwards)(inputs)
    return text + ADDRESS.sub("", str(rule.jaxpr)) + str([id(c) for c in rule.consts])


def _open(case: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The case as a function of its weights and its inputs."""
    jaxpr = case.jaxpr.replace(constvars=(), invars=[*case.jaxpr.constvars, *case.jaxpr.invars])
    return jaxpr_as_fun(ClosedJaxpr(jaxpr, ()))
