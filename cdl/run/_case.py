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
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from .._errors import CarrierMismatch, CdlError
from ..algebra._algebra import apply, name_of, wants_key
from ..functor._many import Many
from ._bucket import Bucket, Size
from ._edges import Edges
from ._variant import Variant


ADDRESS = re.compile(r"0x[0-9a-f]+")
PROBE = Size(3, 5)  # the size at which cases are compared


@dataclass(frozen=True)
class Carrier:
    """The structure of an algebra's values: a pytree of shapes and types."""

    structure: Any
    leaves: tuple[Any, ...]

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
    """One compiled case. `members[i]` is the variant at place i of the stacked weights."""

    variant: Variant
    columns: tuple[int, ...]
    members: list[int]
    weights: list[Any]
    stacked: list[bool]
    at: Callable[[Size], Callable[..., Any]]


def find_carrier(t: Reading) -> Carrier:
    """The structure of the values, from the cases that have no child; every other case is checked against it.

    **Raises:** `CarrierMismatch` where two cases differ, naming both.
    """
    leaves = [i for i, v in enumerate(t.bucket.variants) if v.leaf]
    if not leaves:
        raise CdlError("the carrier's structure is found at a constructor without children, and the forest has none: give `bucket`.")
    found: Carrier | None = None
    names: list[str] = []
    for i in leaves:
        carrier = _shape(t, i, None)
        if found is not None:
            found = _joined(t, names[-1], found, str(t.bucket.variants[i]), carrier)
        found = found or carrier
        names.append(str(t.bucket.variants[i]))
    assert found is not None
    for _ in range(2):  # a Python number at a leaf takes the type that other cases give it
        for i, v in enumerate(t.bucket.variants):
            if not v.leaf:
                found = _joined(t, names[0], found, str(v), _shape(t, i, found))
    return Carrier(found.structure, tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in found.leaves))


def programs(t: Reading, carrier: Carrier) -> list[Program]:
    """The programs of an algebra over a bucket's variants."""
    found: dict[Any, list[tuple[int, ClosedJaxpr]]] = {}
    for i, v in enumerate(t.bucket.variants):
        case = _trace(t, i, carrier, PROBE)
        key = (v.slots, v.manys, t.bucket.columns(i), _text(case), tuple(_aval(c) for c in case.consts))
        found.setdefault(key, []).append((i, case))
    return [_program(t, carrier, cases) for cases in found.values()]


def _program(t: Reading, carrier: Carrier, cases: list[tuple[int, ClosedJaxpr]]) -> Program:
    members = [i for i, _ in cases]
    weights, stacked = [], []
    for same in zip(*(case.consts for _, case in cases), strict=True):
        shared = all(_same_array(c, same[0]) for c in same[1:])
        weights.append(jnp.asarray(same[0]) if shared else jnp.stack([jnp.asarray(c) for c in same]))
        stacked.append(not shared)

    def at(size: Size) -> Callable[..., Any]:
        case = _trace(t, members[0], carrier, size)
        run = jaxpr_as_fun(ClosedJaxpr(case.jaxpr.replace(constvars=(), invars=[*case.jaxpr.constvars, *case.jaxpr.invars]), ()))

        def rows(weights: list[Any], payload: Any, slots: Any, keys: Any, edges: Any) -> list[Any]:
            def one(row: Any, payload: Any, slots: Any, keys: Any) -> list[Any]:
                return run(*weights, *jax.tree.leaves((row, payload, slots, keys, edges)))

            return jax.vmap(one)(jnp.arange(size.rows, dtype=jnp.int32), payload, slots, keys)

        return rows

    return Program(t.bucket.variants[members[0]], t.bucket.columns(members[0]), members, weights, stacked, at)


def _node(t: Reading, index: int, carrier: Carrier | None) -> Callable[..., Any]:
    """The algebra at one variant, on one node's inputs."""
    variant = t.bucket.variants[index]

    def node(row: Any, payload: Any, slots: Any, keys: Any, edges: Any) -> Any:
        values = [] if carrier is None else [carrier.unflatten(x) for x in slots]
        manys = [Many.over(Edges(row, s, _require(carrier).unflatten(c))) for s, c in edges]
        layer = variant.layer(list(payload), values, manys)
        return apply(t.alg, layer, keys[0] if keys else None)

    return node


def _trace(t: Reading, index: int, carrier: Carrier, size: Size) -> ClosedJaxpr:
    node = _node(t, index, carrier)

    def leaves(*inputs: Any) -> list[Any]:
        out = jax.tree.leaves(node(*inputs))
        return [jnp.asarray(x).astype(a.dtype) for x, a in zip(out, carrier.leaves, strict=True)]

    return jax.make_jaxpr(leaves)(*_inputs(t, index, carrier, size))


def _inputs(t: Reading, index: int, carrier: Carrier | None, size: Size) -> Any:
    """The shapes of one node's inputs: row, payload, slots, key, and the chunk's edges."""
    v = t.bucket.variants[index]
    state = [] if carrier is None else list(carrier.leaves)
    payload = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in t.bucket.payload[index]]
    many = [
        (
            jax.ShapeDtypeStruct((size.edges_of(g),), jnp.int32),
            [jax.ShapeDtypeStruct((size.edges_of(g), *x.shape), x.dtype) for x in state],
        )
        for g in range(v.manys)
    ]
    keys = [jax.eval_shape(lambda: jax.random.key(0))] if t.keyed else []
    return (jax.ShapeDtypeStruct((), jnp.int32), payload, [state] * v.slots, keys, many)


def _shape(t: Reading, index: int, carrier: Carrier | None) -> Carrier:
    out = jax.eval_shape(_node(t, index, carrier), *_inputs(t, index, carrier, PROBE))
    leaves, structure = jax.tree.flatten(out)
    return Carrier(structure, tuple(leaves))


def _joined(t: Reading, name: str, a: Carrier, other: str, b: Carrier) -> Carrier:
    """The carrier of two cases: the same structure and shapes, and the same types up to Python numbers'."""
    same = a.structure == b.structure and all(x.shape == y.shape for x, y in zip(a.leaves, b.leaves, strict=True))
    if same:
        joined = []
        for x, y in zip(a.leaves, b.leaves, strict=True):
            if x.dtype != y.dtype and not (x.weak_type or y.weak_type):
                break
            pick = y if x.weak_type and not y.weak_type else x
            if x.weak_type and y.weak_type and jnp.promote_types(x.dtype, y.dtype) != x.dtype:
                pick = y
            joined.append(pick)
        else:
            return Carrier(a.structure, tuple(joined))
    raise CarrierMismatch(
        f"`{name_of(t.alg)}` is no algebra: at `{name}` its value is {_show(a)}, and at `{other}` {_show(b)}. Give every "
        "constructor's case the same structure, shapes and dtypes."
    )


def _show(carrier: Carrier) -> str:
    return str(eqx.tree_pformat(carrier.unflatten(carrier.leaves), struct_as_array=True))


def _require(carrier: Carrier | None) -> Carrier:
    assert carrier is not None
    return carrier


def _aval(x: Any) -> Any:
    return jnp.shape(x), jnp.result_type(x)


def _same_array(x: Any, y: Any) -> bool:
    if x is y:
        return True
    traced = isinstance(x, jax.core.Tracer) or isinstance(y, jax.core.Tracer)
    return not traced and bool(np.array_equal(np.asarray(x), np.asarray(y)))


def _text(case: ClosedJaxpr) -> str:
    """The jaxpr without addresses; what has a derivative rule of its own is told apart by the rule's function."""
    return ADDRESS.sub("", str(case.jaxpr)) + repr(sorted(_rules(case.jaxpr)))


def _rules(jaxpr: Any) -> set[str]:
    found: set[str] = set()
    for eqn in jaxpr.eqns:
        for name, value in eqn.params.items():
            if eqn.primitive.name.startswith("custom_") and callable(value) and name in _RULES:
                found.add(f"{name} {_identity(value)}")
            for inner in jax.tree.leaves(value, is_leaf=lambda x: hasattr(x, "eqns") or hasattr(x, "jaxpr")):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    found |= _rules(inner)
    return found


_RULES = ("jvp_jaxpr_fun", "fwd_jaxpr_thunk", "bwd")


def _identity(rule: Any) -> str:
    """The function at the bottom of a derivative rule, by its identity."""
    for _ in range(8):
        inner = getattr(rule, "f", None) or getattr(rule, "func", None) or getattr(rule, "__wrapped__", None)
        if inner is None:
            break
        rule = inner
    return f"{getattr(rule, '__qualname__', '')} {id(rule)}"
