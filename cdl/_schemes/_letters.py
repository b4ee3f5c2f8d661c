"""The letters of layers: the whole numbers and truth values in them, which a tree has too or was not grown.

A coalgebra that writes one letter after another proposes `Cons(0, s₀), Cons(1, s₁), …`, of which a tree has one: that
whose letters are the tree's. A single proposal is compared as well. So the coalgebra that samples is the one that
scores.
"""

import math
import types
from typing import Any, get_args, get_origin, Literal, Union

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._functors.described import described
from .._functors.mapping import pieces
from .._functors.poly import Const, name, Record
from .._functors.read import layout
from ..errors import ForeignLayer, PayloadMismatch


Letters = tuple[Any, ...]


def letters(layer: Any) -> Letters:
    """The whole numbers and truth values of a layer, in the order of its fields."""
    every = [x for part, x in pieces(layout(type(layer)), layer) if isinstance(part, Const)]
    return tuple(x for x in every if _is_letter(x))


def told_apart(layers: list[Any]) -> bool:
    """Whether each has letters, and no two are known to have the same ones."""
    found = [letters(layer) for layer in layers]
    if not all(found) or len({len(some) for some in found}) > 1:
        return False
    known = [some for some in found if not any(isinstance(x, Tracer) for x in some)]
    return len({tuple((_is_truth(x), np.int64(x).tobytes()) for x in some) for some in known}) == len(known)


def picked(layers: list[Any], scores: Any, node: Any) -> tuple[Any, Any]:
    """The layer with a node's letters, and its score: of these layers' scores, or `-inf` where there is none.

    **Raises:** `ForeignLayer` where a letter has another shape than the tree's, and where the layers differ in
    structure, so that a compiled program cannot choose.
    """
    _expect_shapes(layers, node)
    same = [_equal(letters(layer), letters(node)) for layer in layers]
    if not any(isinstance(x, Tracer) for x in same):
        at = next((i for i, yes in enumerate(same) if yes), None)
        return (layers[0], jnp.full((), -math.inf)) if at is None else (layers[at], scores[at])
    if len(layers) == 1:
        return layers[0], jnp.where(same[0], scores[0], -math.inf)
    structures = {jax.tree.structure(layer) for layer in layers}
    if len(structures) > 1:
        raise ForeignLayer(
            f"the layers of `{type(node).__name__}` that a coalgebra proposes have seeds of different structures: give "
            "all of them seeds of one structure."
        )
    which = jnp.stack([jnp.asarray(x) for x in same])
    place = jnp.argmax(which)
    layer = jax.tree.map(lambda *xs: jnp.stack([jnp.asarray(x) for x in xs])[place], *layers)
    return layer, jnp.where(which.any(), scores[place], -math.inf)


def expect_letters(proposed: str, layer: Any, node: Any) -> None:
    """**Raises:** `PayloadMismatch` where a tree has a letter at a field that is annotated as one, and the layer that
    is proposed a fraction or a text: no score would say how likely the letter is. `proposed`: the coalgebra's name."""
    term = layout(type(node))
    if not isinstance(term, Record):
        return
    for field, factor in zip(term.names, term.factors, strict=True):
        pairs = zip(pieces(factor, getattr(layer, field)), pieces(factor, getattr(node, field)), strict=False)
        for (part, mine), (_, theirs) in pairs:
            if not isinstance(part, Const) or not _is_letter(theirs) or not _is_of_letters(part.of):
                continue
            dtype = getattr(mine, "dtype", None)
            real = dtype is not None and jnp.issubdtype(dtype, jnp.inexact)
            if real or isinstance(mine, float | complex | str):
                what = f"an array of `{dtype}`" if real else described(mine)
                raise PayloadMismatch(
                    f"`{proposed}` proposes {what} as `{type(node).__name__}.{field}`, which is annotated "
                    f"`{name(part.of)}`, and the tree's whole number there would not be scored: let `choose` choose "
                    "among layers that differ in a whole number there, or give `payload=`, a function that scores the "
                    "tree's payloads."
                )


def _is_of_letters(annotation: Any) -> bool:
    """Whether an annotation is that of whole numbers, of truth values or of texts, which have numbers in a forest."""
    origin = get_origin(annotation)
    if origin is Literal:
        return True
    if origin in (Union, types.UnionType):
        members = [x for x in get_args(annotation) if x is not type(None)]
        return all(map(_is_of_letters, members))
    kind = getattr(annotation, "__supertype__", annotation)
    return isinstance(kind, type) and issubclass(kind, int | str | np.integer | np.bool_)


def _expect_shapes(layers: list[Any], node: Any) -> None:
    """**Raises:** `ForeignLayer` where a letter is an array of another shape than the tree's."""
    theirs = letters(node)
    for ours in map(letters, layers):
        for x, y in zip(ours, theirs, strict=False):
            if np.shape(x) != np.shape(y):
                raise ForeignLayer(
                    f"a `{type(node).__name__}` that a coalgebra proposes has a letter of shape {np.shape(x)}, and the "
                    f"tree's has one of shape {np.shape(y)}: give both one shape, such as a single number."
                )


def _equal(ours: Letters, theirs: Letters) -> Any:
    """Whether two layers have the same letters, of whatever width: a truth value is not a number."""
    if list(map(_is_truth, ours)) != list(map(_is_truth, theirs)):
        return False
    if any(isinstance(x, Tracer) for x in (*ours, *theirs)):
        return jnp.stack(
            [_same_number(jnp.asarray(x), jnp.asarray(y)) for x, y in zip(ours, theirs, strict=True)]
        ).all()
    return all(np.array_equal(x, y) for x, y in zip(ours, theirs, strict=True))


def _same_number(x: jax.Array, y: jax.Array) -> jax.Array:
    """Equal as integers: none of them is cast to the type of the other, which may have no room for it."""
    if _is_truth(x):
        return jnp.all(x == y)
    return jnp.all((x.astype(int) == y.astype(int)) & ((x < 0) == (y < 0)))


def _is_letter(x: Any) -> bool:
    return isinstance(x, int) or _is_truth(x) or (hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.integer))


def _is_truth(x: Any) -> bool:
    return isinstance(x, bool) or (hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.bool_))
