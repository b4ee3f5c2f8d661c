"""How likely a coalgebra is to grow a given tree, by definition.

| the mathematics                                        | here                                |
| ------------------------------------------------------ | ----------------------------------- |
| `p(t) = Π p(constructor | seed)` over the nodes of `t` | `exp(likelihood(coalg, seed)(t))`   |

A coalgebra scores the layers it might give (`choose`), and `ana` draws one by the softmax of the scores. A tree says at
each node which one was drawn, and so which seeds are below: this is teacher forcing.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._errors import ForeignLayer
from ..functor import Base, Fix, holes
from ..functor._read import layout
from ..functor.poly import ManyOf, walk
from ._algebra import name_of
from ._unfolds import Choice, expect_layer


T = TypeVar("T")
S = TypeVar("S")

Payload = Callable[[Any, Any], Any]


def likelihood(
    coalg: Callable[[S], Base[T, S]], seed: S, /, *, payload: Payload | None = None
) -> Callable[[Fix[T]], Float[Array, ""]]:
    """The log-probability that `ana(coalg, key=…)` grows a tree's constructors from a seed.

    **Arguments:** `payload`: from the layer that the coalgebra proposes, and the tree's, to the log-probability of the
    tree's payloads; without, payloads are taken as given.

    **Raises:** `ForeignLayer` at a constructor that the coalgebra never gives, or gives in two ways.
    """

    def total(tree: Fix[T]) -> Float[Array, ""]:
        waiting: list[tuple[Any, Any]] = [(seed, tree)]
        found = jnp.zeros(())
        while waiting:
            here, node = waiting.pop()
            layer, score = scored(coalg, here, node, payload)
            found = found + score
            waiting.extend(zip(holes(layer), holes(node), strict=True))
        return found

    return total


def scored(coalg: Callable[[Any], Any], seed: Any, node: Any, payload: Payload | None) -> tuple[Any, Any]:
    """The layer that a coalgebra proposes with a node's constructor and shape, and its log-probability."""
    given = coalg(seed)
    layers = given.layers if isinstance(given, Choice) else (expect_layer(given),)
    same = [i for i, layer in enumerate(layers) if type(layer) is type(node) and _alike(layer, node)]
    name, kind = name_of(coalg), type(node).__name__
    if any(isinstance(term, ManyOf) for term in walk(layout(type(node)))):
        raise ForeignLayer(
            f"`{kind}` has a `Many`, whose length no layer proposes: annotate the field `tuple[X, ...]`."
        )
    if len(same) != 1:
        among = ", ".join(type(layer).__name__ for layer in layers)
        raise ForeignLayer(
            f"of the layers that `{name}` proposes ({among}), {len(same)} are a `{kind}` of this shape: let it propose "
            "one for each constructor."
        )
    score = jax.nn.log_softmax(given.scores)[same[0]] if isinstance(given, Choice) else jnp.zeros(())
    return layers[same[0]], score if payload is None else score + payload(layers[same[0]], node)


def _alike(layer: Any, node: Any) -> bool:
    """Whether two layers of a constructor have children in the same places."""
    fields = ((getattr(x, name) for name in layout(type(node)).names) for x in (layer, node))
    return all(_places(a) == _places(b) for a, b in zip(*fields, strict=True))


def _places(field: Any) -> Any:
    """How many places a field has, as far as its value says: none, one, or those of a tuple."""
    return len(field) if isinstance(field, tuple) else field is None
