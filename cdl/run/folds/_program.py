"""Programs: cases that are the same but for their weights.

| the thing     | what it is                                                                              |
| ------------- | --------------------------------------------------------------------------------------- |
| a case        | the jaxpr of a function at one node, and the arrays it closes over: its weights         |
| a program     | cases of equal jaxprs; a weight that differs between them is stacked, and a case knows  |
|               | its place in the stack; one that does not is shared                                     |

So an algebra of a hundred constructors with one cell each compiles as one cell. The arrays are found by tracing, so
it does not matter how the algebra holds them: as fields, in a closure, or many times over.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from .._shapes import shaped
from ..forests._bucket import Bucket, Size
from ..forests._variant import Variant


ADDRESS = re.compile(r"0x[0-9a-f]+")
RULES = "custom_jvp_call", "custom_vjp_call"
PROBES = Size(3, 5, 4), Size(7, 11, 6)  # sizes at which cases are compared, and rows told from edges

Columns = tuple[int, ...]


@dataclass(frozen=True)
class Wiring:
    """Which columns a case reads and writes: of the payload, of the values at its slots and `Many`s, and of those at
    its own node: `out` that it writes, `own` that it reads. The last `by_edge` of its outputs are the edges'."""

    payload: Columns
    slots: tuple[Columns, ...]
    manys: tuple[Columns, ...]
    out: Columns
    own: Columns = ()
    by_edge: int = 0


@dataclass
class Program:
    """One compiled case. `members[i]` is the variant at place i of the stacked weights; `at[size]` is the case at every
    row of a chunk, traced once, while what it closes over is at hand."""

    variant: Variant
    wiring: Wiring
    members: list[int]
    weights: list[Any]
    stacked: list[bool]
    at: dict[Size, Callable[..., list[Any]]]


Case = tuple[int, Wiring, ClosedJaxpr]  # of a variant, by its number


def programs(bucket: Bucket, cases: Iterable[Case], trace: Callable[[int, Size], ClosedJaxpr]) -> list[Program]:
    """The programs of some cases, which were traced at the first of `PROBES`."""
    grouped: dict[Any, list[Case]] = {}
    for index, wiring, case in cases:
        v, consts = bucket.variants[index], tuple(_aval(c) for c in case.consts)
        grouped.setdefault((v.slots, v.manys, wiring, _text(case), consts), []).append((index, wiring, case))
    return [_program(bucket, same, trace) for same in grouped.values()]


def _program(bucket: Bucket, cases: list[Case], trace: Callable[[int, Size], ClosedJaxpr]) -> Program:
    first, wiring, _ = cases[0]
    weights, stacked = [], []
    for same in zip(*(case.consts for *_, case in cases), strict=True):
        shared = all(_same_array(c, same[0]) for c in same[1:])
        weights.append(jnp.asarray(same[0]) if shared else jnp.stack([jnp.asarray(c) for c in same]))
        stacked.append(not shared)
    sizes = {*PROBES, *bucket.sizes, *bucket.blocks}
    runs = {size: _rows(size, trace(first, size), wiring.by_edge) for size in sizes}
    return Program(bucket.variants[first], wiring, [i for i, *_ in cases], weights, stacked, runs)


def _rows(size: Size, case: ClosedJaxpr, by_edge: int) -> Callable[..., list[Any]]:
    """A case at every row of a chunk."""
    run = opened(case)
    axes = [0] * (len(case.jaxpr.outvars) - by_edge) + [None] * by_edge

    def rows(weights: list[Any], payload: Any, slots: Any, keys: Any, edges: Any, own: Any) -> list[Any]:
        def one(row: Any, payload: Any, slots: Any, keys: Any, own: Any) -> list[Any]:
            return run(*weights, *jax.tree.leaves((row, payload, slots, keys, edges, own)))

        places = jnp.arange(size.rows, dtype=jnp.int32)
        return jax.vmap(one, out_axes=axes)(places, payload, slots, keys, own)

    return rows


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
    run = opened(case)

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


def opened(case: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The case as a function of its weights and its inputs."""
    jaxpr = case.jaxpr.replace(constvars=(), invars=[*case.jaxpr.constvars, *case.jaxpr.invars])
    return jaxpr_as_fun(ClosedJaxpr(jaxpr, ()))
