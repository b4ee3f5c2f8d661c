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
from jax.extend.core import ClosedJaxpr

from ..._functors import Base
from ..._functors.many import Many
from ..._schemes.inheriting import given_down, note_unseen
from ...errors import CarrierMismatch
from ..arrays._carrier import advice, Carrier, cast, misfit, own_of
from ..arrays.shapes import Arrays
from ..calls._traced import noted
from ..folds._edges import Edges
from ..folds._node import Node, node_of, wiring
from ..folds._program import PROBE, Program, programs, Wiring
from ..folds._sites import trace_alone
from ..folds._storage import Storage
from ..forests._bucket import Bucket, Size
from ..forests._variant import at_places, Variant
from ..jaxprs._jaxprs import renamed


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
        over, given = self, list[Any]()
        for _ in range(2):
            given = [over._given(i) for i in over._stepped]
            handed, out = dict(over.handed.carriers), over.out.carriers
            for v, (pairs, own) in given:
                for sort, x in pairs:
                    handed[sort] = over._joined(v, sort, handed[sort], x)
                out = {0: out.get(0, own).joined(own)}
            strong: Any = lambda carriers: Storage({sort: c.strong() for sort, c in carriers.items()})
            over = dataclasses.replace(over, handed=strong(handed), out=strong(out))
        every: list[tuple[Variant | None, int, Carrier]] = [(v, s, x) for v, (pairs, _) in given for s, x in pairs]
        every += [(None, sort, carrier) for sort, carrier in self.handed.carriers.items()]
        for at, sort, x in every:
            leaves = over.handed.carriers[sort].leaves
            if (i := misfit(leaves, x)) is not None:
                raise over._mismatch(at, sort, x, advice(leaves[i], x.leaves[i], "Give every node"))
        return over

    @property
    def _stepped(self) -> list[int]:
        """The variants at which there is a step."""
        return [i for i, v in enumerate(self.bucket.variants) if self.leaves or not v.leaf]

    def programs(self) -> tuple[list[Program], list[Arrays]]:
        """One for each kind of step, and its weights."""
        cases = [(i, self._wiring(i), self.trace(i, PROBE)) for i in self._stepped]
        found, weights = programs(self.bucket, cases)
        trace_alone(found, self.bucket, 0, self.trace)
        return found, weights

    def _wiring(self, index: int) -> Wiring:
        own = self.handed.columns(self.bucket.variants[index].sort)
        return wiring(self.bucket, index, self.below, self.out.columns(0), own, self.handed)

    def trace(self, index: int, size: Size) -> ClosedJaxpr:
        """The case of one variant: what is handed to its slots, its own, and what is handed along its edges."""
        return renamed(jax.make_jaxpr(functools.partial(self._leaves, index))(self._node(index, size)))

    def _node(self, index: int, size: Size) -> Node:
        """The shapes of one node's inputs."""
        own = self.handed.carriers[self.bucket.variants[index].sort].leaves
        return node_of(self.bucket, index, self.below.carriers, size, None, own)

    def _given(self, index: int) -> tuple[Variant, tuple[list[tuple[int, Carrier]], Carrier]]:
        """What the step of one variant gives: to each place, with its sort, and of its own."""
        v, found = self.bucket.variants[index], []

        def give(node: Node) -> list[Any]:
            to_slots, sources, to_manys, out = self._step(index, node)
            pairs = [(s, Carrier.of(x)) for s, x in zip(v.slot_sorts, to_slots, strict=True)]
            every = zip(v.many_sorts, sources, to_manys, strict=True)
            pairs += [(s, own_of(many.at, source.child)) for s, source, many in every]
            found.append((pairs, Carrier.of(out)))
            return jax.tree.leaves((to_slots, out))

        jax.eval_shape(give, self._node(index, PROBE))
        return v, found[-1]

    def _step(self, index: int, node: Node) -> tuple[list[Any], list[Edges], list[Many[Any]], Any]:
        """What the step of one variant gives: to its slots; its sources of edges, and what goes along them; its own."""
        v = self.bucket.variants[index]
        layer, sources = node.layer(v, self.below.carriers)
        name, value = self.names[v.sort], self.handed.carriers[v.sort]
        shown = lambda: f"a value of {value}, from above, at `{v}`"
        try:
            with noted(name, shown, "the roots and each child get a value of the shape that it takes"):
                found, out = self.steps[v.sort](value.unflatten(node.own), layer)
        except Exception as error:
            if isinstance(self.steps[v.sort], WithoutValues):
                words = "`inherit` was given no `values`", "`values=cdl.annotate(alg, forest)`"
                note_unseen(error, v.constructor.__name__, *words)
            raise
        given = at_places(found)
        to_slots = [x for x in given if not isinstance(x, Many)]
        to_manys = [x for x in given if isinstance(x, Many) and not (x.listed and not x.items)]
        if len(to_slots) != v.slots or len(to_manys) != v.manys or any(x.listed for x in to_manys):
            raise CarrierMismatch(
                f"at `{v}`, `{self.names[v.sort]}` gives a layer with other places: map over a `Many`, and give each "
                "other child one value."
            )
        return to_slots, sources, to_manys, out

    def _leaves(self, index: int, node: Node) -> list[Any]:
        v, carriers = self.bucket.variants[index], self.handed.carriers
        to_slots, sources, to_manys, out = self._step(index, node)
        leaves = [x for s, value in zip(v.slot_sorts, to_slots, strict=True) for x in _cast(value, carriers[s])]
        leaves += _cast(out, self.out.carriers[0])
        for sort, source, many in zip(v.many_sorts, sources, to_manys, strict=True):
            leaves += source.each(functools.partial(_along, carriers[sort], many))
        return leaves

    def _joined(self, variant: Variant, sort: int, carrier: Carrier, own: Carrier) -> Carrier:
        """The carrier of what is handed to a sort, joined with what one step gives."""
        if not own.alike(carrier):
            raise self._mismatch(variant, sort, own, "Give every node the same structure and shapes.")
        return carrier.joined(own)

    def _mismatch(self, variant: Variant | None, sort: int, own: Carrier, what: str) -> CarrierMismatch:
        """That of a value which a step hands to a child of some sort, or of that at the roots."""
        carrier, which = self.handed.carriers[sort], f" of sort {sort}" if len(self.names) > 1 else ""
        others = carrier
        if variant is None:
            return CarrierMismatch(f"the root{which} is given {own}, and what is handed to a child is {others}. {what}")
        if not own.leaves:
            what = "The children are `()`, since `values` were not given. " + what
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


class WithoutValues(Plain):
    """A step that sees `()` in the places of the children, since no values were given."""
