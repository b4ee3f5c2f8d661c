"""How the payload of a constructor becomes a vector: by a linear map of its numbers, or by a map that is given.

| in the functor               | in the network                                                          |
| ---------------------------- | ----------------------------------------------------------------------- |
| a payload of `n` numbers     | `Flat`: a linear map `ℝⁿ → ℝᵉ`                                          |
| a payload of several fields  | the numbers of all; or a map that is given, with an argument for each   |
"""

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any, get_args, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from cdl._functors.origin import not_a_constructor, written
from cdl._functors.read import layout
from cdl.checks import an, described, number_of, short, takes, whole
from cdl.errors import SignatureError
from cdl.poly import Const

from ._layer import Arity, arity_of


Payloads: TypeAlias = Mapping[type[Any], Callable[..., Any] | int]


class Flat(eqx.Module):
    """A payload of numbers as a vector, by a linear map of all of them."""

    linear: eqx.nn.Linear

    def __call__(self, *payload: Any) -> Array:
        dtype = self.linear.weight.dtype
        return self.linear(jnp.concatenate([jnp.ravel(jnp.asarray(x)).astype(dtype) for x in payload]))


def expect_payloads(kinds: tuple[type[Any], ...], given: Payloads) -> None:
    """**Raises:** `SignatureError` where anything other than a constructor with a payload has one, or where a map does
    not take one argument for each of its fields."""
    if not isinstance(given, Mapping):
        raise SignatureError(
            f"`payload` is {short(given)}, {an(type(given).__name__)}: give a `dict` from constructors to numbers or "
            "maps."
        )
    for kind, read in given.items():
        if kind not in kinds:
            called = getattr(kind, "__name__", short(kind))
            own = not_a_constructor(kind) if isinstance(kind, type) else _not_a_name(kind, kinds)
            raise SignatureError(
                f"`payload` has `{called}`, which is not a constructor of the signature: there are "
                f"{', '.join(k.__name__ for k in kinds)}.{own}"
            )
        fields = arity_of(kind).payload
        if not fields:
            raise SignatureError(f"`payload` has `{kind.__name__}`, which has no payload: leave it out.")
        if isinstance(read, type):
            raise SignatureError(
                f"`payload[{kind.__name__}]` is the class `{read.__name__}`: make one, `{read.__name__}(…)`, and give "
                "that."
            )
        if callable(read) and not takes(read, *fields):
            each = ", ".join(f"`{field}`" for field in fields)
            raise SignatureError(
                f"`payload[{kind.__name__}]` is called with {number_of('argument', len(fields))}, one for each field "
                f"without children ({each}), and {described(read)} does not take them: give an `eqx.Module`, or a "
                f"function, of `({', '.join(fields)})`, which gives a vector."
            )
        _ask_of_weights_outside(kind, read)


def _ask_of_weights_outside(kind: type[Any], read: Any) -> None:
    """**Warns:** where a function reads weights from outside: they are not part of the network."""
    if not inspect.isfunction(read):
        return
    read_there = inspect.getclosurevars(read)
    for name, value in {**read_there.globals, **read_there.nonlocals}.items():
        if isinstance(value, eqx.Module) and any(map(eqx.is_inexact_array, jax.tree.leaves(value))):
            warnings.warn(
                f"`payload[{kind.__name__}]` is {described(read)}, which reads `{name}` from outside: the network "
                f"neither trains nor saves these weights. Give an `eqx.Module` with a field `{name}`.",
                stacklevel=6,
            )


def payload_map(
    kind: type[Any], arity: Arity, embed: int, given: Payloads, dtype: Any, key: PRNGKeyArray
) -> Callable[..., Any] | None:
    """From a constructor's payload to a vector: the map that is given, or a linear one of all its numbers."""
    if not arity.payload:
        return None
    size = given.get(kind)
    if callable(size):
        return size
    record = layout(kind)
    terms = dict(zip(record.names, record.factors, strict=True))
    read = {name: term.of for name in arity.payload if isinstance(term := terms[name], Const)}
    if size is None:
        sizes = {name: _numbers(annotation) for name, annotation in read.items()}
        unknown = next((name for name, many in sizes.items() if many is None), None)
        if unknown is not None:
            raise SignatureError(
                f"`{kind.__name__}.{unknown}` is annotated `{terms[unknown]}`, which does not say how many numbers it "
                f"is: {_instead(kind, read[unknown], arity.payload, embed)}"
            )
        size = sum(many for many in sizes.values() if many is not None)
        _ask_of_whole_numbers(kind, [name for name in sizes if _is_whole(terms[name])], size, embed)
    text = next((name for name, annotation in read.items() if annotation is str), None)
    if text is not None:
        warnings.warn(
            f"`{kind.__name__}.{text}` is a text, and a linear map is about to read its number as a quantity: "
            f"{_instead(kind, str, arity.payload, embed)}",
            stacklevel=5,
        )
    size = whole(f"payload[{kind.__name__}]", size, error=SignatureError)
    return Flat(eqx.nn.Linear(size, embed, dtype=dtype, key=key))


def _instead(kind: type[Any], annotation: Any, fields: tuple[str, ...], embed: int) -> str:
    """What to give where the annotations of a payload do not tell its size."""
    start, each = f"give `payload={{{written(kind)}:", ", ".join(fields)
    if annotation is not str:
        return f"{start} 3}}` for three, or a map from `({each})` to a vector of {embed}."
    if len(fields) == 1:
        return f"{start} eqx.nn.Embedding(len(vocabulary), {embed}, key=key)}}`, which reads the ids of texts."
    return f"{start} read}}`, an `eqx.Module` of `({each})` which gives a vector of {embed}. It gets a text as its id."


def _not_a_name(kind: Any, kinds: tuple[type[Any], ...]) -> str:
    """What an error says besides, where a constructor's name stands for it: nothing, or how it is written."""
    named = next((made for made in kinds if made.__name__ == kind), None)
    return "" if named is None else f" A name is not the class: write `{written(named)}`, without quotes."


def _ask_of_whole_numbers(kind: type[Any], fields: list[str], size: int, embed: int) -> None:
    """**Warns:** where there are some: they may number things."""
    if fields:
        warnings.warn(
            f"`{kind.__name__}.{fields[0]}` is annotated `int`, and a linear map is about to read it as a quantity: "
            f"where it numbers things, give `payload={{{written(kind)}: …}}` a map such as "
            f"`eqx.nn.Embedding(count, {embed}, key=key)`; where it is a quantity, the number {size}.",
            stacklevel=6,
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
