"""`fold` and `annotate` of sequences: one compiled scan for all lists of a batch.

| the mathematics                            | here                                              |
| ------------------------------------------ | ------------------------------------------------- |
| `cata α` of each list                      | `fold(alg, seq)`                                  |
| `cata α` of each suffix, or prefix         | `annotate(alg, seq)`: `scanr`, or `scanl`         |

Which end is read first is the functor's choice: `Cons` lists are read from the end, so that row `t` of `annotate` is
the value of the suffix that begins with element `t`; `Snoc` lists from the start, and row `t` is that of the prefix
which ends with it.

How the scan runs is an option of the run, and changes no number but in the last digits:

| the option | what it does                                                                                   |
| ---------- | ---------------------------------------------------------------------------------------------- |
| `bulk`     | a reverse rule of its own: the weights' gradient is gathered in products over many steps       |
| `hoist`    | what does not depend on the state is computed for many elements ahead                          |
| `unroll`   | so many steps in one turn of the loop                                                          |
| `remat`    | states are computed again in the reverse pass, in segments of so many steps, or of `"sqrt"`    |
"""

import math
from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ..._functors import Monoid
from ..._functors.usage import whole
from ..._functors.words import short
from ..._schemes.algebras import wants_key
from ..._schemes.expect import expect_algebras
from ...errors import CdlError
from .._compiled import compiled
from .._random_keys import keys_at
from .._rows import spread
from .._traced import reverse_only
from ..shapes import Arrays
from ._monoid import annotate_monoid, fold_monoid
from ._scan_case import Case, empty, from_the_end, read
from ._scan_plain import How, plain
from ._scan_rule import ruled
from ._scan_track import Track, track
from ._seq import Seq
from ._seq_packed import Packed


Segments = int | Literal["sqrt"] | None
Lists = Seq[Any] | Packed[Any]
Options = tuple[int, Segments, bool | None, bool | None, bool]  # as `_run` has them, `forward` last
BLOCK = 32  # steps of a block, about


def fold_seq(alg: Any, data: Lists, **options: Any) -> Any:
    """`cata(alg)` of each list, or its product in a monoid: the carrier with a leading axis, in the lists' order."""
    if isinstance(alg, Monoid):
        return fold_monoid(alg, data, **options)
    return _run("fold", alg, data, **options)


def annotate_seq(alg: Any, data: Lists, **options: Any) -> Any:
    """The value at the node of each element, as sequences of the same lengths; zero where there is no element."""
    if isinstance(alg, Monoid):
        return annotate_monoid(alg, data, **options)
    return _run("annotate", alg, data, **options)


def _run(
    of: str,
    alg: Callable[..., Any],
    data: Lists,
    *,
    key: jax.Array | None = None,
    forward: bool = False,
    remat: object = None,
    unroll: object = 1,
    hoist: bool | None = None,
    bulk: bool | None = None,
) -> Any:
    expect_algebras(of, (alg,))
    options = _options(unroll, remat, hoist, bulk, forward)
    with reverse_only(of, f"write `{of}(…, forward=True)`, which leaves that rule out, or use reverse mode"):
        return _read(alg, data, key, options, of == "annotate")


def _options(unroll: object, remat: Any, hoist: bool | None, bulk: bool | None, forward: bool) -> Options:
    unroll = whole("unroll", unroll)
    if isinstance(remat, str) and remat != "sqrt":
        raise CdlError(
            f'`remat` is {short(remat)} for sequences: give the number of steps of a segment, `"sqrt"`, or `None`.'
        )
    remat = remat if remat is None or remat == "sqrt" else whole("remat", remat)
    if forward and bulk:
        raise CdlError(
            "`bulk` is a rule of the reverse pass, and `forward` leaves such rules out: ask for one of them."
        )
    return unroll, remat, hoist, bulk, forward


@compiled
def _read(alg: Callable[..., Any], data: Lists, key: jax.Array | None, options: Options, every: bool) -> Any:
    end = from_the_end(alg)
    key = key if key is not None and wants_key(alg) else None
    steps = data.steps if isinstance(data, Packed) else data.time
    how = _how(options, steps, every or isinstance(data, Packed))
    lists = track(data, end, how.segment or (how.block if how.bulk else 1))
    case = read(alg, end, lists.element, None if key is None else jax.eval_shape(lambda: jax.random.key(0)))
    nils = _nils(alg, end, case, lists, key)
    if not steps:
        states: Arrays = []
        final = [jnp.zeros((lists.lanes, *x.shape), x.dtype) for x in case.states]
    else:
        run = ruled if how.bulk and any(case.smooth) else plain
        final, states = run(case, case.weights, lists, nils, key, how)
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
    values = [jnp.where(spread(some, x), x, jnp.broadcast_to(n, x.shape)) for x, n in zip(final, nils, strict=True)]
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


def _how(options: Options, steps: int, every: bool) -> How:
    unroll, remat, hoist, bulk, forward = options
    segment = max(1, math.isqrt(steps)) if remat == "sqrt" else None if remat is None else min(remat, max(steps, 1))
    bulk = not forward and (True if bulk is None else bulk)
    return How(unroll, bool(hoist), bulk, segment, block_of(steps), forward, every)


def block_of(steps: int) -> int:
    """About `BLOCK` steps: a divisor of all steps, where there is one near."""
    near = [n for n in range(BLOCK // 2, 2 * BLOCK + 1) if steps % n == 0]
    count = -(-steps // BLOCK)
    return min(near, key=lambda n: abs(n - BLOCK)) if near else max(1, -(-steps // max(count, 1)))
