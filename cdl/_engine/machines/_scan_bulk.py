"""A scan of many sequences side by side, whose derivative is gathered in bulk.

| the scan        | `s', y = step(w, x, s)`                                                                       |
| its derivative  | `ds', dy = second(w, z, ds)`, step by step; `z = first(w, dw, x, dx, s)`, for a block of steps |

`step` is differentiated once, and its derivative is cut in two where `ds` comes in. `second` reads no gradient of a
weight. So in the reverse pass, which is JAX's transpose of this, the gradient of the weights is one product for a block
of steps, and not a sum that is read and written at each step. What `second` reads is computed again there, block by
block, from the states and from the little that `to_keep` finds.

The rule is one for tangents, so that both modes and higher derivatives follow from it.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Jaxpr

from ..arrays._rows import smooth_where
from ..arrays.shapes import Arrays, is_smooth, is_weak, shaped
from ..jaxprs._jaxprs import inside, renamed
from ..jaxprs._parts import Part, trace
from ..jaxprs._turned import turned
from ..lists._scan import block_of
from ._scan_tangent import Tangent


def scan(
    body: Callable[[Any, Any, Any], tuple[Any, Any]], state: Any, xs: Any, lanes: Any, some: jax.Array | None = None
) -> tuple[Any, Any]:
    """The last states, and every output `(steps, sequences, …)`.

    **Arguments:** `body`: from a sequence's own values, its state and its input at a step, to the next state and an
    output. `state`, `lanes`: with a leading axis of the sequences. `xs`: `(steps, sequences, …)`. `some`: whether what
    `body` closes over has a gradient at all.
    """
    flat, structure = jax.tree.flatten((xs, lanes, state))
    rows, ahead = len(jax.tree.leaves(xs)), len(jax.tree.leaves((xs, lanes)))
    form: list[Any] = []

    def step(*inputs: Any) -> Arrays:
        x, lane, s = jax.tree.unflatten(structure, inputs)
        out, of_out = jax.tree.flatten(body(lane, s, x))
        form.append(of_out)
        return out

    shapes = [shaped(x.shape[2 if i < rows else 1 :], x.dtype, is_weak(x)) for i, x in enumerate(flat)]
    closed = renamed(jax.make_jaxpr(step)(*shapes))
    inputs = [*closed.jaxpr.constvars, *closed.jaxpr.invars]
    part = Part(closed.jaxpr.replace(constvars=(), invars=inputs), len(closed.consts))
    weights = list(closed.consts) if some is None else smooth_where(some, closed.consts)
    given = weights, flat[:rows], flat[rows:ahead], flat[ahead:]
    simple = _simple(part) if flat[0].shape[0] and not closed.effects else None
    found = _plain(part, *given) if simple is None else _ruled(simple, *given)
    return jax.tree.unflatten(form[0], found)


def _simple(step: Part) -> Part | None:
    """A step without inner calls; none where a part of it has a custom reverse rule."""
    part, more = trace(step, *step.inputs)
    return None if more or _has_rule(part.jaxpr) else turned(Part(part.jaxpr, step.shared))


def _has_rule(jaxpr: Jaxpr) -> bool:
    return any(e.primitive.name.startswith("custom_vjp") or any(map(_has_rule, inside(e))) for e in jaxpr.eqns)


def _plain(step: Part, weights: Arrays, rows: Arrays, lanes: Arrays, state: Arrays) -> Arrays:
    last, outputs = _steps(step, weights, rows, lanes, state, rows[0].shape[0])
    return [*last, *outputs]


def _steps(
    step: Part, weights: Arrays, rows: Arrays, lanes: Arrays, state: Arrays, count: int
) -> tuple[Arrays, Arrays]:
    def body(s: Arrays, x: Arrays) -> tuple[Arrays, Arrays]:
        out = step.rows(weights, *x, *lanes, *s)
        return out[: len(s)], out[len(s) :]

    return lax.scan(body, state, rows, length=count)  # there may be no rows


_ruled: Any = jax.custom_jvp(_plain, nondiff_argnums=(0,))


@functools.partial(_ruled.defjvp, symbolic_zeros=True)
def _derivative(
    step: Part, primals: tuple[Arrays, Arrays, Arrays, Arrays], tangents: tuple[Arrays, Arrays, Arrays, Arrays]
) -> tuple[Arrays, Arrays]:
    weights, rows, lanes, state = primals
    moves = [[not isinstance(t, SymbolicZero) for t in some] for some in tangents[:3]]
    rule = Tangent(step, moves[0], [*moves[1], *moves[2]], list(map(is_smooth, state)))
    if not rule.apart:
        return jax.jvp(functools.partial(_plain, step), primals, jax.tree.map(_filled, tangents, is_leaf=_is_zero))
    to_weights, to_rows, to_lanes = ([t for t in some if not _is_zero(t)] for some in tangents[:3])
    shared = [*weights, *to_weights]

    def forward(s: Arrays, x: Arrays) -> tuple[Arrays, tuple[Arrays, Arrays]]:
        out = rule.forward.rows(weights, *x, *lanes, *s)
        return out[: len(s)], (s, out)

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def block(ds: Arrays, some: tuple[Arrays, Arrays, Arrays, Arrays]) -> tuple[Arrays, Arrays]:
        x, before, known, dx = some
        steps, count = x[0].shape[:2]
        each: Any = lambda values: [jnp.broadcast_to(v, (steps, *v.shape)) for v in values]
        flat = [
            v.reshape(steps * count, *v.shape[2:]) for v in (*x, *each(lanes), *before, *known, *dx, *each(to_lanes))
        ]
        between = [z.reshape(steps, count, *z.shape[1:]) for z in rule.first.rows(shared, *flat)]
        return _steps(rule.second, shared, between, [], ds, steps)

    last, (before, found) = lax.scan(forward, state, rows)
    begins = [_filled(t) for t in tangents[3] if is_smooth(t)]
    to_last, to_outputs = _in_blocks(block, begins, (rows, before, [found[i] for i in rule.known], to_rows))
    out = [*last, *found[len(state) : len(step.jaxpr.outvars)]]
    each = iter([*to_last, *to_outputs])
    return out, [next(each) if is_smooth(x) else np.zeros(x.shape, jax.dtypes.float0) for x in out]


def _in_blocks(block: Callable[[Any, Any], tuple[Any, Any]], state: Any, xs: Any) -> tuple[Any, Any]:
    """A scan in blocks of steps; the last may be shorter."""
    steps = jax.tree.leaves(xs)[0].shape[0]
    size = block_of(steps)
    count, rest = divmod(steps, size)
    whole = steps - rest
    cut = jax.tree.map(lambda x: x[:whole].reshape(count, size, *x.shape[1:]), xs)
    state, outputs = lax.scan(block, state, cut)
    outputs = [y.reshape(whole, *y.shape[2:]) for y in outputs]
    if not rest:
        return state, outputs
    state, more = block(state, jax.tree.map(lambda x: x[whole:], xs))
    return state, [jnp.concatenate(both) for both in zip(outputs, more, strict=True)]


def _is_zero(tangent: object) -> bool:
    return isinstance(tangent, SymbolicZero)


def _filled(tangent: Any) -> Any:
    """A tangent as an array."""
    if not _is_zero(tangent):
        return tangent
    zeros: Any = jnp.zeros if is_smooth(tangent) else np.zeros
    return zeros(tangent.shape, tangent.dtype)
