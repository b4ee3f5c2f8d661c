"""Where in a constructor each number of its payload is, and what is annotated there.

The structure of a payload that is not one number or array is JAX's: its dictionaries have their keys sorted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
from jax.tree_util import keystr, tree_flatten_with_path

from ..._functors.poly import Const, ListOf, Maybe, name, Poly, Product, Record
from ..._functors.read import layout
from ..._functors.words import an
from ...errors import PayloadMismatch
from ._annotation import admits_none, inside, is_an_array


ARRAY = jax.tree.structure(0)  # of a payload that is one number or array


@dataclass(frozen=True)
class Place:
    """Where a number is, as an error names it, and what is annotated there."""

    name: str
    annotation: Any


def places(constructor: type[Any], shape: tuple[Any, ...], payload: list[Any]) -> list[Place]:
    """The place of every number of a payload, in order, from one payload of this shape.

    **Raises:** `PayloadMismatch` where a number is, or `None`, and the annotation says otherwise.
    """
    rest = iter(payload)
    found: list[Place] = []
    for where, annotation, form in _payloads(layout(constructor), constructor.__name__, iter(shape)):
        if form == ARRAY:
            next(rest)
            found.append(Place(where, annotation))
            continue
        value = jax.tree.unflatten(form, [next(rest) for _ in range(form.num_leaves)])
        if is_an_array(annotation):
            raise PayloadMismatch(
                f"`{where}` is annotated `{name(annotation)}` and holds {an(type(value).__name__)}: make it one array, "
                "`jnp.array([…])`, or annotate what it holds."
            )
        for path, x in tree_flatten_with_path(value, is_leaf=lambda x: x is None)[0]:
            at = _at(where, annotation, path)
            if x is not None:
                found.append(at)
            elif not admits_none(at.annotation):
                raise PayloadMismatch(
                    f"`{at.name}` is annotated `{name(at.annotation)}` and holds `None`: give it a value, or annotate "
                    f"`{name(at.annotation)} | None`."
                )
    return found


def _at(where: str, annotation: Any, path: tuple[Any, ...]) -> Place:
    """The place at a path inside a field."""
    for key in path:
        annotation = inside(annotation, key)
    return Place(where + keystr(path), annotation)


def _payloads(term: Poly, where: str, shape: Iterator[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Every payload of a layer of this shape: where it is, its annotation, and its structure."""
    match term:
        case Const(of):
            yield where, of, next(shape, ARRAY)
        case Record(_, names, factors):
            for field, factor in zip(names, factors, strict=True):
                yield from _payloads(factor, f"{where}.{field}", shape)
        case Product(factors):
            for i, factor in enumerate(factors):
                yield from _payloads(factor, f"{where}[{i}]", shape)
        case Maybe(of):
            if next(shape):
                yield from _payloads(of, where, shape)
        case ListOf(of):
            for i in range(next(shape)):
                yield from _payloads(of, f"{where}[{i}]", shape)
