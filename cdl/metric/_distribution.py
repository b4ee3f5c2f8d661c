"""What a model says of its targets: a distribution for each example.

| the mathematics                                    | here                                                     |
| -------------------------------------------------- | -------------------------------------------------------- |
| `p(y | z)`, one for each example                   | a `Distribution`: its arrays are `z`                     |
| `log p(y | z)`                                     | `log_density(y)`, a number for each example              |
| `F(z) v`, with `F(z) = E ∇ log p ∇ log pᵀ`         | `fisher(v)`, in closed form                              |
| `KL(p(· | z), p(· | w))`                           | `kl(other)`, a number for each example                   |
| `y ~ p(· | z)`                                     | `sample(key)`                                            |

The first axis of `z` is that of the examples, and they are independent. Axes after it belong to one example, whose
numbers are added up. So `log_density` has the shape `(examples,)`, or `()` of one example without that axis. A vector
`v` and a covector `F(z) v` have the structure of the distribution itself, since that is what `jax.jvp` gives.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from .._functors.usage import with_types
from .._functors.words import short
from ..errors import CdlError


class Distribution(eqx.Module):
    """A distribution for each example, whose arrays are its parameters. Extend it for one of your own."""

    event: ClassVar[int] = 0
    """The axes that the parameters of one number have: 0, or 1 for scores of classes."""

    @abstractmethod
    def log_density(self, y: Any, /) -> Array:
        """`log p(y)` of each example."""

    @abstractmethod
    def sample(self, key: PRNGKeyArray, /) -> Any:
        """A draw for each example."""

    @abstractmethod
    def fisher(self, v: Any, /) -> Any:
        """The Fisher matrix of each example's parameters, times a vector: a covector. Both have the
        structure of the distribution."""

    @abstractmethod
    def kl(self, other: Any, /) -> Array:
        """The Kullback–Leibler divergence of another from this, of each example."""

    @property
    def shape(self) -> tuple[int, ...]:
        """`(examples,)`, or `()` of one example."""
        first = jax.tree.leaves(self)[0]
        return tuple(first.shape[: 1 if first.ndim > self.event else 0])

    def summed(self, numbers: Array) -> Array:
        """The sum of each example's numbers."""
        return jnp.sum(numbers, axis=tuple(range(len(self.shape), numbers.ndim)))


@with_types
def negative_log_likelihood(distribution: Distribution, targets: Any, /) -> Array:
    """The mean of `−log p(y)` over the examples: the loss whose metric `fisher` is.

    **Raises:** `CdlError` for targets that are not of the distribution.
    """
    return -jnp.mean(distribution.log_density(targets))


def expect_parameters(made: Distribution) -> None:
    """**Raises:** `CdlError` where a parameter is not an array of floating numbers, or lacks an axis."""
    for name, x in vars(made).items():
        if not eqx.is_array(x) or not jnp.issubdtype(x.dtype, jnp.floating) or x.ndim < made.event:
            axes = f", with at least {made.event} axis" if made.event else ""
            raise CdlError(
                f"`{name}` of `{type(made).__name__}` is {short(x)}, and must be an array of floating numbers{axes}."
            )


def expect_like(name: str, y: Any, parameters: Array) -> Array:
    """Targets, a number for each of the parameters. **Raises:** `CdlError` for other shapes."""
    if not eqx.is_array_like(y) or jnp.shape(y) != parameters.shape:
        given = f"of shape {jnp.shape(y)}" if eqx.is_array_like(y) else short(y)
        raise CdlError(
            f"`{name}` has a number for each of its parameters, of shape {parameters.shape}, and the targets are "
            f"{given}. Give one of the two the shape of the other."
        )
    return jnp.asarray(y)
