"""`choose`: the layers a coalgebra might give, with a score for each.

Typed as the union of the layers, so that a coalgebra that chooses has the type of one that does not.
"""

from typing import Any, overload, TypeVar, Union

import jax.numpy as jnp
from jaxtyping import Array, Float

from .._errors import PayloadMismatch
from ._unfolds import Choice


L0 = TypeVar("L0")
L1 = TypeVar("L1")
L2 = TypeVar("L2")
L3 = TypeVar("L3")
L4 = TypeVar("L4")
L5 = TypeVar("L5")
L6 = TypeVar("L6")
L7 = TypeVar("L7")
Scores = Float[Array, " layers"]


@overload
def choose(scores: Scores, a: L0, /) -> L0: ...
@overload
def choose(scores: Scores, a: L0, b: L1, /) -> Union[L0, L1]: ...
@overload
def choose(scores: Scores, a: L0, b: L1, c: L2, /) -> Union[L0, L1, L2]: ...
@overload
def choose(scores: Scores, a: L0, b: L1, c: L2, d: L3, /) -> Union[L0, L1, L2, L3]: ...
@overload
def choose(scores: Scores, a: L0, b: L1, c: L2, d: L3, e: L4, /) -> Union[L0, L1, L2, L3, L4]: ...
@overload
def choose(scores: Scores, a: L0, b: L1, c: L2, d: L3, e: L4, f: L5, /) -> Union[L0, L1, L2, L3, L4, L5]: ...
@overload
def choose(scores: Scores, a: L0, b: L1, c: L2, d: L3, e: L4, f: L5, g: L6, /) -> Union[L0, L1, L2, L3, L4, L5, L6]: ...
@overload
def choose(
    scores: Scores, a: L0, b: L1, c: L2, d: L3, e: L4, f: L5, g: L6, h: L7, /
) -> Union[L0, L1, L2, L3, L4, L5, L6, L7]: ...
@overload
def choose(scores: Scores, /, *layers: L0) -> L0: ...
def choose(scores: Any, /, *layers: Any) -> Any:
    """One of the layers, by its score: `return choose(scores, Nil(), Cons(a, s))`.

    **Arguments:** `scores`: unnormalised log-probabilities, one for each layer. `layers`: every candidate, in a fixed
    order.

    **Raises:** `PayloadMismatch` where there are not as many scores as layers.
    """
    if jnp.shape(scores) != (len(layers),):
        raise PayloadMismatch(
            f"`choose` has scores of shape {jnp.shape(scores)} for {len(layers)} layers: give one score for each."
        )
    return Choice(scores, layers)
