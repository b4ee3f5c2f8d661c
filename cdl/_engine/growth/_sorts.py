"""Several sorts growing together: a coalgebra for each, and one table of seeds for all.

| the mathematics                          | here                                                                      |
| ---------------------------------------- | ------------------------------------------------------------------------- |
| `γₛ : Sₛ → Fₛ(S₀, S₁, …)` for each sort  | a tuple of coalgebras                                                     |
| `S₀ + S₁ + …`                            | a seed: the number of its sort, and room for a seed of every sort         |
| the coalgebra `[γ₀, γ₁, …]` of the sum   | the scores of all, of which those of its sort are heard                   |

Where a seed is of one sort, the room of each other has the one that was last there on the way from the root: so every
coalgebra is computed at seeds of its sort only, and its scores are finite.
"""

import dataclasses
import itertools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..arrays._carrier import Carrier
from ._candidates import Given, Growth
from ._tracing import trace


def trace_all(coalgs: tuple[Any, ...], seeds: tuple[Any, ...], keyed: bool) -> tuple[Growth, list[Any]]:
    """The candidates of the coalgebras of every sort, and their arrays. `seeds`: one of each sort, or its shapes.

    **Raises:** as `trace`.
    """
    forms = tuple(map(Carrier.of, seeds))
    parts = [trace(coalg, sort, forms, keyed) for sort, coalg in enumerate(coalgs)]
    if len(parts) == 1:
        return parts[0]
    growths, each = [growth for growth, _ in parts], [weights for _, weights in parts]
    columns, candidates = _joined(growths)
    counts = list(map(len, each))

    def call(weights: list[Any], leaves: list[Any], keys: list[Any]) -> Given:
        sort, *rest = leaves
        rooms = _split(rest, [len(form.leaves) for form in forms])
        pairs = zip(growths, _split(weights, counts), rooms, strict=True)
        given = [growth.call(own, room, keys) for growth, own, room in pairs]
        kept = [[lax.stop_gradient(x) for x in room] for room in rooms]

        def seed(of: int, leaves: list[Any]) -> list[Any]:
            return [jnp.int32(of), *itertools.chain(*(leaves if s == of else room for s, room in enumerate(kept)))]

        seeds = [
            [seed(of, leaves) for of, leaves in zip(candidate.sorts, places, strict=True)]
            for growth, one in zip(growths, given, strict=True)
            for candidate, places in zip(growth.candidates, one.seeds, strict=True)
        ]
        return Given([s for g in given for s in g.scores], [p for g in given for p in g.payloads], seeds, sort)

    return Growth(candidates, columns, tuple(len(g.candidates) for g in growths), call), [w for ws in each for w in ws]


def at_roots(seeds: tuple[Any, ...], trees: tuple[int, ...]) -> list[Any]:
    """The leaves of the seeds of all trees, those of each sort after those of the one before."""
    if len(seeds) == 1:
        return jax.tree.leaves(seeds[0])
    sort = jnp.repeat(jnp.arange(len(trees), dtype=jnp.int32), jnp.array(trees), total_repeat_length=sum(trees))
    rooms = [[_room(x, own, trees) for x in jax.tree.leaves(seed)] for own, seed in enumerate(seeds)]
    return [sort, *itertools.chain(*rooms)]


def _room(x: jax.Array, own: int, trees: tuple[int, ...]) -> jax.Array:
    """Seeds for every tree, from the seeds of one sort. A tree of another sort gets the first of them, or zeros."""
    first = lax.stop_gradient(x[0]) if trees[own] else jnp.zeros(x.shape[1:], x.dtype)
    return jnp.concatenate([x if s == own else jnp.broadcast_to(first, (n, *x.shape[1:])) for s, n in enumerate(trees)])


def _joined(growths: list[Growth]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The columns of payload of all sorts, which share those of one place, shape and type, and all candidates."""
    kinds: dict[Any, int] = {}
    columns: list[Any] = []
    candidates = []
    for growth in growths:
        for candidate in growth.candidates:
            own = [(i, growth.columns[c].shape, growth.columns[c].dtype) for i, c in enumerate(candidate.columns)]
            for kind, c in zip(own, candidate.columns, strict=True):
                if kind not in kinds:
                    kinds[kind] = len(columns)
                    columns.append(growth.columns[c])
            candidates.append(dataclasses.replace(candidate, columns=tuple(kinds[kind] for kind in own)))
    return tuple(columns), tuple(candidates)


def _split(xs: list[Any], lengths: list[int]) -> list[list[Any]]:
    rest = iter(xs)
    return [list(itertools.islice(rest, n)) for n in lengths]
