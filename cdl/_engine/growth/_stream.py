"""Streams, as many outputs as are asked for: `take(n, ana(γ)(s))` at each seed, by one scan.

A stream is a Moore machine whose inputs say nothing, `O × [1, X]`, and it runs as one.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ..._functors import Base, MooreF, Stream, StreamF
from ..._functors.usage import whole
from ..._schemes.algebras import name_of, wants_key
from ..._schemes.unfolds import Choice
from ...errors import ForeignLayer
from ..arrays._given import arrays
from ..arrays._random_keys import keys_at
from ..arrays.shapes import shaped
from ..calls._compiled import compiled
from ..machines._machine_steps import Walk
from ..machines._state import leading


O = TypeVar("O")  # an output
S = TypeVar("S")  # a seed


def unfold_stream(
    coalg: Callable[[S], Base[Stream[O], S]], seeds: S, nodes: int, *, key: PRNGKeyArray | None = None
) -> O:
    """The first outputs of the stream of each seed: `take(nodes, ana(coalg)(seed))`, compiled.

    **Arguments:** `seeds`: one for each stream, along a leading axis. `key`: for coalgebras that take one; stream
    `b` is that of `ana` with `fold_in(key, b)`.

    **Returns:** arrays `(streams, nodes, …)`.
    """
    seeds = arrays(seeds, "a seed")
    leading(seeds, "the seeds", "one for each stream")
    return _heads(coalg, seeds, key, whole("nodes", nodes, 0))


@compiled
def _heads(coalg: Callable[..., Any], seeds: Any, key: jax.Array | None, nodes: int) -> Any:
    ticks = jnp.zeros((jax.tree.leaves(seeds)[0].shape[0], max(nodes - 1, 0), 0))
    walk = Walk(Ticking(coalg), _first(seeds), shaped((0,), ticks.dtype), key, name_of(coalg))
    return jax.tree.map(lambda x: x[:, :nodes], walk(seeds, ticks, _keys(key, seeds), False)[0])


class Ticking(eqx.Module):
    """A stream as a Moore machine whose inputs say nothing."""

    coalg: Any

    def __call__(self, seed: Any, /, *, key: jax.Array | None = None) -> Any:
        layer = self.coalg(seed, key=key) if key is not None and wants_key(self.coalg) else self.coalg(seed)
        if not isinstance(layer, StreamF):
            kind = "choice of layers" if isinstance(layer, Choice) else f"`{type(layer).__name__}`"
            raise ForeignLayer(f"`{name_of(self.coalg)}` gives a {kind} where a stream's layer belongs: `StreamF`.")
        return MooreF(layer.head, lambda _: layer.tail())


def _first(seeds: S) -> S:
    return jax.tree.map(lambda x: x[0], seeds)


def _keys(key: jax.Array | None, seeds: Any) -> jax.Array | None:
    """A key for each seed, or none."""
    count = jax.tree.leaves(seeds)[0].shape[0]
    return keys_at(key, jnp.arange(count))
