"""Refolds whose call tree depends on shapes alone: divide and conquer, unrolled level by level.

A seed's form, its structure, shapes and types, decides the layer that is made of it. So all seeds of one form on one
level are one batch: of a transform of 1024 numbers there are 11 levels, each with one call of the coalgebra and one of
the algebra. Values need not have one form; a longer array may be made of shorter ones.

By the definition, what a parent does not read of a value has no gradient. So where of the values of one form different
leaves are read, their seeds are batches by themselves, and JAX sees of each what is read.
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
from ..arrays.shapes import is_weak, shaped, shown
from ..calls._traced import applied, noted
from ..jaxprs._reach import bits_of, reach
from ..numbers._types import own_of
from ._candidates import Candidate
from ._tracing import take_apart


EVERY = -1  # all leaves of a value, as bits

Kind = tuple[Hashable, int]  # the form of a seed, and as bits the leaves of its value that are read
Below = Callable[[Kind, int], int]  # which leaves are read of the value at a place


@dataclass
class Group:
    """The seeds of one kind on one level, and what is made of them: `places[i]` says which group of the next level has
    the seeds at place `i`, and from which row on."""

    seeds: Any  # arrays with a row for each; what is not an array is part of the form
    above: frozenset[Any]  # the forms of the seeds that led here
    rows: int
    candidate: Any = None
    payload: Any = None
    places: Any = None


def refold_split(alg: Callable[..., Any], coalg: Callable[..., Any], seeds: Any, rows: int) -> Any:
    """The value of every seed."""
    root, first = (form_of(seeds), EVERY), Group(seeds, frozenset(), rows)
    levels = _levels(coalg, root, first, lambda kind, place: EVERY)
    value, reads = _values(alg, levels)
    forms = {form: [child for (child, _), _ in group.places] for level in levels for (form, _), group in level.items()}

    def below(kind: Kind, place: int) -> int:
        form, read = kind
        return bits_of(leaf for leaf, reached in enumerate(reads[form][place]) if reached & read)

    kinds = {root: None}
    todo = [root]
    while todo:
        kind = todo.pop()
        found = [(form, below(kind, place)) for place, form in enumerate(forms[kind[0]])]
        todo += [child for child in dict.fromkeys(found) if child not in kinds]
        kinds |= dict.fromkeys(found)
    if len(kinds) == len({form for form, _ in kinds}):  # each form is read in one way
        return value
    return _values(alg, _levels(coalg, root, first, below))[0]


def form_of(seeds: Any) -> Hashable:
    """The form of one of a batch of seeds: hashable, and all that a layer depends on."""
    leaves, structure = jax.tree.flatten(seeds)
    return structure, tuple((x.shape[1:], x.dtype) if eqx.is_array(x) else x for x in leaves)


def _levels(coalg: Callable[..., Any], root: Kind, first: Group, below: Below) -> list[dict[Kind, Group]]:
    levels = [{root: first}]
    while levels[-1]:
        levels.append(_next_level(coalg, levels[-1], below))
    return levels[:-1]


def _next_level(coalg: Callable[..., Any], level: dict[Kind, Group], below: Below) -> dict[Kind, Group]:
    found: dict[Kind, list[tuple[Any, frozenset[Any], int]]] = {}
    for kind, group in level.items():
        form = kind[0]
        if form in group.above:
            raise CdlError(
                f"`{name_of(coalg)}` makes of a seed {_shown(group.seeds)} another one like it, further down: the "
                "shapes alone say nothing of an end. Let it `choose`, and give `refold` a number of `nodes`."
            )
        above = group.above | {form}
        group.candidate, group.payload, places = _layer(coalg, group)
        group.places = []
        for place, seeds in enumerate(places):
            child = form_of(seeds), below(kind, place)
            batches = found.setdefault(child, [])
            group.places.append((child, sum(rows for *_, rows in batches)))
            batches.append((seeds, above, group.rows))
    return {kind: _joined(batches) for kind, batches in found.items()}


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


def _values(alg: Callable[..., Any], levels: list[dict[Kind, Group]]) -> tuple[Any, dict[Hashable, list[list[int]]]]:
    """The value of every seed; and by form and place, which leaves of a value each leaf of the one there reaches."""
    values: dict[Kind, Any] = {}
    reads: dict[Hashable, list[list[int]]] = {}
    for level in reversed(levels):
        found = {kind: _read(alg, group, values) for kind, group in level.items()}
        values = {kind: value for kind, (value, _) in found.items()}
        reads |= {form: own for (form, _), (_, own) in found.items()}
    (value,) = values.values()
    return value, reads


def _read(alg: Callable[..., Any], group: Group, values: dict[Kind, Any]) -> tuple[Any, list[list[int]]]:
    """The value of every seed, from those of the level below; and what each leaf of these reaches, by place."""
    below = [jax.tree.map(lambda x, i=i: x[i : i + group.rows], values[kind]) for kind, i in group.places]

    def value(payload: Any, below: Any) -> Any:
        return applied(alg, group.candidate.layer(payload, below))

    shapes = jax.tree.map(lambda x: shaped(x.shape[1:], x.dtype, is_weak(x)), (group.payload, below))
    own_of(value, *shapes)
    case = jax.make_jaxpr(lambda *given: jax.tree.leaves(value(*given)))(*shapes).jaxpr
    known, inputs = reach(case, range(len(case.outvars))), iter(case.invars[len(group.payload) :])
    reads = [[known.get(next(inputs), 0) for _ in jax.tree.leaves(v)] for v in below]
    run: Any = jax.vmap(lambda *row: jax.tree.map(jnp.asarray, value(*row)), axis_size=group.rows)
    return run(group.payload, below), reads


def _shown(seeds: Any) -> str:
    arrays, rest = eqx.partition(seeds, eqx.is_array)
    one = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), arrays)
    return shown(eqx.combine(one, rest))
