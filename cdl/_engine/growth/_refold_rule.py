"""Growing and reading with one custom reverse rule.

The reverse pass goes the queue forwards (`_read_back`), which finds the cotangents of the payload and what of it each
row has read, and then backwards (`_grow_back`).
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..arrays.shapes import Arrays
from ..jaxprs._one_reverse import forwards_only, of_rule
from ._candidates import Growth
from ._cases import all_together, Cases
from ._grow import grow
from ._grow_back import Backwards, Cotangents
from ._grow_rule import to_roots, wanted, without_tangent
from ._pieces import in_pieces
from ._plan import Plan
from ._read import queue_of, Reader, reader
from ._read_back import Downwards
from ._readings import Readings
from ._rows import Rows
from ._scores import lost


Inputs = tuple[Arrays, Arrays, Arrays]  # the weights of the growth, the seeds, and the weights of the reading
Outputs = tuple[Arrays, jax.Array, jax.Array]  # the values of all trees, how many places wait, and if a score was NaN


def read_rows(
    growth: Growth, plan: Plan, weights: Arrays, seeds: Arrays, found: Readings, own: list[Arrays]
) -> Outputs:
    """The values of all trees, of no account for one that is cut; how many places of each wait; and whether a score was
    NaN. Differentiable in weights and seeds. `own`: the weights of the cases that read."""
    if not plan.trees:
        return [jnp.zeros((0, *x.shape), x.dtype) for x in found.leaves], jnp.zeros(0, jnp.int32), jnp.array(False)
    cases, weights = all_together(in_pieces(growth, weights, seeds), weights)
    read, arrays = reader(found, own, growth.columns, plan)
    values, *others = _rule((weights, seeds, arrays), cases=cases, reader=read)
    waiting, missing = map(without_tangent, others)
    return values, waiting, missing


@eqx.filter_custom_vjp
def _rule(inputs: Inputs, *, cases: Cases, reader: Reader) -> Outputs:
    return _read(inputs, cases, reader, keep=False)[0]


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(perturbed: Any, inputs: Inputs, *, cases: Cases, reader: Reader) -> tuple[Outputs, Any]:
    del perturbed
    (values, waiting, missing), found = _read(inputs, cases, reader, keep=True)
    return (forwards_only(values, of_rule("refold")), waiting, missing), found


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(
    found: tuple[Rows, Arrays, Arrays],
    given: tuple[Arrays, Any, Any],
    perturbed: Any,
    inputs: Inputs,
    *,
    cases: Cases,
    reader: Reader,
) -> Inputs:
    (weights, seeds, own), (rows, values, kept) = inputs, found
    down = Downwards(reader, queue_of(rows), own, rows.payload, values, kept)
    to_own, payload = down.all(given[0], wanted(perturbed[2], own))
    back = Backwards(cases, reader.plan, weights, rows, Cotangents(payload, None))
    below, sums = back.all(wanted(perturbed[0], weights))
    return forwards_only((sums, to_roots(below, seeds), to_own), of_rule("refold"))


def _read(inputs: Inputs, cases: Cases, reader: Reader, *, keep: bool) -> tuple[Outputs, tuple[Rows, Arrays, Arrays]]:
    weights, seeds, own = inputs
    rows = grow(cases, reader.plan, weights, seeds, keep=keep)
    values, kept = reader.read(own, rows.payload, queue_of(rows), keep=keep)
    return (reader.roots(values), rows.waiting, lost(rows)), (rows, values, kept)
