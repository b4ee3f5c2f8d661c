"""Steps: a function that goes down, at one variant, traced for one node.

It sees what a node inherits and the node's layer, and gives a layer of what the children inherit, and something of the
node's own: `(b, F a) -> (F b, out)`.
"""

import dataclasses
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
from ...functor import Base
from ...functor._many import Many
from .._shapes import Arrays, one_of, rows_of, shaped
from .._traced import without_values
from .._truth import expect_no_reckoning
from .._types import advice, cast, joined, misfit, Own, own_of
from ..folds._carrier import Carrier, Storage
from ..folds._edges import Edges
from ..folds._program import PROBE, Program, programs, Wiring
from ..folds._sites import indexed
from ..forests._bucket import Bucket, Size
from ..forests._variant import at_places, Variant


Node = tuple[
    jax.ShapeDtypeStruct, Arrays, list[Arrays], Arrays, list[tuple[jax.ShapeDtypeStruct, Arrays]], Arrays
]  # row, payload, slots, keys, edges, and what it inherits


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

    def settled(self) -> "Steps":
        """The steps, with the type that each number has which is handed down or given: a Python number takes the type
        of what other steps, or the roots, give in its place.

        **Raises:** `CarrierMismatch` where a step gives another constructor, or values of another structure, shape or
        type than those at the root.
        """
        over = self
        while True:
            given = [over._given(i) for i in over._stepped]
            handed, out = dict(over.handed.carriers), over.out.carriers
            for v, (pairs, own) in given:
                for sort, x in pairs:
                    handed[sort] = over._joined(v, sort, handed[sort], x)
                known = out.get(0, Carrier(own.structure, own.leaves))
                out = {0: Carrier(known.structure, tuple(map(joined, known.leaves, own.leaves)))}
            again = dataclasses.replace(over, handed=Storage(handed), out=Storage(out))
            if not again.handed.differs(over.handed) and not again.out.differs(over.out):
                break
            over = again
        for v, (pairs, _) in given:
            for sort, x in pairs:
                if (i := misfit(handed[sort].leaves, x)) is not None:
                    raise over._mismatch(v, sort, x, advice(handed[sort].leaves[i], x.leaves[i], "Give every node"))
        for sort, carrier in self.handed.carriers.items():
            first, last = Own(carrier.structure, carrier.leaves), handed[sort].leaves
            if (i := misfit(last, first)) is not None:
                raise over._mismatch(None, sort, first, advice(last[i], first.leaves[i], "Give every node"))
        return over

    @property
    def _stepped(self) -> list[int]:
        """The variants at which there is a step."""
        return [i for i, v in enumerate(self.bucket.variants) if self.leaves or not v.leaf]

    def programs(self) -> list[Program]:
        """One for each kind of step."""
        cases = [(i, self._wiring(i), self.trace(i, PROBE)) for i in self._stepped]
        found = programs(self.bucket, cases, self.trace)
        for program in found:
            if indexed(program, 0) is None:
                program.trace_at(self.bucket.pieces_of(*program.members))
        return found

    def _wiring(self, index: int) -> Wiring:
        v = self.bucket.variants[index]
        slots, manys = (tuple(map(self.below.columns, some)) for some in (v.slot_sorts, v.many_sorts))
        by_edge = sum(len(self.handed.columns(s)) for s in v.many_sorts)
        out = self.out.columns(0)
        return Wiring(self.bucket.columns(index), slots, manys, out, self.handed.columns(v.sort), by_edge)

    def trace(self, index: int, size: Size) -> ClosedJaxpr:
        """The case of one variant: what is handed to its slots, its own, and what is handed along its edges."""
        return jax.make_jaxpr(lambda *inputs: self._node(index, *inputs))(*self._inputs(index, size))

    def _inputs(self, index: int, size: Size) -> Node:
        """The shapes of one node's inputs: row, payload, slots, keys, edges, and what it inherits."""
        v = self.bucket.variants[index]
        lengths = [size.edges_of(g) for g in range(v.manys)]
        pairs = zip(lengths, v.many_sorts, strict=True)
        edges = [(shaped((n,), jnp.int32), rows_of(n, self.below.carriers[s].leaves)) for n, s in pairs]
        slots = [one_of(self.below.carriers[s].leaves) for s in v.slot_sorts]
        payload = self.bucket.leaves_of(index)
        own = one_of(self.handed.carriers[v.sort].leaves)
        return shaped((), jnp.int32), payload, slots, [], edges, own

    def _given(self, index: int) -> tuple[Variant, tuple[list[tuple[int, Own]], Own]]:
        """What the step of one variant gives: to each place, with its sort, and of its own."""
        v, found = self.bucket.variants[index], []

        def give(*inputs: Any) -> list[Any]:
            to_slots, sources, to_manys, out = self._step(index, *inputs)
            pairs = [(s, Own.of(x)) for s, x in zip(v.slot_sorts, to_slots, strict=True)]
            every = zip(v.many_sorts, sources, to_manys, strict=True)
            pairs += [(s, own_of(many.at, source.child)) for s, source, many in every]
            found.append((pairs, Own.of(out)))
            return jax.tree.leaves((to_slots, out))

        case = jax.make_jaxpr(give)(*self._inputs(index, PROBE))
        expect_no_reckoning(case.jaxpr, f"in `{self.names[v.sort]}`, at `{v}`")
        return v, found[-1]

    def _step(
        self,
        index: int,
        row: jax.Array,
        payload: Arrays,
        slots: list[Arrays],
        keys: Arrays,
        edges: list[tuple[jax.Array, Arrays]],
        own: Arrays,
    ) -> tuple[list[Any], list[Edges], list[Many[Any]], Any]:
        """What the step of one variant gives: to its slots; its sources of edges, and what goes along them; its own."""
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
        return to_slots, sources, to_manys, out

    def _node(self, index: int, *inputs: Any) -> list[Any]:
        v, carriers = self.bucket.variants[index], self.handed.carriers
        to_slots, sources, to_manys, out = self._step(index, *inputs)
        leaves = [x for s, value in zip(v.slot_sorts, to_slots, strict=True) for x in _cast(value, carriers[s])]
        leaves += _cast(out, self.out.carriers[0])
        for sort, source, many in zip(v.many_sorts, sources, to_manys, strict=True):
            leaves += source.each(functools.partial(_along, carriers[sort], many))
        return leaves

    def _joined(self, variant: Variant, sort: int, carrier: Carrier, own: Own) -> Carrier:
        """The carrier of what is handed to a sort, joined with what one step gives."""
        if not own.alike(Own(carrier.structure, carrier.leaves)):
            raise self._mismatch(variant, sort, own, "Give every node the same structure and shapes.")
        return Carrier(carrier.structure, tuple(map(joined, carrier.leaves, own.leaves)))

    def _mismatch(self, variant: Variant | None, sort: int, own: Own, what: str) -> CarrierMismatch:
        """That of a value which a step hands to a child of some sort, or of that at the roots."""
        carrier, which = self.handed.carriers[sort], f" of sort {sort}" if len(self.names) > 1 else ""
        others = Own(carrier.structure, carrier.leaves)
        if variant is None:
            return CarrierMismatch(f"the root{which} is given {own}, and what is handed to a child is {others}. {what}")
        return CarrierMismatch(
            f"at `{variant}`, `{self.names[variant.sort]}` hands {own} to a child{which}, and the root is given "
            f"{others}. {what}"
        )


def _along(carrier: Carrier, many: Many[Any], child: Any) -> list[Any]:
    return _cast(many.at(child), carrier)


def _cast(value: Any, carrier: Carrier) -> list[Any]:
    """The leaves of a value, with a carrier's types."""
    return list(map(cast, jax.tree.leaves(value), carrier.leaves))


class Plain(eqx.Module):
    """A step that gives nothing of the node's own."""

    step: Callable[[Any, Any], Any]

    def __call__(self, value: Any, layer: Base[Any, Any]) -> tuple[Any, Any]:
        return given_down(self.step, value, layer), ()
