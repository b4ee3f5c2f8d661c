"""A network of any signature: what is at a node enters, what its children say is dropped at random, a cell decides.

| the mathematics                              | here                                                             |
| -------------------------------------------- | ---------------------------------------------------------------- |
| `α = [α₁, α₂, …] : F₁ S + F₂ S + … → S`      | `TreeNet.cells`: a cell for each constructor, or for each arity  |
| `Aᵢ → ℝᵉ`                                    | `TreeNet.inputs`: a constructor's own vector and its payload     |
| one summand's map, `ℝᵉ × Sⁿ × (List S)ᵐ → S` | a `Cell`                                                         |
"""

import itertools
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from cdl import Algebra, Base, Many
from cdl._engine.arrays.shapes import shown
from cdl._engine.calls._traced import noted
from cdl._functors.origin import not_a_constructor
from cdl.checks import an, described, number_of
from cdl.errors import ForeignLayer, PayloadMismatch, SignatureError

from ._layer import take_apart
from ._mask import mask
from ._named import Named
from ._payload import Flat
from ._shared import put_back


S = TypeVar("S")
Vector: TypeAlias = Float[Array, " width"]


class State(NamedTuple):
    """The state of an LSTM: `hidden`, which the node above reads, and `memory`, which the cell keeps.

    Examples:
        >>> from cdl_arch.recursive import n_ary, State
        >>> words = eqx.nn.Embedding(10, 3, key=jax.random.key(1))
        >>> net = n_ary(cdl.TreeF, 4, embed=3, payload={cdl.Leaf: words}, key=jax.random.key(0))
        >>> state: State = cdl.cata(net)(cdl.Leaf(jnp.array(1)))
        >>> state.hidden.shape, state.memory.shape
        ((4,), (4,))
    """

    hidden: Vector
    memory: Vector


class Cell(Protocol[S]):
    """One summand of the algebra. `x` is what is at the node itself; `None` where there is nothing."""

    def __call__(self, x: Any, places: tuple[S, ...], groups: tuple[Many[S], ...], /) -> S: ...


class Input(eqx.Module):
    """What is at a node: the constructor's own vector, and its payload as a vector; their sum where it has both."""

    vector: Array | None
    payload: Callable[..., Any] | None
    embed: int = eqx.field(static=True)  # the size of both

    def __call__(self, name: str, payload: tuple[Any, ...]) -> Array | None:
        """The vector at a node. **Raises:** `PayloadMismatch`, with the constructor's name, for one of another size."""
        numbers = sum(map(jnp.size, payload)) if isinstance(self.payload, Flat) else 0
        if isinstance(self.payload, Flat) and numbers != self.payload.linear.in_features:
            raise PayloadMismatch(
                f"the payload of `{name}` is {number_of('number', numbers)}, and the network was made for "
                f"{self.payload.linear.in_features}: give `payload={{{name}: {numbers}}}` where it is made."
            )
        read = None if self.payload is None else self._read(self.payload, name, payload)
        if self.payload is not None and getattr(read, "shape", None) != (self.embed,):
            raise PayloadMismatch(
                f"the map that `payload` has for `{name}` gives {described(read)}, and a vector of shape "
                f"({self.embed},) belongs at the node: `embed` is its size, and where it is not given, the width."
            )
        return self.vector if read is None else read if self.vector is None else self.vector + read

    def _read(self, read: Callable[..., Any], name: str, payload: tuple[Any, ...]) -> Any:
        """**Raises:** `CdlError`, with the constructor's name, where JAX refuses an operation in the map."""
        given = lambda: f"a payload of {', '.join(map(shown, payload))}"
        advice = f"make it a map to a vector of shape ({self.embed},)"
        if any(isinstance(x, str) for x in payload):
            advice = "encode the tree first, `words.encode(tree)`: a network reads the numbers of texts"
        called = f"payload[{name}]"
        with noted(called, given, advice):
            return read(*payload)


class Learned(eqx.Module, Generic[S]):
    """The cell of a constructor that has nothing but its name: the state itself is learned."""

    state: S

    def __call__(self, x: Any, places: tuple[S, ...], groups: tuple[Many[S], ...]) -> S:
        return self.state


class TreeNet(Algebra[Any, S]):
    """A network of a signature: an algebra that reads each layer with a cell. Made by `tree_rnn`, `child_sum`, `n_ary`,
    `gated`.

    With a key, each child's vector (of an LSTM, its hidden one) goes through dropout; the children of one group, which
    share their weights, share a mask. Without a key nothing is dropped.

    Examples:
        >>> from cdl_arch.recursive import tree_rnn, TreeNet
        >>> net: TreeNet = tree_rnn(cdl.TreeF, 4, payload={cdl.Leaf: 10}, key=jax.random.key(0))
        >>> sorted(net.cells)
        ['0 places, 0 groups', '2 places, 0 groups']
    """

    inputs: Named[Input]
    cells: Named[Cell[S]]
    carrier: Any = eqx.field(static=True)  # the shapes of a state
    dropout: float = eqx.field(static=True)
    cell_of: tuple[tuple[str, str], ...] = eqx.field(static=True)
    kinds: tuple[type[Any], ...] = eqx.field(static=True)  # the constructors of the signature
    shared: tuple[Any, ...] = ()  # what the payload maps of several constructors have in common

    @property
    def __reads__(self) -> tuple[type[Any], ...]:
        return self.kinds

    def __call__(self, layer: Any, *, key: PRNGKeyArray | None = None) -> S:
        name = type(layer).__name__
        if not isinstance(layer, Base):
            raise ForeignLayer(
                f"the network was called on {described(layer)}, and it reads one layer: write `cdl.fold(net, forest)` "
                "for a forest, or `cdl.cata(net)(tree)` for one tree."
            )
        payload, places, groups = take_apart(layer)
        _expect_states(name, places, groups)
        places = tuple(self._zeros() if child is None else child for child in places)
        if key is not None and self.dropout and (places or groups):
            shown = jax.tree.leaves(self.carrier)[0]
            masks = mask(key, self.dropout, (len(places) + len(groups), *shown.shape), self._dtype())
            places = tuple(_hide(child, by) for child, by in zip(places, masks, strict=False))
            groups = tuple(group.map(_hiding(by)) for group, by in zip(groups, masks[len(places) :], strict=True))
        given = put_back(self.inputs[name], self.shared)
        return self.cell(name)(given(name, payload), places, groups)

    def _zeros(self) -> Any:
        dtype = self._dtype()
        return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, dtype), self.carrier)

    def _dtype(self) -> Any:
        """Of the cells' weights, which may have been cast since the network was made."""
        weights = filter(eqx.is_inexact_array, jax.tree.leaves(self.cells))
        return next(weights, jax.tree.leaves(self.carrier)[0]).dtype

    def cell(self, of: str | type[Any]) -> Cell[S]:
        """The cell that reads a constructor: `net.cell("If")`, or `net.cell(If)`. Other constructors may share it.

        **Raises:** `SignatureError` where this is not a constructor of the signature.
        """
        if isinstance(of, str) or of in self.kinds:
            name = of if isinstance(of, str) else of.__name__
            for constructor, cell in self.cell_of:
                if constructor == name:
                    return self.cells[cell]
        own = not_a_constructor(of) if isinstance(of, type) else ""
        raise SignatureError(
            f"`cell` was given {described(of)}, which is not a constructor of the signature: there are "
            f"{', '.join(kind.__name__ for kind in self.kinds)}.{own}"
        )


def _expect_states(name: str, places: tuple[Any, ...], groups: tuple[Many[Any], ...]) -> None:
    """**Raises:** `ForeignLayer` where a child is still a tree: the network was called on a whole tree."""
    children = itertools.chain(places, *(group.items for group in groups if group.listed))
    if any(isinstance(child, Base) for child in children):
        raise ForeignLayer(
            f"the network was called on {an(name)} whose children are trees, and it reads one layer, whose children "
            "are states: write `cdl.cata(net)(tree)` for one tree, or `cdl.fold(net, cdl.pack(signature, trees))`."
        )


def _hide(child: Any, by: Array) -> Any:
    return child._replace(hidden=child.hidden * by) if isinstance(child, State) else child * by


def _hiding(by: Array) -> Callable[[Any], Any]:
    return lambda child: _hide(child, by)
