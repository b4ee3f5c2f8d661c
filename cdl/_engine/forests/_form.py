"""Forms: what a payload is but for its numbers, and where in a constructor each of these is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_origin, Never

import jax
import numpy as np
from jax.tree_util import DictKey, GetAttrKey, keystr, SequenceKey, tree_flatten_with_path

from ..._functors.poly import Const, ListOf, Maybe, name, Poly, Product, Record
from ..._functors.read import layout
from ..._functors.words import an
from ...errors import PayloadMismatch
from ..arrays.shapes import written
from ._annotation import admits_none, inside, is_an_array


_NUMBERS = int, float, complex, np.generic, np.ndarray, jax.Array


@dataclass(frozen=True, eq=False)
class Form:
    """The structure of a payload that is not one number or array.

    `written` tells its fixed parts from others that are equal; `keys` are those of each dictionary, in their order
    where that is not the sorted order of JAX.
    """

    structure: Any
    written: str
    keys: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, payload: Any) -> tuple[list[Any], "Form"]:
        """The numbers and arrays of a payload, and its form."""
        leaves, structure = jax.tree.flatten(payload)
        keys = tuple(_keys(payload))
        return leaves, cls(
            structure, written(structure), () if all(list(some) == sorted(some) for some in keys) else keys
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Form):
            return False
        try:
            return self.written == other.written and self.keys == other.keys and bool(self.structure == other.structure)
        except Exception as e:  # whatever the comparison of a fixed part may do
            raise PayloadMismatch(
                f"payloads with the fixed parts {self} and {other} cannot be compared: keep arrays in fields that are "
                "not static, and give the others an `==` that is true or false."
            ) from e

    def __hash__(self) -> int:
        return hash(self.structure)

    @property
    def leaves(self) -> int:
        """How many numbers and arrays there are."""
        return int(self.structure.num_leaves)

    def filled(self, leaves: list[Any]) -> Any:
        """The payload with these numbers and arrays."""
        payload = jax.tree.unflatten(self.structure, leaves)
        return _in_order(payload, iter(self.keys)) if self.keys else payload

    def __str__(self) -> str:
        return str(self.structure).removeprefix("PyTreeDef(").removesuffix(")")


def _is_dict(x: object) -> bool:
    return type(x) is dict


def _keys(payload: Any) -> Iterator[tuple[Any, ...]]:
    """The keys of every dictionary, an outer one before those inside it."""
    if _is_dict(payload):
        yield tuple(payload)
        for key in sorted(payload):
            yield from _keys(payload[key])
    elif not isinstance(payload, _NUMBERS):
        for x in filter(_is_dict, jax.tree.leaves(payload, is_leaf=_is_dict)):
            yield from _keys(x)


def _in_order(payload: Any, keys: Iterator[tuple[Any, ...]]) -> Any:
    """A payload whose dictionaries have these keys, in this order."""

    def ordered(x: Any) -> Any:
        if not _is_dict(x):
            return x
        own = next(keys)
        inner = {key: _in_order(x[key], keys) for key in sorted(x)}
        return {key: inner[key] for key in own}

    return jax.tree.map(ordered, payload, is_leaf=_is_dict)


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
        if form is None:
            next(rest)
            found.append(Place(where, annotation))
            continue
        value = form.filled([next(rest) for _ in range(form.leaves)])
        for path, x in tree_flatten_with_path(value, is_leaf=lambda x: x is None)[0]:
            at = _at(where, annotation, path, value)
            if x is not None:
                found.append(at)
            elif not admits_none(at.annotation):
                raise PayloadMismatch(
                    f"`{at.name}` is annotated `{name(at.annotation)}` and holds `None`: give it a value, or annotate "
                    f"`{name(at.annotation)} | None`."
                )
    return found


def _at(where: str, annotation: Any, path: tuple[Any, ...], value: Any) -> Place:
    """The place at a path inside a field. `value`: one that the field holds."""
    for i, key in enumerate(path):
        below = inside(annotation, key)
        if below is Never:
            count = f" of {len(value)}" if isinstance(value, list | tuple) else ""
            raise PayloadMismatch(
                f"`{where + keystr(path[:i])}` is annotated `{name(annotation)}` and holds "
                f"{an(type(value).__name__)}{count}: {_instead(annotation, key)}."
            )
        annotation, value = below, _part(value, key)
    return Place(where + keystr(path), annotation)


def _part(value: Any, key: Any) -> Any:
    """What a value has at a key of a pytree; `None` where the key does not say how it is read."""
    match key:
        case SequenceKey(idx=at) | DictKey(key=at):
            return value[at]
        case GetAttrKey(name=field):
            return getattr(value, field)
        case _:
            return None


def _instead(annotation: Any, key: Any) -> str:
    """What to write where a payload has parts, and is annotated as one that has none there."""
    one_array = "make it one array, `jnp.array([…])`"
    if is_an_array(annotation):
        return one_array if isinstance(key, SequenceKey) else "give one array, or annotate what it holds"
    several = not isinstance(key, SequenceKey) or get_origin(annotation) is tuple
    return "annotate what it holds" + ("" if several else f", or {one_array}")


def _payloads(term: Poly, where: str, shape: Iterator[Any]) -> Iterator[tuple[str, Any, Form | None]]:
    """Every payload of a layer of this shape: where it is, its annotation and its form."""
    match term:
        case Const(of):
            yield where, of, next(shape, None)
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
