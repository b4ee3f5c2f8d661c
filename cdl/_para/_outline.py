"""The outline of a tree: the constructors and the places of its nodes, in pre-order, without payloads."""

from collections.abc import Callable
from typing import Any, NamedTuple

from .._functors import holes, Pure
from .._functors.mapping import fill, is_lazy
from .._functors.read import layout, sorts
from .._functors.recursion import Done, recursion
from .._functors.words import number_of
from .._schemes.likelihoods import places_of
from .._schemes.unfolds import Choice, expect_layer
from ..errors import CdlError, ForeignLayer
from .unrolled import Place


class Outline(NamedTuple):
    """What is known of a node before it is grown: its constructor, its places, and which of a choice it is."""

    kind: type[Any]
    places: str  # in words, which hash
    number: int
    which: int | None  # where the coalgebra chose it

    def of(self, given: Any) -> Any:
        """The layer that a coalgebra gave, of several this one. **Raises:** `ForeignLayer` where there is none."""
        layers = given.layers if isinstance(given, Choice) else (expect_layer(given),)
        if self.which is not None and self.which < len(layers):
            layers = (layers[self.which],)
        found = [layer for layer in layers if outlined(layer, self.which) == self]
        if len(found) != 1:
            places: Callable[..., str] = lambda kind, n: f"{kind.__name__} with {number_of('place', n)}"
            among = ", ".join(places(type(layer), len(holes(layer))) for layer in layers)
            raise ForeignLayer(
                f"the network grows {places(self.kind, self.number)} here, and of the layers that the coalgebra gives "
                f"({among}), {len(found)} are such: unroll it again at these parameters, or let it propose (`choose`) "
                "one layer for each constructor."
            )
        return found[0]


def outlined(layer: Any, which: int | None = None) -> Outline:
    """The outline of one layer. `which`: its number in the choice that it is of."""
    return Outline(type(layer), str(places_of(layout(type(layer)), layer)), len(holes(layer)), which)


def read(
    at: Callable[[Any], tuple[Outline, Any]], root: Any, limit: int | None
) -> tuple[tuple[Outline | None, ...], tuple[Place, ...]]:
    """The outlines of all nodes in pre-order, `None` where they end early, and the places of those that are grown.

    **Arguments:** `at`: from a seed to the outline of its node, and its layer. `limit`: how many layers there are;
    `None` where the seeds are trees, which end at a `Pure`.
    """
    outline: list[Outline | None] = []
    found: dict[int, Place] = {}

    def down(_: int, place: tuple[int, Any]) -> Any:
        depth, seed = place
        if depth == limit or (limit is None and isinstance(seed, Pure)):
            outline.append(None)
            return Done(-1)
        node, layer = at(seed)
        outline.append(node)
        return fill(layer, [(depth + 1, below) for below in holes(layer)])

    def up(frame: Any, _: Any) -> int:
        height = 1 + max(frame.values, default=-1)
        found[frame.index] = Place(frame.index, frame.seed[0], height, type(frame.layer))
        return height

    recursion(down, up)(0)((0, root))
    return tuple(outline), tuple(found[i] for i in range(len(found)))


def strict(layer: Any) -> Any:
    """The layer. **Raises:** `CdlError` where it is of several sorts, or has a function in it."""
    kind = type(layer)
    if is_lazy(kind):
        raise CdlError(
            f"`{kind.__name__}` has a function in it, and what it grows never ends: write "
            "`unroll_machine(machine, state, inputs)`, with a number of steps for a stream."
        )
    if sorts(kind) > 1:
        raise CdlError(
            f"`{kind.__name__}` is of a family of {sorts(kind)} sorts, and `unroll_coalgebra` grows trees of one sort."
        )
    return layer
