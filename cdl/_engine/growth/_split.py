"""Refolds whose call tree depends on shapes alone: divide and conquer, unrolled level by level.

A seed's form, its structure, shapes and types, decides the layer that is made of it. So all seeds of one form on one
level are one batch: of a transform of 1024 numbers there are 11 levels, each with one call of the coalgebra and one of
the algebra. Values need not have one form; a longer array may be made of shorter ones.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..._schemes.algebras import name_of
from ..._schemes.unfolds import Choice, expect_layer
from ...errors import CdlError, ForeignLayer
from ..arrays.shapes import shown
from ..calls._traced import applied, noted
from ._candidates import Candidate
from ._tracing import take_apart


@dataclass
class Group:
    """The seeds of one form on one level, and what is made of them: `places[i]` says which group of the next level has
    the seeds at place `i`, and from which row on."""

    seeds: Any  # arrays with a row for each; what is not an array is part of the form
    above: frozenset[Any]  # the forms of the seeds that led here
    rows: int
    candidate: Any = None
    payload: Any = None
    places: Any = None


def refold_split(alg: Callable[..., Any], coalg: Callable[..., Any], seeds: Any, rows: int) -> Any:
    """The value of every seed."""
    levels = [{form_of(seeds): Group(seeds, frozenset(), rows)}]
    while levels[-1]:
        levels.append(_next_level(coalg, levels[-1]))
    values: dict[Hashable, Any] = {}
    for level in reversed(levels[:-1]):
        values = {form: _value(alg, group, values) for form, group in level.items()}
    (value,) = values.values()
    return value


def form_of(seeds: Any) -> Hashable:
    """The form of one of a batch of seeds: hashable, and all that a layer depends on."""
    leaves, structure = jax.tree.flatten(seeds)
    return structure, tuple((x.shape[1:], x.dtype) if eqx.is_array(x) else x for x in leaves)


def _next_level(coalg: Callable[..., Any], level: dict[Hashable, Group]) -> dict[Hashable, Group]:
    found: dict[Hashable, list[tuple[Any, frozenset[Any], int]]] = {}
    for form, group in level.items():
        if form in group.above:
            raise CdlError(
                f"`{name_of(coalg)}` makes of a seed {_shown(group.seeds)} another one like it, further down: the "
                "shapes alone say nothing of an end. Let it `choose`, and give `refold` a number of `nodes`."
            )
        above = group.above | {form}
        group.candidate, group.payload, places = _layer(coalg, group)
        group.places = []
        for seeds in places:
            child = form_of(seeds)
            batches = found.setdefault(child, [])
            group.places.append((child, sum(rows for *_, rows in batches)))
            batches.append((seeds, above, group.rows))
    return {form: _joined(batches) for form, batches in found.items()}


def _joined(batches: list[tuple[Any, frozenset[Any], int]]) -> Group:
    join = lambda *xs: jnp.concatenate(xs) if eqx.is_array(xs[0]) else xs[0]
    seeds = jax.tree.map(join, *(seeds for seeds, _, _ in batches))
    return Group(seeds, frozenset().union(*(above for _, above, _ in batches)), sum(rows for *_, rows in batches))


def _layer(coalg: Callable[..., Any], group: Group) -> tuple[Candidate, Any, list[Any]]:
    """The layer of every seed of a group: without its arrays, its payload, and the seeds at its places."""
    arrays, rest = eqx.partition(group.seeds, eqx.is_array)
    found: list[Any] = []

    def layer(arrays: Any) -> tuple[list[Any], list[Any]]:
        seed = eqx.combine(arrays, rest)
        with noted(name_of(coalg), lambda: f"a seed of {shown(seed)}", "return the layer of a seed of this shape"):
            given = coalg(seed)
        if isinstance(given, Choice):
            raise ForeignLayer(
                f"`{name_of(coalg)}` chooses among layers by their scores, so that shapes do not say how far it goes: "
                "give `refold` the most `nodes` that a tree may have."
            )
        payload, form, places = take_apart(coalg, expect_layer(given), 1)
        candidate = Candidate(type(given), form, tuple(range(len(payload))), (0,) * len(places))
        parts = [eqx.partition(place, eqx.is_array) for _, place in places]
        found.append((candidate, [static for _, static in parts]))
        return payload, [arrays for arrays, _ in parts]

    payload, places = jax.vmap(layer, axis_size=group.rows)(arrays)
    candidate, statics = found[-1]
    return candidate, payload, [eqx.combine(a, s) for a, s in zip(places, statics, strict=True)]


def _value(alg: Callable[..., Any], group: Group, values: dict[Hashable, Any]) -> Any:
    """The value of every seed, from those of the level below."""
    below = [jax.tree.map(lambda x, i=i: x[i : i + group.rows], values[form]) for form, i in group.places]

    def value(payload: Any, below: Any) -> Any:
        return jax.tree.map(jnp.asarray, applied(alg, group.candidate.layer(payload, below)))

    found: Any = jax.vmap(value, axis_size=group.rows)(group.payload, below)
    return found


def _shown(seeds: Any) -> str:
    arrays, rest = eqx.partition(seeds, eqx.is_array)
    one = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), arrays)
    return shown(eqx.combine(one, rest))
