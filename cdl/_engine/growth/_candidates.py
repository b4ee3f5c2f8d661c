"""What coalgebras may give for one seed: their candidates.

| the mathematics                          | here                                                             |
| ---------------------------------------- | ---------------------------------------------------------------- |
| `γ : S → F S`                            | one candidate                                                    |
| `γ : S → D (F S)`, a chance of layers    | `choose(scores, …)`: candidates, with the logarithm of each one's weight |

Which constructors there are, how many places each has and what its payload is shaped like, is the same for every seed:
that is the static part. Payloads, seeds and scores are arrays.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..._functors.mapping import fill
from ..._schemes.unfolds import drawn


@dataclass(frozen=True)
class Candidate:
    """A layer that a coalgebra may give, without its arrays. `columns` says where its payload's leaves are kept, and
    `sorts` of which sort each of its places is."""

    constructor: type[Any]
    structure: Any  # of the layer, with a `Place` for each seed, which is not a leaf
    columns: tuple[int, ...]
    sorts: tuple[int, ...]

    @property
    def arity(self) -> int:
        """How many places it has."""
        return len(self.sorts)

    def layer(self, payload: Any, places: Any) -> Any:
        """The layer with these payload leaves, and these values at its places."""
        return fill(jax.tree.unflatten(self.structure, list(payload)), places)


@dataclass(frozen=True)
class Given:
    """What coalgebras give for a seed: scores for the candidates of each sort, `None` where there is no choice; of each
    candidate its payload's leaves, and the leaves of its seeds; the seed's sort, where there are several; and a key to
    draw with, where there is one."""

    scores: list[Any]
    payloads: list[list[Any]]
    seeds: list[list[list[Any]]]
    sort: Any = None
    key: Any = None


@dataclass(frozen=True)
class Growth:
    """Coalgebras, traced: their candidates, those of each sort after those of the one before, and the function,
    `weights` being the arrays that they hold or close over."""

    candidates: tuple[Candidate, ...]
    columns: tuple[Any, ...]  # the shape and type of each column of payload
    counts: tuple[int, ...]  # how many candidates each sort has
    call: Callable[..., Given]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the layers to choose from."""
        return tuple(c.constructor.__name__ for c in self.candidates)

    @property
    def places(self) -> int:
        """The most places that a candidate has."""
        return max(c.arity for c in self.candidates)

    @property
    def arities(self) -> jax.Array:
        """How many places each candidate has, as a table."""
        return jnp.asarray([c.arity for c in self.candidates], jnp.int32)

    @property
    def owners(self) -> tuple[int, ...]:
        """The sort that each candidate is of."""
        return tuple(sort for sort, count in enumerate(self.counts) for _ in range(count))

    @property
    def firsts(self) -> tuple[int, ...]:
        """The number of each sort's first candidate."""
        return tuple(sum(self.counts[:s]) for s in range(len(self.counts)))

    def chances(self, given: Given) -> jax.Array:
        """The logarithm of the chance of each candidate, among those of its sort."""
        dtype = jnp.result_type(*[s.dtype for s in given.scores if s is not None] or [float])
        each = zip(given.scores, self.counts, strict=True)
        return jnp.concatenate([jnp.zeros(n, dtype) if s is None else jax.nn.log_softmax(s) for s, n in each])

    def choose(self, given: Given, key: jax.Array | None) -> jax.Array:
        """The number of a candidate: the best, or one drawn where there is a key; as `ana` does it. -1 where a score is
        NaN: no candidate is then the best, and the node has no children."""
        found: Any = None
        for sort, (first, scores) in enumerate(zip(self.firsts, given.scores, strict=True)):
            own = jnp.int32(first)
            if scores is not None:
                number = jnp.argmax(scores) if key is None else drawn(key, scores)
                own = jnp.where(jnp.any(jnp.isnan(scores)), -1, own + number.astype(jnp.int32))
            found = own if found is None else jnp.where(given.sort == sort, own, found)
        return found


def at_ends(candidates: tuple[Candidate, ...]) -> frozenset[int]:
    """The columns of payload that candidates without places alone have."""
    inner = {column for c in candidates if c.arity for column in c.columns}
    return frozenset(column for c in candidates for column in c.columns) - inner
