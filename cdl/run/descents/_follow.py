"""`follow`: how likely a coalgebra is to grow given trees, compiled.

It is `likelihood` at every tree of a forest: a pass from the roots down, on which each node's seed comes from above and
its score is summed.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
from jaxtyping import Array, Float

from ...algebra._algebra import name_of
from ...algebra._likelihood import Payload, scored
from ...functor import Base
from ..folds._walk import take
from ..forests._forest import Forest
from ._inherit import descend


T = TypeVar("T")
S = TypeVar("S")


def follow(
    coalg: Callable[[S], Base[T, S]], forest: Forest, seeds: S, /, *, payload: Payload | None = None
) -> Float[Array, " trees"]:
    """`likelihood(coalg, seed)` at every tree of a forest, in one compiled program, by teacher forcing.

    Differentiable in the coalgebra's arrays, in the seeds and in the forest's payload.

    **Arguments:** `coalg`: for one seed, the same as for `ana`. `seeds`: one for each tree, with a leading axis of the
    trees. `payload`: from the layer that the coalgebra proposes, and the tree's, to the log-probability of the tree's
    payloads; without, payloads are taken as given.

    **Raises:** `ForeignLayer` at a constructor that the coalgebra never gives, or gives in two ways; `CarrierMismatch`
    where a seed below is not like those at the roots.
    """

    def step(seed: Any, layer: Any) -> tuple[Any, Any]:
        return scored(coalg, seed, layer, payload)

    _, scores = descend((step,), (name_of(coalg),), forest, (seeds,), (None,), leaves=True)
    tree = take(forest.tree, forest.row[: forest.bucket.nodes])
    return jax.ops.segment_sum(scores, tree, len(forest))  # past the last node the scores are zero
