"""A network of any signature: what is at a node enters, what its children say is dropped at random, a cell decides.

| the mathematics                              | here                                                             |
| -------------------------------------------- | ---------------------------------------------------------------- |
| `α = [α₁, α₂, …] : F₁ S + F₂ S + … → S`      | `TreeNet.cells`: a cell for each constructor, or for each arity  |
| `Aᵢ → ℝᵉ`                                    | `TreeNet.inputs`: a constructor's own vector and its payload     |
| one summand's map, `ℝᵉ × Sⁿ × (List S)ᵐ → S` | a `Cell`                                                         |
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Generic, get_args, NamedTuple, Protocol, TypeAlias, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from cdl import Algebra, Many, SignatureError
from cdl.functor import constructors
from cdl.functor._read import layout
from cdl.functor.poly import Const

from ._layer import Arity, arity_of, take_apart
from ._mask import mask


S = TypeVar("S")
Vector: TypeAlias = Float[Array, " width"]
Payloads: TypeAlias = Mapping[type[Any], Callable[..., Any] | int]


class State(NamedTuple):
    """The carrier of an LSTM: what it shows to the node above, and what it keeps."""

    hidden: Vector
    memory: Vector


class Cell(Protocol[S]):
    """One summand of the algebra. `x` is what is at the node itself; `None` where there is nothing."""

    def __call__(self, x: Any, places: tuple[S, ...], groups: tuple[Many[S], ...], /) -> S: ...


def vector(width: int, dtype: Any) -> Any:
    """The shape of a vector, for a carrier."""
    return jax.eval_shape(lambda: jnp.zeros(width, dtype))


class Input(eqx.Module):
    """What is at a node: the constructor's own vector, and its payload as a vector; their sum where it has both."""

    vector: Array | None
    payload: Callable[..., Any] | None

    def __call__(self, payload: tuple[Any, ...]) -> Array | None:
        read = None if self.payload is None else self.payload(*payload)
        return self.vector if read is None else read if self.vector is None else self.vector + read


class Flat(eqx.Module):
    """A payload of numbers as a vector, by a linear map of all of them."""

    linear: eqx.nn.Linear

    def __call__(self, *payload: Any) -> Array:
        dtype = self.linear.weight.dtype
        return self.linear(jnp.concatenate([jnp.ravel(jnp.asarray(x)).astype(dtype) for x in payload]))


class Learned(eqx.Module, Generic[S]):
    """The cell of a constructor that has nothing but its name: the state itself is learned."""

    state: S

    def __call__(self, x: Any, places: tuple[S, ...], groups: tuple[Many[S], ...]) -> S:
        return self.state


class TreeNet(Algebra[Any, S]):
    """The algebra of a signature whose layers are read by cells. Made by `tree_rnn`, `child_sum`, `n_ary`, `gated`.

    With a key, each child's vector (of an LSTM, its hidden one) goes through dropout; the children of one group, which
    share their weights, share a mask. Without a key nothing is dropped.
    """

    inputs: dict[str, Input]
    cells: dict[str, Cell[S]]
    carrier: Any = eqx.field(static=True)  # the shapes of a state
    dropout: float = eqx.field(static=True)
    cell_of: tuple[tuple[str, str], ...] = eqx.field(static=True)

    def __call__(self, layer: Any, *, key: PRNGKeyArray | None = None) -> S:
        name = type(layer).__name__
        payload, places, groups = take_apart(layer)
        places = tuple(_zeros(self.carrier) if child is None else child for child in places)
        if key is not None and self.dropout and (places or groups):
            shown = jax.tree.leaves(self.carrier)[0]
            masks = mask(key, self.dropout, (len(places) + len(groups), *shown.shape), shown.dtype)
            places = tuple(_hide(child, by) for child, by in zip(places, masks, strict=False))
            groups = tuple(group.map(_hiding(by)) for group, by in zip(groups, masks[len(places) :], strict=True))
        return self.cells[dict(self.cell_of)[name]](self.inputs[name](payload), places, groups)


def derive(
    signature: Any,
    carrier: S,
    cell: Callable[[Arity, int, PRNGKeyArray], Cell[S]],
    leaf: Callable[[PRNGKeyArray], S],
    *,
    shared: Callable[[Arity], str] | None,
    embed: int,
    payload: Payloads | None,
    dropout: float,
    dtype: Any,
    key: PRNGKeyArray,
) -> TreeNet[S]:
    """The network of a signature.

    **Arguments:** `carrier`: the shapes of a state. `cell`: a new cell, from its arity, the size of `x` (0 for none)
    and a key. `leaf`: a new state. `shared`: the name of the cell for an arity, where constructors of one name share
    it; `None` for a cell each.

    **Raises:** `SignatureError` where a constructor's payload is of unknown size, or its fields cannot be read.
    """
    kinds = constructors(signature)
    names = [kind.__name__ for kind in kinds]
    if len(set(names)) < len(names):
        raise SignatureError(f"two constructors have one name among {', '.join(names)}: a cell is found by its name.")
    inputs: dict[str, Input] = {}
    cells: dict[str, Cell[S]] = {}
    cell_of: dict[str, str] = {}
    for i, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        arity, (for_vector, for_payload, for_cell) = arity_of(kind), jr.split(jr.fold_in(key, i), 3)
        vector = None if shared is None else jr.normal(for_vector, (embed,), dtype) / math.sqrt(embed)
        read = _payload_map(kind, arity, embed, payload or {}, dtype, for_payload)
        inputs[name] = Input(vector, read)
        cell_of[name] = name if shared is None else shared(arity)
        if cell_of[name] not in cells:
            given = embed if vector is not None or read is not None else 0
            bare = arity.leaf and not given
            cells[cell_of[name]] = Learned(leaf(for_cell)) if bare else cell(arity, given, for_cell)
    return TreeNet(inputs, cells, carrier, dropout, tuple(cell_of.items()))


def _payload_map(
    kind: type[Any], arity: Arity, embed: int, given: Payloads, dtype: Any, key: PRNGKeyArray
) -> Callable[..., Any] | None:
    """From a constructor's payload to a vector: the map that is given, or a linear one of all its numbers."""
    if not arity.payload:
        return None
    size = given.get(kind)
    if callable(size):
        return size
    if size is None:
        record = layout(kind)
        terms = dict(zip(record.names, record.factors, strict=True))
        sizes = {name: _numbers(term.of) for name in arity.payload if isinstance(term := terms[name], Const)}
        unknown = next((name for name, many in sizes.items() if many is None), None)
        if unknown is not None:
            raise SignatureError(
                f"`{kind.__name__}.{unknown}` is annotated `{terms[unknown]}`, which does not say how many numbers it "
                f"is: give `payload={{{kind.__name__}: 3}}` for three, or a map from it to a vector of {embed}."
            )
        size = sum(many for many in sizes.values() if many is not None)
    return Flat(eqx.nn.Linear(size, embed, dtype=dtype, key=key))


def _numbers(annotation: Any) -> int | None:
    """How many numbers a payload is, where its annotation tells."""
    if annotation in (float, int, bool):
        return 1
    if (shape := getattr(annotation, "dim_str", None)) is not None:
        sizes = shape.split()
        return int(np.prod([int(size) for size in sizes], dtype=int)) if all(map(str.isdigit, sizes)) else None
    found = {_numbers(member) for member in get_args(annotation)}
    return found.pop() if len(found) == 1 else None


def _zeros(carrier: Any) -> Any:
    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), carrier)


def _hide(child: Any, by: Array) -> Any:
    return child._replace(hidden=child.hidden * by) if isinstance(child, State) else child * by


def _hiding(by: Array) -> Callable[[Any], Any]:
    return lambda child: _hide(child, by)
