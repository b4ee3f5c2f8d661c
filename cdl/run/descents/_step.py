"""Steps: a function that goes down, at one variant, traced for one node.

It sees what a node inherits and the node's layer, and gives a layer of what the children inherit, and something of the
node's own: `(b, F a) -> (F b, out)`.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from ..._errors import CarrierMismatch
from ...algebra._inherit import given_down
from ...functor._many import Many
from .._shapes import one_of, rows_of, shaped
from .._traced import without_values
from ..folds._carrier import Carrier, show, Storage
from ..folds._edges import Edges
from ..folds._program import PROBES, Program, programs, Wiring
from ..forests._bucket import Bucket, Size
from ..forests._variant import at_places


@dataclass(frozen=True)
class Steps:
    """The steps of each sort, and the bucket they are to go through.

    `below` are the values that a step sees at the children, `handed` those that are handed down, `out` what it gives of
    its own. `leaves` says whether it is called where there are no children.
    """

    steps: tuple[Callable[[Any, Any], tuple[Any, Any]], ...]
    names: tuple[str, ...]
    bucket: Bucket
    below: Storage
    handed: Storage
    out: Storage
    leaves: bool

    def programs(self) -> list[Program]:
        """One for each kind of step.

        **Raises:** `CarrierMismatch` where a step gives another constructor, or values of another structure or shape
        than those at the root.
        """
        some = [i for i, v in enumerate(self.bucket.variants) if self.leaves or not v.leaf]
        cases = [(i, self._wiring(i), self.trace(i, PROBES[0])) for i in some]
        return programs(self.bucket, cases, self.trace)

    def _wiring(self, index: int) -> Wiring:
        v = self.bucket.variants[index]
        slots, manys = (tuple(map(self.below.columns, some)) for some in (v.slot_sorts, v.many_sorts))
        by_edge = sum(len(self.handed.columns(s)) for s in v.many_sorts)
        out = self.out.columns(0)
        return Wiring(self.bucket.columns(index), slots, manys, out, self.handed.columns(v.sort), by_edge)

    def trace(self, index: int, size: Size) -> ClosedJaxpr:
        """The case of one variant: what is handed to its slots, its own, and what is handed along its edges."""
        v = self.bucket.variants[index]
        lengths = [size.edges_of(g) for g in range(v.manys)]
        pairs = zip(lengths, v.many_sorts, strict=True)
        edges = [(shaped((n,), jnp.int32), rows_of(n, self.below.carriers[s].leaves)) for n, s in pairs]
        slots = [one_of(self.below.carriers[s].leaves) for s in v.slot_sorts]
        payload = [shaped(shape, dtype) for shape, dtype in self.bucket.payload[index]]
        own = one_of(self.handed.carriers[v.sort].leaves)
        traced = jax.make_jaxpr(lambda *inputs: self._node(index, *inputs))
        return traced(shaped((), jnp.int32), payload, slots, [], edges, own)

    def _node(self, index: int, row: Any, payload: Any, slots: Any, keys: Any, edges: Any, own: Any) -> list[Any]:
        v, below = self.bucket.variants[index], self.below.carriers
        values = [below[s].unflatten(x) for s, x in zip(v.slot_sorts, slots, strict=True)]
        reaching = zip(v.many_sorts, edges, strict=True)
        sources = [Edges(row, segment, below[s].unflatten(c)) for s, (segment, c) in reaching]
        layer = v.layer(list(payload), values, list(map(Many.over, sources)))
        with without_values(self.names[v.sort], f"at `{v}`"):
            found, out = self.steps[v.sort](self.handed.carriers[v.sort].unflatten(own), layer)
        given = at_places(found)
        to_slots = [x for x in given if not isinstance(x, Many)]
        to_manys = [x for x in given if isinstance(x, Many) and not (x.listed and not x.items)]
        if len(to_slots) != v.slots or len(to_manys) != v.manys or any(x.listed for x in to_manys):
            raise CarrierMismatch(
                f"at `{v}`, `{self.names[v.sort]}` gives a layer with other places: map over a `Many`, and give each "
                "other child one value."
            )
        leaves = [x for s, value in zip(v.slot_sorts, to_slots, strict=True) for x in self._leaves(v, s, value)]
        pairs = zip(jax.tree.leaves(out), self.out.carriers[0].leaves, strict=True)
        leaves += [jnp.asarray(x).astype(a.dtype) for x, a in pairs]
        for sort, source, many in zip(v.many_sorts, sources, to_manys, strict=True):
            leaves += source.each(functools.partial(self._along, v, sort, many))
        return leaves

    def _along(self, variant: Any, sort: int, many: Many[Any], child: Any) -> list[Any]:
        return self._leaves(variant, sort, many.at(child))

    def _leaves(self, variant: Any, sort: int, value: Any) -> list[Any]:
        """The leaves of what is handed to a child, with the types of what the root is given."""
        carrier = self.handed.carriers[sort]
        leaves, structure = jax.tree.flatten(value)
        arrays = [jnp.asarray(x) for x in leaves]
        if structure != carrier.structure or any(
            x.shape != a.shape for x, a in zip(arrays, carrier.leaves, strict=True)
        ):
            own = Carrier(structure, tuple(jax.typeof(x) for x in arrays))
            raise CarrierMismatch(
                f"at `{variant}`, `{self.names[variant.sort]}` hands {show(own)} to a child, and the root is given "
                f"{show(carrier)}: give every node the same structure and shapes."
            )
        return [x.astype(a.dtype) for x, a in zip(arrays, carrier.leaves, strict=True)]


class Plain(eqx.Module):
    """A step that gives nothing of the node's own."""

    step: Callable[[Any, Any], Any]

    def __call__(self, value: Any, layer: Any) -> tuple[Any, Any]:
        return given_down(self.step, value, layer), ()
