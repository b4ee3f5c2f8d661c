"""Algebras in `Para`: the network of one tree, untied, and tying as a reparametrisation.

| the mathematics                                        | here                                                   |
| ------------------------------------------------------ | ------------------------------------------------------ |
| a strong functor lifts: `(P, f) ↦ (P, F f ∘ σ)`        | `lift(f)`: one `P`, handed to every place              |
| a parametric algebra `(P, α : P × F A → A)`            | `Para[P, Base[T, A], A]`; `Para.of` of an `Algebra`    |
| its network over a tree of `n` nodes: `Pⁿ → A`         | `unroll(α, tree)`: a copy of `P` for each node         |
| tying, along `Δ : P → Pⁿ`                              | `untied.tied()`: `cata` of the algebra                 |
| partial tying, along `Pᵏ → Pⁿ`                         | `untied.tied(by)`: one copy for each answer of `by`    |

Weights are shared because one algebra is used at every node; `unroll` takes that apart, so that it can be seen: the
gradient of the tied network is the sum of those of the untied one.
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import equinox as eqx

from .._functors import Base, Fix, fmap, holes
from .._functors.described import described
from .._functors.expected import expect_fields
from .._functors.mapping import fill
from .._functors.recursion import recursion
from .._functors.usage import with_types, with_usage
from .._terms import name
from ..errors import CdlError
from .para import Para
from .two_cells import gather


T = TypeVar("T")
P = TypeVar("P")
A = TypeVar("A")
X = TypeVar("X")
Y = TypeVar("Y")


@dataclass(frozen=True)
class Place:
    """A node of a tree: its number in pre-order, how deep it is, how high above its leaves, and its constructor.

    Examples:
        >>> read = lambda p, t: t.label if isinstance(t, cdl.Leaf) else p * (t.left + t.right)
        >>> weigh = cdl.Para(2.0, read)
        >>> untied = cdl.unroll(
        ...     weigh, cdl.Fork(cdl.Leaf(1.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(3.0)))
        ... )
        >>> [(place.index, place.depth, place.height) for place in untied.places]
        [(0, 0, 2), (1, 1, 0), (2, 1, 1), (3, 2, 0), (4, 2, 0)]
    """

    index: int
    depth: int
    height: int
    constructor: type[Any]


class Untied(eqx.Module, Generic[P, A]):
    """The network of one tree, with a copy of the parameters for each node, in pre-order. Call it for its value.

    Examples:
        >>> read = lambda p, t: t.label if isinstance(t, cdl.Leaf) else p * (t.left + t.right)
        >>> weigh = cdl.Para(2.0, read)
        >>> untied = cdl.unroll(
        ...     weigh, cdl.Fork(cdl.Leaf(1.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(3.0)))
        ... )
        >>> untied.tied().params, untied.tied()(())
        ((2.0,), 22.0)
        >>> by_level = untied.tied(lambda place: place.depth)
        >>> by_level.params
        (2.0, 2.0, 2.0)
    """

    para: Para[tuple[P, ...], tuple[()], A]
    places: tuple[Place, ...] = eqx.field(static=True)

    def __check_init__(self) -> None:
        expect_fields(self)

    @property
    def params(self) -> tuple[P, ...]:
        return self.para.params

    def __call__(self) -> A:
        return self.para(())

    def at(self, params: tuple[P, ...]) -> A:
        """The value with other parameters: as many copies as `params` has.

        **Raises:** `CdlError` where there are more of them, or fewer.
        """
        if not isinstance(params, tuple | list) or len(params) != len(self.params):
            given = f"{len(params)}" if isinstance(params, tuple | list) else described(params)
            raise CdlError(
                f"the network has {len(self.params)} copies of the parameters, and `at` was given {given}: give one "
                "for each place, in the order of `places`."
            )
        return self.para.fn(params, ())

    @with_types
    def tied(self, by: Callable[[Place], Hashable] = lambda place: 0) -> Para[tuple[P, ...], tuple[()], A]:
        """The same network, where nodes share the parameters if `by` gives the same answer for them. Without `by` all
        nodes share one copy. Each copy is that of the first node with its answer, and copies are in the order of these
        nodes.
        """
        numbers: dict[Hashable, int] = {}
        index = tuple(numbers.setdefault(by(place), len(numbers)) for place in self.places)
        first = tuple(self.params[index.index(i)] for i in range(len(numbers)))
        return self.para.reparametrise(gather(index), at=first)


@with_types
def lift(f: Para[P, X, Y], /) -> Para[P, Base[Any, X], Base[Any, Y]]:
    """`F` of a parametric map, by the strength of `F`: the same parameters at every place of a layer.

    Examples:
        >>> double = cdl.Para(2.0, lambda p, x: p * x)
        >>> cdl.lift(double)(cdl.Fork(1.0, 5.0))
        Fork(2.0, 10.0)
    """
    return Para(f.params, _Lifted(f.fn))


@with_usage
def unroll(algebra: Para[P, Base[T, A], A], tree: Fix[T], /) -> Untied[P, A]:
    """The network of a parametric algebra over a tree, untied: each node has a copy of the algebra's parameters.

    **Arguments:** `algebra`: as a `Para`. `tree`: the tree whose nodes are untied.

    **Raises:** `CdlError` where the first is not a `Para`, or the second not a tree.

    Examples:
        >>> read = lambda p, t: t.label if isinstance(t, cdl.Leaf) else p * (t.left + t.right)
        >>> weigh = cdl.Para(2.0, read)
        >>> untied = cdl.unroll(weigh, cdl.Fork(cdl.Leaf(1.0), cdl.Leaf(4.0)))
        >>> untied(), untied.params
        (10.0, (2.0, 2.0, 2.0))
        >>> untied.at((3.0, 2.0, 2.0))
        15.0
    """
    if not isinstance(algebra, Para):
        write = "the algebra comes first, `unroll(Para.of(alg), tree)`"
        if callable(algebra):
            write = "write `unroll(Para.of(alg), tree)`, which takes its arrays for parameters"
        raise CdlError(f"`unroll` takes a parametric algebra, a `Para`, and was given {described(algebra)}: {write}.")
    if not isinstance(tree, Base):
        raise CdlError(f"`unroll` makes the network of one tree, and was given {described(tree)}: give a tree.")
    places = places_of(tree)
    network = Para((algebra.params,) * len(places), Unrolled(algebra.fn, tree))
    return Untied(network, places)


class _Lifted(eqx.Module):
    fn: Callable[[Any, Any], Any]
    by: Callable[..., Any] = fmap

    @property
    def __called__(self) -> str:
        words = name(self.fn)
        return f"F ({words})" if " " in words else f"F {words}"

    def __call__(self, params: Any, layer: Any) -> Any:
        return self.by(lambda x: self.fn(params, x), layer)


class Network(eqx.Module):
    """The network of one tree, in which each node has its own parameters."""

    fn: Callable[[Any, Any], Any]


class Grower(Network):
    """What grows the tree."""

    @abstractmethod
    def nodes(self) -> tuple[tuple[type[Any], int] | None, ...]:
        """The constructor of each node in pre-order and the number of its places; `None` where the tree ends early."""


class Unrolled(Network):
    """What reads the tree."""

    tree: Any

    @property
    def __called__(self) -> str:
        return f"unrolled {name(self.fn)}"

    def __call__(self, params: Any, _: Any) -> Any:
        up: Any = lambda frame, go: self.fn(params[frame.index], frame.filled(go))
        return recursion(lambda _, tree: tree, up, finite=True)(0)(self.tree)


def places_of(tree: Any) -> tuple[Place, ...]:
    """The nodes of a tree, in pre-order."""
    found: dict[int, Place] = {}

    def up(frame: Any, go: Any) -> int:
        height = 1 + max(frame.values, default=-1)
        found[frame.index] = Place(frame.index, frame.seed[0], height, type(frame.layer))
        return height

    def down(_: int, seed: tuple[int, Any]) -> Any:
        depth, layer = seed
        return fill(layer, [(depth + 1, child) for child in holes(layer)])

    recursion(down, up)(0)((0, tree))
    return tuple(found[i] for i in range(len(found)))
