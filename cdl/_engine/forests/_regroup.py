"""Tables of nodes put together anew: two in one, and one whose real numbers are of another type."""

import dataclasses
from typing import Any

import jax
import numpy as np
from jax.typing import DTypeLike
from numpy.typing import NDArray

from ..._functors.words import short
from ...errors import CdlError
from ..arrays._lost import kind_of
from ._annotation import asked
from ._flatten import Flat
from ._form import places
from ._payload import fitted
from ._variant import Variant


Payload = list[tuple[NDArray[Any], ...]]


def joined(first: Flat, second: Flat) -> Flat:
    """The trees of the first table, and then those of the second.

    **Raises:** `CdlError` where nodes of one constructor have payloads of different shapes or types.
    """
    width = max(first.degrees.shape[1], second.degrees.shape[1])
    wide = [np.pad(f.degrees, ((0, 0), (0, width - f.degrees.shape[1]))) for f in (first, second)]
    both: Any = lambda name: np.concatenate([getattr(first, name), getattr(second, name)])
    table = dataclasses.replace(
        first,
        start=np.concatenate([first.start, first.start[-1] + second.start[1:]]),
        variant=np.concatenate([first.variant, second.variant + np.int32(len(first.variants))]),
        degrees=np.concatenate(wide),
        **{name: both(name) for name in ("height", "parent", "group", "place", "nth")},
    )
    return _regrouped(table, [*first.variants, *second.variants], [*first.payload, *second.payload])


def with_floats(flat: Flat, dtype: DTypeLike) -> Flat:
    """The table with real numbers of this type, but where an annotation names another.

    **Raises:** `CdlError` for a type of other numbers, or one of 64 bits while JAX has these switched off;
    `PayloadMismatch` for a number that would become infinite.
    """
    wanted = _floats(dtype)
    payload = []
    for v, leaves in zip(flat.variants, flat.payload, strict=True):
        at = places(v.constructor, v.shape, [leaf[0] for leaf in leaves])
        free = [kind_of(x.dtype) == "f" and asked(p.annotation).exact is None for x, p in zip(leaves, at, strict=True)]
        rows = zip(leaves, at, free, strict=True)
        payload.append(
            tuple(fitted(p.name, x, "f", wanted, "give another `dtype`") if yes else x for x, p, yes in rows)
        )
    return dataclasses.replace(flat, payload=tuple(payload))


def _floats(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        raise CdlError(f"`dtype` is {short(dtype)}: give a type of real numbers, such as `jnp.bfloat16`.") from None
    if kind_of(wanted) != "f":
        raise CdlError(
            f"`dtype` is `{wanted}`, and it is the type of real numbers: give one of these, such as `jnp.bfloat16`. "
            "What is annotated `int` or `bool` keeps its type."
        )
    if jax.dtypes.canonicalize_dtype(wanted) != wanted:
        raise CdlError(f"`dtype` is `{wanted}`, and `jax_enable_x64` is off: switch it on, or give `jnp.float32`.")
    return wanted


def _regrouped(flat: Flat, variants: list[Variant], payload: Payload) -> Flat:
    """A table whose rows have these variants, by number, of which several may be equal."""
    index = {v: i for i, v in enumerate(dict.fromkeys(variants))}
    new = np.array([index[v] for v in variants], np.int32)
    variant = new[flat.variant] if len(variants) else flat.variant
    nth, found = np.zeros_like(flat.nth), []
    for i, v in enumerate(index):
        rows = np.flatnonzero(variant == i)
        nth[rows] = np.arange(len(rows))
        old = np.flatnonzero(new == i)
        leaves = [np.empty((len(rows), *x.shape[1:]), x.dtype) for x in payload[old[0]]]
        for o in old.tolist():
            here = flat.variant[rows] == o
            for leaf, own in zip(leaves, payload[o], strict=True):
                if (leaf.shape[1:], leaf.dtype) != (own.shape[1:], own.dtype):
                    raise CdlError(
                        f"the payload of `{v}` is `{leaf.dtype}` of shape {leaf.shape[1:]} in some trees, and "
                        f"`{own.dtype}` of shape {own.shape[1:]} in the others: give all of them one type and shape."
                    )
                leaf[here] = own[flat.nth[rows[here]]]
        found.append(tuple(leaves))
    return dataclasses.replace(flat, variants=tuple(index), variant=variant, nth=nth, payload=tuple(found))
