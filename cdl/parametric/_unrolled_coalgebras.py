"""Coalgebras in `Para`: the network that grows one tree, untied, and tied again.

| the mathematics                                              | here                                                |
| ------------------------------------------------------------ | --------------------------------------------------- |
| a parametric coalgebra `(P, γ : P × S → F S)`                | `Para[P, S, Base[T, S]]`; `Para.of` of a module     |
| `γ`, `n` layers deep: `Pᵏ × S → Fⁿ S`                        | `unroll_coalgebra(γ, seed, n)`                      |
| the same along a finished tree                               | `unroll_coalgebra(γ, seed, tree)`                   |
| a place where depth ended, with its seed                     | `Pure(seed)`, of the free monad                     |
| tying, along `Δ : P → Pᵏ`                                    | `untied.tied()`: `ana` of the coalgebra             |

Each node that is grown has a copy of the parameters, in pre-order, as each node that is read has in `unroll`. Which
constructors are grown is fixed when the network is made: by the best of what the coalgebra proposes, or by the tree
that is given. At other parameters a coalgebra that chooses (`choose`) is told to choose these, as in teacher forcing;
so the network is a smooth map, from parameters to the payloads and the seeds of a tree of one shape.

(Gavranović et al., *Categorical Deep Learning*, 2024, section 3.1: unfolding cells, and their unrolling.)
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple, overload, TypeVar

import equinox as eqx
from jax.core import Tracer

from .._errors import CdlError, ForeignLayer
from ..algebra._likelihood import _places as places_of
from ..algebra._unfolds import Choice, chosen, expect_layer
from ..functor import Base, Fix, Free, holes, Pure
from ..functor._described import described
from ..functor._fmap import fill, is_lazy
from ..functor._read import layout, sorts
from ..functor._recursion import Done, recursion
from ..functor._usage import whole, with_usage
from ..functor._words import number_of
from ._para import Para
from ._unroll import Place, Untied


T = TypeVar("T")
P = TypeVar("P")
S = TypeVar("S")


@overload
def unroll_coalgebra(coalgebra: Para[P, S, Base[T, S]], seed: S, until: int, /) -> Untied[P, Free[T, S]]: ...
@overload
def unroll_coalgebra(coalgebra: Para[P, S, Base[T, S]], seed: S, until: Fix[T], /) -> Untied[P, Fix[T]]: ...
@with_usage
def unroll_coalgebra(coalgebra: Any, seed: Any, until: Any, /) -> Any:
    """The untied network of a parametric coalgebra from one seed, at as many copies of the coalgebra's parameters.

    **Arguments:** `coalgebra`: one layer of seeds for a seed, of a functor of one sort without functions in it; for
    streams and machines there is `unroll_machine`. `until`: how many layers deep to grow, or a tree whose constructors
    are to be grown. Of a number, beware: a tree that branches has as many nodes as it grows in so many layers.

    **Returns:** the network, whose value is the tree. Where depth ends before the tree does, it has `Pure(seed)`.

    **Raises:** `CdlError` where the first is not a `Para`, where the depth is not a whole number, where a choice
    depends on traced values, and `ForeignLayer` where the coalgebra gives another layer than the tree has, when the
    network is made or when it is called with other parameters.
    """
    expect_para("unroll_coalgebra", "coalgebra", coalgebra)
    if isinstance(until, Base):
        outline, places = _of_tree(until)
    elif isinstance(until, list | tuple | str):
        raise CdlError(
            f"`unroll_coalgebra` was given {described(until)} where the depth or the tree belongs: for a machine and "
            "its inputs, write `unroll_machine(machine, state, inputs)`."
        )
    else:
        outline, places = _grown(coalgebra, seed, whole("depth", until, least=0))
    network = _Growing(coalgebra.fn, seed, outline)
    untied = Untied(Para((coalgebra.params,) * len(places), network), places)
    if isinstance(until, Base):
        untied()  # that the coalgebra gives these layers
    return untied


class Outline(NamedTuple):
    """What is known of a node before it is grown: its constructor, its places, and which of a choice it is."""

    kind: type[Any]
    places: str  # in words, which hash
    count: int
    index: int | None

    def of(self, given: Any) -> Any:
        """The layer that a coalgebra gave, of several this one. **Raises:** `ForeignLayer` where there is none."""
        layers = given.layers if isinstance(given, Choice) else (expect_layer(given),)
        if self.index is not None and self.index < len(layers):
            layers = (layers[self.index],)
        found = [layer for layer in layers if _outlined(layer, self.index) == self]
        if len(found) != 1:
            places = lambda kind, count: f"{kind.__name__} with {number_of('place', count)}"
            among = ", ".join(places(type(layer), len(holes(layer))) for layer in layers)
            raise ForeignLayer(
                f"the network grows {places(self.kind, self.count)} here, and of the layers that the coalgebra gives "
                f"({among}), {len(found)} are such: unroll it again at these parameters, or let it propose (`choose`) "
                "one layer for each constructor."
            )
        return found[0]


def expect_para(name: str, what: str, given: Any) -> None:
    """**Raises:** `CdlError` where this is not a `Para`."""
    if not isinstance(given, Para):
        write = f"the {what} comes first, `{name}(Para.of({what}), …)`"
        if callable(given):
            write = f"write `{name}(Para.of({what}), …)`, which takes its arrays for parameters"
        raise CdlError(f"`{name}` takes a parametric {what}, a `Para`, and was given {described(given)}: {write}.")


class _Growing(eqx.Module):
    """`Pᵏ × 1 → Fⁿ S`: each node by its copy."""

    fn: Callable[[Any, Any], Any]
    seed: Any
    outline: tuple[Outline | None, ...] = eqx.field(static=True)  # in pre-order, with `None` for where depth ended

    def __call__(self, params: Any, _: Any) -> Any:
        outline, copies = iter(self.outline), itertools.count()

        def down(_: int, seed: Any) -> Any:
            node = next(outline)
            return Done(Pure(seed)) if node is None else node.of(self.fn(params[next(copies)], seed))

        return recursion(down, lambda frame, go: frame.filled(go))(0)(self.seed)


def _outlined(layer: Any, index: int | None) -> Outline:
    return Outline(type(layer), str(places_of(layout(type(layer)), layer)), len(holes(layer)), index)


def _of_tree(tree: Any) -> tuple[tuple[Outline | None, ...], tuple[Place, ...]]:
    """The outline of a tree that is there, every node of which is grown."""
    return _read(lambda node: (_outlined(_strict(node), None), node), tree, None)


def _grown(coalgebra: Para[Any, Any, Any], seed: Any, depth: int) -> tuple[tuple[Outline | None, ...], Any]:
    """The outline of what a coalgebra grows at its own parameters."""

    def best(seed: Any) -> tuple[Outline, Any]:
        given, index = coalgebra(seed), None
        if isinstance(given, Choice):
            if isinstance(given.scores, Tracer):
                raise CdlError(
                    "a coalgebra chooses by scores that are traced, so that nothing is known of the tree that it "
                    "grows: give the tree in place of the depth, or unroll outside of `jit`, `grad` and `vmap`."
                )
            layer = chosen(given, None)
            index = next(i for i, one in enumerate(given.layers) if one is layer)
            return _outlined(_strict(layer), index), layer
        layer = expect_layer(given)
        return _outlined(_strict(layer), None), layer

    return _read(best, seed, depth)


def _read(
    at: Callable[[Any], tuple[Outline, Any]], root: Any, limit: int | None
) -> tuple[tuple[Outline | None, ...], tuple[Place, ...]]:
    """The outlines of all nodes in pre-order, and the places of those that are grown."""
    outline: list[Outline | None] = []
    found: dict[int, Place] = {}

    def down(_: int, place: tuple[int, Any]) -> Any:
        depth, seed = place
        if depth == limit:
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


def _strict(layer: Any) -> Any:
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
