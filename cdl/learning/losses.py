"""Losses, each an optic from a target and a prediction to a number.

| the loss                | of a target `t` and a prediction `y`, with `n` numbers  | back, on `l'`, at `y`    |
| ----------------------- | ------------------------------------------------------- | ------------------------ |
| `mse()`                 | `1/(2n) Σ (y − t)²`                                     | `l' (y − t) / n`         |
| `mse(reduction="sum")`  | `½ Σ (y − t)²`                                          | `l' (y − t)`             |
| `cross_entropy()`       | `− Σ t log softmax(y)`, the mean over rows              | `l' (softmax(y) − t) / rows` |
| `dot()`                 | `Σ t y`                                                 | `l' t`                   |

A loss has two inputs, so its way back gives a gradient for the target as well. A learning rate `rate(η)` closes a loss:
it begins the way back with `η`, where backpropagation begins with 1.

Labels are checked, because JAX would take the label −1 for the last class. They are checked at once where they are
known, and otherwise when the compiled program runs. Equinox's `EQX_ON_ERROR=off` turns the second check off.

Examples:
    >>> loss = cdl.learning.losses.mse()
    >>> float(cdl.optics.to_lens(loss.optic).get((jnp.array([1.0]), jnp.array([3.0]))))
    2.0
"""

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .._functors.usage import with_types, with_usage
from .._optics.lens import Lens, to_optic
from .._optics.optic import Optic
from .._optics.reversal import reverse
from .._optics.types import show
from .._schemes.in_range import in_range
from ..errors import PortMismatch


@with_usage
def mse(*, reduction: Literal["mean", "sum"] = "mean") -> Optic[tuple[Array, Array], Array]:
    """Half the squared error: its mean over all numbers, or its sum. So it is half of the mean squared error."""

    def half_the_square(pair: tuple[Array, Array]) -> Array:
        target, prediction = pair
        _refuse_unless_alike("mse", target, prediction)
        total = jnp.sum(jnp.square(prediction - target)) / 2
        return total / _count("mse", prediction) if reduction == "mean" else total

    return reverse(half_the_square).named("mse")


@with_usage
def cross_entropy() -> Optic[tuple[Array, Array], Array]:
    """Of scores in the last axis, to distributions over it or to whole numbers, which are labels.

    A class of probability 0 adds 0 to it, even where its score is `-inf`.

    **Raises:** `PortMismatch` for shapes that do not fit; `CdlError` for a label that is not the number of a class, or
    in a compiled program an error when it runs.
    """

    def of_scores(pair: tuple[Array, Array]) -> Array:
        target, scores = pair
        if scores.ndim == 0:
            raise PortMismatch("`cross_entropy` takes a score for each class, along the last axis, and not one number.")
        _count("cross_entropy", scores)
        logs = jax.nn.log_softmax(scores)
        if jnp.issubdtype(target.dtype, jnp.integer):
            _refuse_unless_alike("cross_entropy", target, scores[..., 0])
            labels = _labels(target, scores.shape[-1])
            return -jnp.mean(jnp.take_along_axis(logs, labels[..., None], axis=-1))
        _refuse_unless_alike("cross_entropy", target, scores)
        reached = jnp.where((target == 0) & (logs == -jnp.inf), 0, logs)
        return -jnp.mean(jnp.sum(target * reached, axis=-1))

    return reverse(of_scores).named("cross entropy")


@with_usage
def dot() -> Optic[tuple[Array, Array], Array]:
    """The product with a direction: how far a prediction goes that way."""

    def along(pair: tuple[Array, Array]) -> Array:
        direction, prediction = pair
        _refuse_unless_alike("dot", direction, prediction)
        return jnp.sum(direction * prediction)

    return reverse(along).named("dot")


@with_types
def rate(eta: float) -> Optic[Array, tuple[()], Array, tuple[()]]:
    """The learning rate, a lens from a number to nothing: `put(l, ()) = η`."""

    def end(loss: Array) -> tuple[()]:
        if loss.shape != ():
            raise PortMismatch(
                f"a loss is one number, and this one is {show(loss)}. Reduce it, by a mean or a sum, before the rate."
            )
        if not jnp.issubdtype(loss.dtype, jnp.inexact):
            raise PortMismatch(
                f"a loss is a floating number, and this one is {show(loss)}: a rate would be rounded to it."
            )
        return ()

    return to_optic(Lens(end, lambda loss, _: jnp.full_like(loss, eta))).named("rate")


def _refuse_unless_alike(name: str, target: Any, prediction: Any) -> None:
    if target.shape != prediction.shape:
        raise PortMismatch(
            f"`{name}` compares what is of one shape: the target is {show(target)}, and what it is held against is "
            f"{show(prediction)}. Give one of the two the shape of the other."
        )


def _count(name: str, values: Any) -> int:
    """How many numbers a mean is of. **Raises:** `PortMismatch` for none, whose mean is not a number."""
    if not values.size:
        raise PortMismatch(f"`{name}` of {show(values)} is a mean of no numbers. Leave out a batch that is empty.")
    return int(values.size)


def _labels(labels: Any, classes: int) -> Any:
    """Labels that are numbers of classes."""
    which: Callable[[Any], Any] = lambda x: "another number" if x is None else x
    expected = f"the labels of {classes} classes are the whole numbers 0 to {classes - 1}"
    return in_range(labels, classes, lambda x: f"{expected}, and a label is {which(x)}.")
