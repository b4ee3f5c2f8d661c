"""Losses, each an optic from a target and a prediction to a number.

| the loss                | of a target `t` and a prediction `y`, with `n` numbers  | back, on `l'`, at `y`    |
| ----------------------- | ------------------------------------------------------- | ------------------------ |
| `mse()`                 | `1/(2n) Σ (y − t)²`                                     | `l' (y − t) / n`         |
| `mse(reduction="sum")`  | `½ Σ (y − t)²`                                          | `l' (y − t)`             |
| `cross_entropy()`       | `− Σ t log softmax(y)`, the mean over rows              | `l' (softmax(y) − t) / rows` |
| `dot()`                 | `Σ t y`                                                 | `l' t`                   |

A loss has two ports on its left: the way back has a change of the target as well. A loss is closed by a learning rate,
`rate(η)`: whatever the loss is, `η` is the change of it that is wished for.
"""

from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .._errors import PortMismatch
from ._lens import Lens, to_optic
from ._optic import Optic
from ._reverse import reverse
from ._types import show


def mse(*, reduction: Literal["mean", "sum"] = "mean") -> Optic[tuple[Array, Array], Array]:
    """Half the squared error: its mean over all numbers, or its sum."""

    def half_the_square(pair: tuple[Array, Array]) -> Array:
        target, prediction = pair
        _refuse_unless_alike("mse", target, prediction)
        total = jnp.sum(jnp.square(prediction - target)) / 2
        return total / prediction.size if reduction == "mean" else total

    return reverse(half_the_square).named("mse")


def cross_entropy() -> Optic[tuple[Array, Array], Array]:
    """Of scores in the last axis, to distributions over it or to whole numbers, which are labels."""

    def of_scores(pair: tuple[Array, Array]) -> Array:
        target, scores = pair
        logs = jax.nn.log_softmax(scores)
        if jnp.issubdtype(target.dtype, jnp.integer):
            _refuse_unless_alike("cross_entropy", target, scores[..., 0])
            return -jnp.mean(jnp.take_along_axis(logs, target[..., None], axis=-1))
        _refuse_unless_alike("cross_entropy", target, scores)
        return -jnp.mean(jnp.sum(target * logs, axis=-1))

    return reverse(of_scores).named("cross entropy")


def dot() -> Optic[tuple[Array, Array], Array]:
    """The product with a direction: how far a prediction goes that way."""

    def along(pair: tuple[Array, Array]) -> Array:
        direction, prediction = pair
        _refuse_unless_alike("dot", direction, prediction)
        return jnp.sum(direction * prediction)

    return reverse(along).named("dot")


def rate(eta: float) -> Optic[Array, tuple[()], Array, tuple[()]]:
    """The learning rate, a lens from a number to nothing: `put(l, ()) = η`."""

    def end(loss: Array) -> tuple[()]:
        if loss.shape != ():
            raise PortMismatch(
                f"a loss is one number, and this one is {show(loss)}. Reduce it, by a mean or a sum, before the rate."
            )
        return ()

    return to_optic(Lens(end, lambda loss, _: jnp.full_like(loss, eta))).named("rate")


def _refuse_unless_alike(name: str, target: Any, prediction: Any) -> None:
    if target.shape != prediction.shape:
        raise PortMismatch(
            f"`{name}` compares what is of one shape: the target is {show(target)}, and what it is held against is "
            f"{show(prediction)}. Give one of the two the shape of the other."
        )
