"""Aggregation by minima: a layer that is linear where `min` adds and `+` multiplies, and gives shortest paths.

| the mathematics                                                      | here                                      |
| -------------------------------------------------------------------- | ----------------------------------------- |
| `y_i = min(x_i, min_{j → i} (x_j + ℓ(e)))`, with learnt lengths `ℓ`  | `MinPlus(features, width, key=…)`         |
| the same step, many times: Bellman and Ford                          | `layer.distances(graph, start, rounds)`   |
| `f(c + x) = c + f(x)`: a map of algebras of `ℝ × −`                  | `is_hom(f, SHIFTS, SHIFTS, …)`            |
| `f(min xs) = min f(xs)`: a map of algebras of `List`                 | `is_hom(f, MINIMA, MINIMA, …)`            |
| relu of sums or means: it commutes with permutations alone           | `SumPassing(features, width, key=…)`      |

A minimum cannot be undone: of two numbers it forgets one. The maps that commute with both algebras are the matrices
over `(min, +)`, and `MinPlus` is such a matrix for each graph. Other aggregations by a semigroup go the same way:
`−f(−x)` is linear where `max` adds.

Examples:
    >>> from cdl_arch.symmetry.min_plus import Graph, MinPlus
    >>> line = Graph(jnp.array([0, 1]), jnp.array([1, 2]), jnp.ones((2, 1)))
    >>> layer = MinPlus(1, 4, key=jax.random.key(0))
    >>> far = jnp.array([0.0, jnp.inf, jnp.inf])
    >>> jnp.isfinite(layer.distances(line, far, 1)).tolist()
    [True, True, False]
    >>> jnp.isfinite(layer.distances(line, far, 2)).tolist()
    [True, True, True]
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, PRNGKeyArray

from cdl.checks import with_usage
from cdl.errors import CdlError
from cdl.monads import EilenbergMoore, ListMonad, Monoid, Writer


SHIFTS: EilenbergMoore[Any] = Writer(Monoid(0.0, lambda c, d: c + d)).algebra(lambda c, x: c + x)
"""Numbers act by addition: an algebra of `ℝ × −`."""
MINIMA: EilenbergMoore[Any] = ListMonad().algebra(Monoid(jnp.inf, jnp.minimum))
"""The least of a list, place by place, and infinity of none: an algebra of `List`."""


class Graph(NamedTuple):
    """A directed graph by its edges: where each begins, where it ends, and what is known of it; or many, as one."""

    senders: Int[Array, "*graphs edges"]
    receivers: Int[Array, "*graphs edges"]
    features: Float[Array, "*graphs edges features"]


def expect_edges(graph: Graph, nodes: int) -> None:
    """**Raises:** `CdlError` for an edge that begins or ends at no node, where the edges are known: inside `jax.jit`
    they are not."""
    for end, at in (("begins", graph.senders), ("ends", graph.receivers)):
        if isinstance(at, Tracer):
            continue
        numbers = np.asarray(at)
        if wrong := [*np.flatnonzero((numbers < 0) | (numbers >= nodes))]:
            edge = wrong[0]
            raise CdlError(
                f"the edge numbered {edge} {end} at the node {numbers[edge]}, and the nodes are numbered from 0 to "
                f"{nodes - 1}."
            )


class MinPlus(eqx.Module):
    """One step of Bellman and Ford, with edges whose lengths are learnt from their features."""

    length: eqx.nn.MLP

    @with_usage
    def __init__(self, features: int, width: int, *, key: PRNGKeyArray) -> None:
        """**Arguments:** `features`: of an edge. `width`: of the hidden layer that makes lengths of them."""
        self.length = eqx.nn.MLP(features, "scalar", width, 1, activation=jnp.tanh, key=key)

    def __call__(self, x: Float[Array, " nodes"], graph: Graph) -> Float[Array, " nodes"]:
        """`float[nodes] → float[nodes]`."""
        return self._step(x, graph, jax.vmap(self.length)(graph.features))

    def distances(self, graph: Graph, start: Float[Array, " nodes"], rounds: int) -> Float[Array, " nodes"]:
        """The least length of a path of at most `rounds` edges, to each node; `start` is 0 where paths begin, and
        infinity elsewhere."""
        lengths = jax.vmap(self.length)(graph.features)
        return _repeated(lambda x: self._step(x, graph, lengths), start, rounds)

    def _step(self, x: Array, graph: Graph, lengths: Array) -> Array:
        expect_edges(graph, len(x))
        found = jax.ops.segment_min(x[graph.senders] + lengths, graph.receivers, len(x))
        return jnp.minimum(x, found)


class SumPassing(eqx.Module):
    """A network of the same kind that knows permutations of nodes, and no minimum: relu of sums or means, and a linear
    map to distances."""

    inner: eqx.nn.Linear
    message: eqx.nn.Linear
    out: eqx.nn.Linear
    mean: bool = eqx.field(static=True)

    @with_usage
    def __init__(self, features: int, width: int, *, mean: bool = True, key: PRNGKeyArray) -> None:
        """**Arguments:** `width`: of the state of a node. `mean`: whether messages are averaged, and not added."""
        first, second, third = jr.split(key, 3)
        self.inner = eqx.nn.Linear(width, width, key=first)
        self.message = eqx.nn.Linear(width + features, width, use_bias=False, key=second)
        self.out = eqx.nn.Linear(width, "scalar", key=third)
        self.mean = mean

    def distances(self, graph: Graph, start: Float[Array, " nodes"], rounds: int) -> Float[Array, " nodes"]:
        """A number for each node, after `rounds` rounds of messages; the first number of a node's state is 1 where
        `start` is 0."""
        expect_edges(graph, len(start))
        begin = jnp.zeros((len(start), self.inner.in_features)).at[:, 0].set((start == 0).astype(jnp.float32))
        arriving = jax.ops.segment_sum(jnp.ones(len(graph.senders)), graph.receivers, len(start))
        share = 1 / jnp.maximum(arriving, 1) if self.mean else jnp.ones(len(start))

        def step(h: Array) -> Array:
            sent = jax.vmap(self.message)(jnp.concatenate([h[graph.senders], graph.features], 1))
            got = jax.ops.segment_sum(sent, graph.receivers, len(h)) * share[:, None]
            return jax.nn.relu(jax.vmap(self.inner)(h) + got)

        return jax.vmap(self.out)(_repeated(step, begin, rounds))


def _repeated(step: Callable[[Array], Array], x: Array, rounds: int) -> Array:
    return jax.lax.scan(lambda x, _: (step(x), None), x, None, length=rounds)[0]
