"""`follow`: how likely a coalgebra is to grow given trees, compiled.

It is `likelihood` at every tree of a forest: a pass from the roots down, on which each node's seed comes from above and
its score is summed.
"""

from collections.abc import Callable
from typing import Any, overload, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..._functors import Base
from ..._functors.usage import with_usage
from ..._schemes.algebras import name_of
from ..._schemes.expect import expect_coalgebras
from ..._schemes.inheriting import UNSEEN
from ..._schemes.likelihoods import Coalgebras, expect_payload, of_sorts, Payload, scored
from ..arrays._rows import take
from ..arrays.shapes import shown
from ..calls._traced import noted
from ..folds._options import expect_as_many, expect_forest
from ..forests._forest import Forest
from ._inherit import descend


T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S")
R = TypeVar("R")


@overload
def follow(
    coalg: Callable[[S], Base[T, S]], forest: Forest, seeds: S, /, *, payload: Payload | None = None
) -> Float[Array, " trees"]: ...
@overload
def follow(
    coalg: tuple[Callable[[S], Base[T, tuple[S, R]]], Callable[[R], Base[U, tuple[S, R]]]],
    forest: Forest,
    seeds: tuple[S, R],
    /,
    *,
    payload: Payload | None = None,
) -> Float[Array, " trees"]: ...
@overload
def follow(
    coalg: Coalgebras, forest: Forest, seeds: tuple[Any, ...], /, *, payload: Payload | None = None
) -> Float[Array, " trees"]: ...
@with_usage
def follow(coalg: Any, forest: Any, seeds: Any, /, *, payload: Any = None) -> Float[Array, " trees"]:
    """`likelihood(coalg, seed)` at every tree of a forest, in one compiled program, by teacher forcing.

    Differentiable in the coalgebra's arrays, in the seeds and in the forest's payload.

    **Arguments:** `coalg`: for one seed, the same as for `ana`. `seeds`: one for each tree, with a leading axis of the
    trees. For a family of sorts, a tuple of each, in the order of the sorts; the seeds of a sort are those of its own
    trees, in their order. `payload`: from the layer that the coalgebra proposes, and the tree's, to the log-probability
    of the tree's payloads; without, payloads other than letters are taken as given.

    **Returns:** one number for each tree, in the order of the forest, of whatever sort they are. Where a score is NaN,
    which `unfold` refuses, the number is NaN.

    **Raises:** `ForeignLayer` at a constructor that the coalgebra never gives, or gives in two ways; `CarrierMismatch`
    where a seed below is not like those at the roots, or there are not as many seeds as trees; `PayloadMismatch` where
    a fraction or a text is proposed for a letter that is annotated `int`, without a `payload`; `SignatureError` where
    the coalgebras are not those of the forest's sorts, in their order; `CdlError` where anything other than a forest is
    given.

    Examples:
        >>> fair = lambda n: cdl.choose(jnp.zeros(2), cdl.functors.Zero(), cdl.functors.Succ(n))
        >>> forest = cdl.pack(
        ...     cdl.functors.NatF, [cdl.functors.Zero(), cdl.functors.Succ(cdl.functors.Zero())]
        ... )
        >>> jnp.exp(cdl.follow(fair, forest, jnp.zeros(2))).tolist()
        [0.5, 0.25]
    """
    expect_forest("follow", forest, "coalg", after=seeds, called="seeds")
    expect_coalgebras("follow", coalg if isinstance(coalg, tuple) else (coalg,), several="in a tuple")
    expect_payload(payload)
    coalgs, tops = of_sorts(coalg, seeds)
    expect_as_many("follow", forest, "coalgebra", len(coalgs))
    if not forest.bucket.variants:
        return jnp.zeros(len(forest))
    told = None if payload is None else Told(payload)
    steps, names = tuple(Scored(c, told) for c in coalgs), tuple(map(name_of, coalgs))
    _, scores = descend("follow", steps, names, forest, tops, (UNSEEN,) * len(tops), leaves=True, given="`seeds`")
    tree = take(forest.tree, forest.row[: forest.bucket.nodes])
    scores = scores.astype(jnp.promote_types(scores.dtype, jnp.zeros(()).dtype))  # as the definition adds them
    return jax.ops.segment_sum(scores, tree, len(forest))  # past the last node the scores are zero


class Scored(eqx.Module):
    """A coalgebra as a step: what it proposes at a node goes down, and how likely the node is stays there."""

    coalg: Callable[[Any], Any]
    payload: Payload | None

    def __call__(self, seed: Any, layer: Base[Any, Any]) -> tuple[Any, Any]:
        return scored(self.coalg, seed, layer, self.payload)


class Told(eqx.Module):
    """A payload function, which is named where it fails: the step around it would name the coalgebra."""

    payload: Payload

    @property
    def __name__(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return name_of(self.payload)

    def __call__(self, mine: Base[Any, Any], given: Base[Any, Any]) -> Any:
        layers = lambda: f"a layer `{shown(mine)}` that is proposed, and `{shown(given)}` of the tree"
        with noted(self.__name__, layers, "return one number, the log-probability of the tree's payloads"):
            return self.payload(mine, given)
