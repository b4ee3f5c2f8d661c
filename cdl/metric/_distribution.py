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
from ..errors import CdlError


class Distribution(eqx.Module):
    """A distribution for each example. Its arrays are the parameters. Extend it for a new family.

    Examples:
        >>> coin: cdl.metric.Distribution = cdl.metric.Bernoulli(jnp.zeros(3))
        >>> jnp.exp(coin.log_density(jnp.array([0, 1, 1]))).tolist()
        [0.5, 0.5, 0.5]
    """

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
        """`(examples,)`, or `()` of one example.

        **Raises:** `CdlError` where two of its arrays differ in this.
        """
        found = {
            f"`{jax.tree_util.keystr(path).lstrip('.')}`": x.shape[: 1 if x.ndim > self.event else 0]
            for path, x in jax.tree_util.tree_leaves_with_path(self)
        }
        name = type(self).__name__
        if not found:
            raise CdlError(f"`{name}` has no arrays: a distribution has its parameters in its fields.")
        first = next(iter(found))
        for other, shape in found.items():
            if shape != found[first]:
                raise CdlError(
                    f"`{name}` has {_said(found[first])} by {first} and {_said(shape)} by {other}: give all of its "
                    "arrays the same first axis, with a place for each example."
                )
        return tuple(found[first])

    @property
    def examples(self) -> int:
        """How many examples there are, for a mean over them. **Raises:** `CdlError` where there are none."""
        count = 1 if not self.shape else self.shape[0]
        if not count:
            raise CdlError(f"a mean over the examples of `{type(self).__name__}`, and there are 0: give at least one.")
        return count

    def summed(self, numbers: Array) -> Array:
        """The sum of each example's numbers."""
        return jnp.sum(numbers, axis=tuple(range(len(self.shape), numbers.ndim)))


@with_types
def negative_log_likelihood(distribution: Distribution, targets: Any, /) -> Array:
    """The mean of `−log p(y)` over the examples: the loss whose metric `fisher` is.

    **Arguments:** `distribution`: what a model predicts. `targets`: what was observed, a row for each.

    **Returns:** the loss, `float[]`.

    **Raises:** `CdlError` for targets that the distribution does not take, and for no examples.

    Examples:
        >>> coin = cdl.metric.Bernoulli(jnp.zeros(3))
        >>> round(float(cdl.metric.negative_log_likelihood(coin, jnp.array([0, 1, 1]))), 4)
        0.6931
    """
    count, found = distribution.examples, distribution.log_density(targets)
    if found.shape != distribution.shape:
        raise CdlError(
            f"`log_density` of `{type(distribution).__name__}` gives an array of shape {found.shape}, and its examples "
            f"are of shape {distribution.shape}: add up the numbers of each example with `self.summed`."
        )
    return -jnp.sum(found) / count


def _said(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} examples" if shape else "one example without an axis"
