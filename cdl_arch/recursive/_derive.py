"""The network of a signature, derived: which cells there are, and how payloads enter them.

| in the functor                     | in the network                                                        |
| ---------------------------------- | --------------------------------------------------------------------- |
| a constructor                      | a cell of its own, in a stack; or one shared with those of its arity  |
| a constructor with nothing in it   | a state that is learnt                                                |
| a payload of `n` numbers           | a linear map `ℝⁿ → ℝᵉ`, or a map that is given                        |
"""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, get_args, TypeAlias, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from cdl._functors.read import layout
from cdl.errors import SignatureError
from cdl.functors import constructors
from cdl.poly import Const

from ._layer import Arity, arity_of
from ._named import named
from ._net import Cell, Input, Learned, TreeNet


S = TypeVar("S")
Payloads: TypeAlias = Mapping[type[Any], Callable[..., Any] | int]


class Flat(eqx.Module):
    """A payload of numbers as a vector, by a linear map of all of them."""

    linear: eqx.nn.Linear

    def __call__(self, *payload: Any) -> Array:
        dtype = self.linear.weight.dtype
        return self.linear(jnp.concatenate([jnp.ravel(jnp.asarray(x)).astype(dtype) for x in payload]))


def vector(width: int, dtype: Any) -> Any:
    """The shape of a vector, for a carrier."""
    return jax.eval_shape(lambda: jnp.zeros(width, dtype))


@dataclass(frozen=True)
class Architecture(Generic[S]):
    """A kind of tree network: given a signature, its cells.

    `cell(arity, embed, width, dtype=, key=)` is a new cell, where `embed` is the size of what is at a node, 0 for
    nothing. `carrier(width, dtype)` are the shapes of a state, `leaf(width, dtype, key)` one to begin learning from.
    `share` names the cell for an arity: constructors of one name have it in common. `shared`: whether they do, where it
    is not said.
    """

    cell: Callable[..., Cell[S]]
    carrier: Callable[[int, Any], Any]
    leaf: Callable[[int, Any, PRNGKeyArray], S]
    share: Callable[[Arity], str]
    shared: bool = True

    def __call__(
        self,
        signature: Any,
        width: int,
        *,
        embed: int | None = None,
        payload: Payloads | None = None,
        shared: bool | None = None,
        dropout: float = 0.0,
        dtype: Any = None,
        key: PRNGKeyArray,
    ) -> TreeNet[S]:
        """The network of a signature.

        **Arguments:** `signature`: of one sort, such as `ExprF`. `width`: of the state. `embed`: of what is at a node;
        `width` where none is given. `payload`: for constructors whose annotations do not say how many numbers their
        payload is, that number; or a map from the payload's fields to a vector of size `embed`, such as
        `eqx.nn.Embedding`. `shared`: whether constructors share cells; one that does not share, and has no payload,
        needs no vector of its own, and without children either it is a learned state. `dropout`: of each child's
        vector, where a key is given.

        **Raises:** `SignatureError` where a constructor's fields cannot be read, or its payload is of unknown size.

        **Warns:** where an `int` is about to be read as a quantity, and `payload` does not say so.
        """
        kinds = constructors(signature)
        names = [kind.__name__ for kind in kinds]
        if len(set(names)) < len(names):
            raise SignatureError(
                f"two constructors have one name among {', '.join(names)}: a cell is found by its name."
            )
        embed = width if embed is None else embed
        in_common = self.shared if shared is None else shared
        inputs: dict[str, Input] = {}
        cells: dict[str, Cell[S]] = {}
        cell_of: dict[str, str] = {}
        forms: dict[str, str] = {}
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True)):
            arity, (for_vector, for_payload, for_cell) = arity_of(kind), jr.split(jr.fold_in(key, i), 3)
            own = jr.normal(for_vector, (embed,), dtype) / math.sqrt(embed) if in_common else None
            read = _payload_map(kind, arity, embed, payload or {}, dtype, for_payload)
            inputs[name] = Input(own, read)
            cell_of[name] = self.share(arity) if in_common else name
            if cell_of[name] not in cells:
                given = embed if own is not None or read is not None else 0
                bare = arity.leaf and not given
                cells[cell_of[name]] = (
                    Learned(self.leaf(width, dtype, for_cell))
                    if bare
                    else self.cell(arity, given, width, dtype=dtype, key=for_cell)
                )
                forms[name] = form(arity) + ", payload" * bool(given)
        every = dict(zip(names, kinds, strict=True))
        return TreeNet(
            named(inputs, every, lambda name: _form_of_input(inputs[name])),
            named(cells, {} if in_common else every, forms.__getitem__),
            self.carrier(width, dtype),
            dropout,
            tuple(cell_of.items()),
            kinds,
        )


def form(arity: Arity) -> str:
    """What the cells for an arity are called."""
    return f"{arity.places} places, {arity.groups} groups"


def _form_of_input(given: Input) -> str | None:
    """`None` for an input without weights, or with a map that a user gave."""
    if not isinstance(given.payload, Flat):
        return None if given.payload is not None or given.vector is None else "name"
    size = f"payload of {given.payload.linear.in_features}"
    return size if given.vector is None else f"name, {size}"


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
        _ask_of_whole_numbers(kind, [name for name in sizes if _is_whole(terms[name])], size, embed)
    return Flat(eqx.nn.Linear(size, embed, dtype=dtype, key=key))


def _ask_of_whole_numbers(kind: type[Any], fields: list[str], size: int, embed: int) -> None:
    """**Warns:** where there are some: they may number things."""
    if fields:
        warnings.warn(
            f"`{kind.__name__}.{fields[0]}` is annotated `int`, and a linear map is about to read it as a quantity: "
            f"where it numbers things, give `payload={{{kind.__name__}: …}}` a map such as "
            f"`eqx.nn.Embedding(count, {embed}, key=key)`; where it is a quantity, the number {size}.",
            stacklevel=5,
        )


def _is_whole(term: Any) -> bool:
    """Whether a payload is annotated as one whole number."""
    annotation = term.of if isinstance(term, Const) else None
    return annotation is int or (isinstance(annotation, type) and issubclass(annotation, np.integer))


def _numbers(annotation: Any) -> int | None:
    """How many numbers a payload is, where its annotation tells."""
    if annotation in (float, int, bool):
        return 1
    if (shape := getattr(annotation, "dim_str", None)) is not None:
        sizes = shape.split()
        return int(np.prod([int(size) for size in sizes], dtype=int)) if all(map(str.isdigit, sizes)) else None
    found = {_numbers(member) for member in get_args(annotation)}
    return found.pop() if len(found) == 1 else None
