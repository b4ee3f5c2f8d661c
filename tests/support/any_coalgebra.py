"""A coalgebra for any signature of one sort, with weights of its own at each place, and its definition with numbers.

A seed is a vector and how deep it is. The deeper, the less a layer with children is chosen, so that trees end.
"""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from cdl import choose, Many
from cdl.functors import constructors, holes


H = 3
LENGTHS = {"one": (1,), "pair": (2,), "optional": (0, 1), "tuple": (0, 2), "many": (0, 3)}


class AnyCoalgebra(eqx.Module):
    """For every constructor, a candidate for each choice of lengths of its fields. Its weights are one array, or many,
    so that candidates alike are computed as one."""

    scores: jax.Array
    vectors: jax.Array | tuple[jax.Array, ...]
    matrices: jax.Array | tuple[jax.Array, ...]
    kinds: tuple[type[Any], ...] = eqx.field(static=True)
    slope: float = eqx.field(static=True)

    def __call__(self, seed: Any) -> Any:
        h, depth = seed
        layers = [
            self.layer(kind, lengths, h, depth)
            for kind in self.kinds
            for lengths in itertools.product(*(LENGTHS.get(f, (0,)) for f in kind.__kinds__.values()))
        ]
        grows = jnp.array([len(holes(layer)) for layer in layers], h.dtype)
        return choose(self.scores[: len(layers)] @ h - self.slope * grows * depth.astype(h.dtype), *layers)

    def layer(self, kind: type[Any], lengths: tuple[int, ...], h: jax.Array, depth: jax.Array) -> Any:
        places = itertools.count(self.kinds.index(kind))
        fields = []
        for field, length in zip(kind.__kinds__.values(), lengths, strict=True):
            here = [next(places) for _ in range(max(length, 1))]
            children = [(jnp.tanh(self.matrices[i % len(self.matrices)] @ h), depth + 1) for i in here[:length]]
            match field:
                case "float":
                    fields.append(jnp.sin(self.vectors[here[0] % len(self.vectors)] @ h))
                case "int":
                    fields.append(depth + len(fields))
                case "one":
                    fields.append(children[0])
                case "optional":
                    fields.append(children[0] if children else None)
                case "pair" | "tuple":
                    fields.append(tuple(children))
                case "many":
                    fields.append(Many(children))
        return kind(*fields)


def any_coalgebra(signature: Any, key: jax.Array, dtype: Any, slope: float = 1.0) -> AnyCoalgebra:
    """Random weights for a signature."""
    a, b, c = jr.split(key, 3)
    kinds = tuple(constructors(signature))
    vectors, matrices = jr.normal(b, (5, H), dtype), jr.normal(c, (7, H, H), dtype)
    held = tuple if jr.bernoulli(key) else jnp.asarray
    return AnyCoalgebra(2 * jr.normal(a, (64, H), dtype), held(vectors), held(matrices), kinds, slope)


def seeds_of(count: int, key: jax.Array, dtype: Any) -> Any:
    return jr.normal(key, (count, H), dtype), jnp.zeros(count, jnp.int32)


@eqx.filter_jit
def parts(coalg: Any, seed: Any) -> Any:
    """The scores and the layers."""
    given = coalg(seed)
    return given.scores, given.layers


def quickly(coalg: Any) -> Any:
    """The coalgebra, each call of it compiled."""

    def compiled(seed: Any) -> Any:
        scores, layers = parts(coalg, seed)
        return choose(scores, *layers)

    return compiled


def of_layer(path: Any) -> Any:
    """The key that a node's layer is drawn with: another than the coalgebra's own, `fold_in(path, 0)`."""
    return jr.fold_in(jr.fold_in(path, 0), np.uint32(2**32 - 1))


def numbers(coalg: Any, seed: Any, key: Any) -> tuple[list[int], list[Any], list[Any]]:
    """What `ana` chooses, node by node, breadth first: the choices, the logarithms of their chances, the payloads."""
    choices, log_probs, payloads, todo = [], [], [], [(seed, key)]
    while todo:
        seed, path = todo.pop(0)
        scores, layers = parts(coalg, seed)
        c = int(jnp.argmax(scores) if path is None else jr.categorical(of_layer(path), scores))
        choices.append(c)
        log_probs.append(jax.nn.log_softmax(scores)[c])
        places = holes(layers[c])
        inside = {id(x) for place in places for x in jax.tree.leaves(place)}
        payloads.append([x for x in jax.tree.leaves(layers[c]) if id(x) not in inside])
        todo.extend(on_paths(places, path))
    return choices, log_probs, payloads


def on_paths(places: Any, path: Any) -> list[Any]:
    """What stands at the places of a layer, each with its path."""
    return [(x, None if path is None else jr.fold_in(path, i + 1)) for i, x in enumerate(places)]
