"""Growing, with a custom reverse rule (`_grow_back`)."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..arrays.shapes import Arrays, is_smooth
from ..jaxprs._one_reverse import forwards_only, of_rule
from ._candidates import Growth
from ._cases import all_together, Cases
from ._grow import grow
from ._grow_back import Backwards, Cotangents
from ._pieces import in_pieces
from ._plan import Plan
from ._rows import Rows


def grown_rows(growth: Growth, plan: Plan, weights: Arrays, seeds: Arrays) -> Rows:
    """The rows of all trees; their payload and `log_prob` are differentiable in weights and seeds."""
    cases, weights = all_together(in_pieces(growth, weights, seeds), weights)
    found = _rule((weights, seeds), cases=cases, plan=plan)
    return jax.tree.map(without_tangent, found)


Inputs = tuple[Arrays, Arrays]  # weights, and seeds
TWICE = of_rule("unfold")


@eqx.filter_custom_vjp
def _rule(inputs: Inputs, *, cases: Cases, plan: Plan) -> Rows:
    return _shown(grow(cases, plan, *inputs, keep=False))


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(perturbed: Any, inputs: Inputs, *, cases: Cases, plan: Plan) -> tuple[Rows, Rows]:
    del perturbed
    rows = grow(cases, plan, *inputs, keep=True)
    return forwards_only(_shown(rows), TWICE), rows


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(rows: Rows, given: Rows, perturbed: Any, inputs: Inputs, *, cases: Cases, plan: Plan) -> Inputs:
    weights, seeds = inputs
    back = Backwards(cases, plan, weights, rows, Cotangents(given.payload, given.log_prob))
    down, sums = back.all(wanted(perturbed[0], weights))
    return forwards_only((sums, to_roots(down, seeds)), TWICE)


def wanted(perturbed: Sequence[bool], weights: Arrays) -> list[bool]:
    """Which weights a cotangent is asked of."""
    return [bool(yes) and is_smooth(w) for yes, w in zip(perturbed, weights, strict=True)]


def to_roots(down: Arrays, seeds: Arrays) -> Arrays:
    """The cotangents of the seeds of all trees, from those of the trees that have a root."""
    each = zip(down, seeds, strict=True)
    return [d if d is None else jnp.zeros_like(x).at[: d.shape[0]].set(d) for d, x in each]


def without_tangent(x: jax.Array) -> jax.Array:
    """What has no derivative comes out of a rule with a tangent, which other rules refuse. An operation without a
    derivative drops it."""
    if is_smooth(x):
        return x
    if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(without_tangent(jax.random.key_data(x)), impl=jax.random.key_impl(x))
    return x | jnp.zeros((), x.dtype)


def _shown(rows: Rows) -> Rows:
    """What there is to see: without the reverse pass's own."""
    return dataclasses.replace(rows, seeds=[], shared=[], kept=([], []))
