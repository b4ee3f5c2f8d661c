"""`choose`: the layers a coalgebra might give, with a score for each.

Typed as the union of the layers, so that a coalgebra that chooses has the type of one that does not.
"""

from typing import Any, overload, TypeVar, Union

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._functors import Base
from .._functors.described import described
from .._functors.origin import not_a_constructor
from .._functors.read import tag, tag_name
from .._functors.usage import with_usage
from .._functors.words import an
from ..errors import ForeignLayer, PayloadMismatch, SignatureError
from .unfolds import Choice


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
@with_usage
def choose(scores: Any, /, *layers: Any) -> Any:
    """One of the layers, by its score: `return choose(scores, Nil(), Cons(a, s))`.

    Without a key the layer with the greatest score is taken; with one, a layer is drawn with the probabilities
    `softmax(scores)`.

    **Arguments:** `scores`: unnormalised log-probabilities, one for each layer. `layers`: every candidate, in a fixed
    order.

    **Raises:** `PayloadMismatch` where there are not as many scores as layers, `ForeignLayer` for anything other than a
    layer, `SignatureError` for layers of two signatures.

    Examples:
        >>> def coin(n):
        ...     return cdl.schemes.choose(
        ...         jnp.array([2.0, 1.0]), cdl.Leaf(n), cdl.Fork(n + 1, n + 1)
        ...     )
        >>> cdl.ana(coin)(0)
        Leaf(0)
    """
    _expect_layers(layers)
    shape = jnp.shape(scores) if eqx.is_array_like(scores) else None
    if shape != (len(layers),):
        given = f"{described(scores)} as scores" if shape is None else f"scores of shape {shape}"
        lone = " Of a list, `jnp.array([…])` is an array." if isinstance(scores, list | tuple) else ""
        raise PayloadMismatch(
            f"`choose` has {given} for {len(layers)} layers: give an array with one score for each layer, and then the "
            f"layers, one after the other.{lone}"
        )
    if jnp.iscomplexobj(scores):
        raise PayloadMismatch(f"`choose` has scores of `{scores.dtype}`, and of complex numbers none is the greatest.")
    return Choice(scores, layers)


def _expect_layers(layers: tuple[Any, ...]) -> None:
    for layer in layers:
        if isinstance(layer, Choice):
            raise ForeignLayer("`choose` was given another `choose` as a layer: give all layers to one of them.")
        if not isinstance(layer, Base):
            raise ForeignLayer(
                f"`choose` was given {described(layer)} as a layer: write `choose(scores, Nil(), Cons(a, s))`, with a "
                f"constructor's instance for each score.{not_a_constructor(type(layer))}"
            )
    if not layers:
        raise ForeignLayer("`choose` was given no layer: write `choose(scores, Nil(), Cons(a, s))`.")
    tags = {tag(type(layer)): type(layer) for layer in layers if tag(type(layer)) is not None}
    if len(tags) > 1:
        (t, a), (u, b), *_ = tags.items()
        raise SignatureError(
            f"`choose` was given {an(a.__name__)} of `{tag_name(t)}` and {an(b.__name__)} of `{tag_name(u)}`: a "
            "coalgebra gives layers of one signature. Write a coalgebra for each."
        )
