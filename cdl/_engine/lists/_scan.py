"""`fold` and `annotate` of sequences: one compiled scan for all lists of a batch.

| the mathematics                            | here                                              |
| ------------------------------------------ | ------------------------------------------------- |
| `cata α` of each list                      | `fold(alg, seq)`                                  |
| `cata α` of each suffix, or prefix         | `annotate(alg, seq)`: `scanr`, or `scanl`         |

Which end is read first is the functor's choice: `Cons` lists are read from the end, so that row `t` of `annotate` is
the value of the suffix that begins with element `t`; `Snoc` lists from the start, and row `t` is that of the prefix
which ends with it.

How the scan runs is a `Scan`.
"""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ..._functors import Monoid
from ..._schemes.algebras import wants_key
from ..._schemes.expect import expect_algebras
from ..arrays._random_keys import keys_at
from ..arrays._rows import chosen, smooth_where
from ..arrays.shapes import Arrays
from ..calls._compiled import compiled
from ..calls._strategies import Scan
from ..calls._traced import reverse_only
from ._monoid import annotate_monoid, fold_monoid
from ._scan_case import Case, empty, from_the_end, read
from ._scan_plain import How, plain
from ._scan_rule import ruled
from ._scan_track import Track, track
from ._seq import Seq
from ._seq_packed import Packed


Lists = Seq[Any] | Packed[Any]
BLOCK = 32  # steps of a block, about


def fold_seq(alg: Any, data: Lists, key: jax.Array | None, how: Any) -> Any:
    """`cata(alg)` of each list, or its product in a monoid: the carrier with a leading axis, in the lists' order."""
    if isinstance(alg, Monoid):
        return fold_monoid(alg, data, how)
    return _run("fold", alg, data, key, how)


def annotate_seq(alg: Any, data: Lists, key: jax.Array | None, how: Any) -> Any:
    """The value at the node of each element, as sequences of the same lengths; zero in the padding."""
    if isinstance(alg, Monoid):
        return annotate_monoid(alg, data, how)
    return _run("annotate", alg, data, key, how)


def _run(of: str, alg: Callable[..., Any], data: Lists, key: jax.Array | None, how: Scan | None) -> Any:
    expect_algebras(of, (alg,))
    write = f"write `{of}(…, how=Scan(forward=True))`, which leaves that rule out, or use reverse mode"
    with reverse_only(of, write):
        return _read(alg, data, key, Scan() if how is None else how, of == "annotate")


@compiled
def _read(alg: Callable[..., Any], data: Lists, key: jax.Array | None, wanted: Scan, every: bool) -> Any:
    end = from_the_end(alg)
    key = key if key is not None and wants_key(alg) else None
    steps = data.steps if isinstance(data, Packed) else data.time
    how = _how(wanted, steps, every or isinstance(data, Packed))
    lists = track(data, end, how.segment or (how.block if how.bulk else 1))
    case = read(alg, end, lists.element, jax.eval_shape(lambda k: k, key))
    nils = _nils(alg, end, case, lists, key)
    if not steps:
        states: Arrays = []
        final = [jnp.zeros((lists.lanes, *x.shape), x.dtype) for x in case.states]
    else:
        run = ruled if how.bulk and any(case.smooth) else plain
        some = jnp.any(lists.own)  # with no element at all, no step is one of a list
        weights, before = smooth_where(some, case.weights), smooth_where(some, nils)
        final, states = run(case, weights, lists, before, key, how)
    if every:
        return _annotated(data, case, lists, states)
    if isinstance(data, Packed):
        at = data.start if end else jnp.maximum(data.start + data.lengths - 1, 0)
        final = (
            [x[at, data.lane] for x in states]
            if steps
            else [jnp.zeros((len(data), *x.shape), x.dtype) for x in case.states]
        )
    some = data.lengths > 0
    values = [chosen(some, x, n) for x, n in zip(final, nils, strict=True)]
    return jax.tree.unflatten(case.structure, values)


def _annotated(data: Lists, case: Case, lists: Track, states: Arrays) -> Lists:
    states = states or lists.shown([jnp.zeros((0, lists.lanes, *x.shape), x.dtype) for x in case.states])
    rows = [lax.slice_in_dim(x, 0, lists.real, axis=lists.axis) for x in states]
    values = jax.tree.unflatten(case.structure, rows)
    return eqx.tree_at(lambda d: d.values, data, values)


def _nils(alg: Callable[..., Any], end: bool, case: Case, lists: Track, key: jax.Array | None) -> Arrays:
    """The empty list's value, in the carrier's types: one row, or one for each list where it depends on a key."""
    if key is None:
        value = jax.tree.map(lambda x: x[None], empty(alg, end))
    else:
        keys = keys_at(key, jnp.arange(len(lists.lengths), dtype=jnp.int32), lists.lengths)
        value = jax.vmap(lambda k: empty(alg, end, k))(keys)
    return [x.astype(s.dtype) for x, s in zip(jax.tree.leaves(value), case.states, strict=True)]


def _how(wanted: Scan, steps: int, every: bool) -> How:
    most = max(steps, 1)
    root = max(1, math.isqrt(steps))
    segment = wanted.segment and (root if wanted.segment == "sqrt" else min(wanted.segment, most))
    bulk = not wanted.forward and (True if wanted.bulk is None else wanted.bulk)
    return How(wanted.unroll, bulk, segment, block_of(steps), wanted.forward, every)


def block_of(steps: int) -> int:
    """About `BLOCK` steps: a divisor of all steps, where there is one near."""
    near = [n for n in range(BLOCK // 2, 2 * BLOCK + 1) if steps % n == 0]
    count = -(-steps // BLOCK)
    return min(near, key=lambda n: abs(n - BLOCK)) if near else max(1, -(-steps // max(count, 1)))
