"""Reverse derivative categories: where maps have derivatives that run backwards.

| the mathematics                                          | here                                                |
| -------------------------------------------------------- | --------------------------------------------------- |
| a map `f : Aⁿ → Aᵐ`                                      | a `DifferentiableMap`, with `source` and `target`   |
| composition, pairing `⟨f, g⟩`, `f × g`                   | `f >> g`, `f & g`, `f @ g`                          |
| projections, the diagonal, exchanges, the identity       | `kind.pick(n, places)`, `kind.identity(n)`          |
| the left-additive structure: `f + g`, `0`                | `f + g`, `kind.zero(n, m)`                          |
| the reverse derivative `R[f] : A × B → A`                | `R(f)`                                              |
| the derivative `D[f] : A × A → B`, by `R` alone          | `D(f)`: `(a, v) ↦ R[R[f]](a, 0, v)`, of which the `B` |
| the functor `f ↦ (f, R[f])` to lenses                    | `f.lens()`                                          |

`cdl.laws.reverse_derivative` has the seven axioms. Two categories are given: `SmoothMap`, by `jax.vjp`, and `Z2Map`,
polynomials over the field of two elements. Objects are numbers: `n` is the product of `n` copies of one object, so that
a product is a sum and a map goes from vectors to vectors.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, cast, Generic, TypeVar

import jax.numpy as jnp
from jaxtyping import Array

from .._functors.expected import expect_type
from .._functors.usage import whole, with_types
from .._functors.words import short
from ..errors import PortMismatch
from .lens import Lens


F = TypeVar("F", bound="DifferentiableMap[Any]")


class DifferentiableMap(ABC, Generic[F]):
    """A map of a reverse derivative category, from vectors of length `source` to those of length `target`.

    Of the category of `F`, as in `class SmoothMap(DifferentiableMap["SmoothMap"])`.

    Examples:
        >>> cube: cdl.optics.DifferentiableMap = cdl.optics.SmoothMap(1, 1, lambda x: x**3)
        >>> cube(jnp.array([2.0])).tolist()
        [8.0]
    """

    source: int
    target: int

    @abstractmethod
    def __call__(self, x: Array, /) -> Array:
        """The value at a vector, or at an array whose first axis is one."""

    @abstractmethod
    def __rshift__(self, other: F) -> F:
        """This one first."""

    @abstractmethod
    def __and__(self, other: F) -> F:
        """Both of one input, their values end to end."""

    @abstractmethod
    def __add__(self, other: F) -> F:
        """The sum of the values."""

    @classmethod
    @abstractmethod
    def pick(cls, source: int, places: Sequence[int], /) -> F:
        """The map that reads its input at these places: projections, the diagonal, exchanges.

        **Arguments:** `source`: how many places the input has. `places`: the numbers of those that are picked, in their
        new order.
        """

    @classmethod
    @abstractmethod
    def zero(cls, source: int, target: int, /) -> F:
        """The map that is zero.

        **Arguments:** `source`, `target`: how many places the input and the output have.
        """

    @abstractmethod
    def reversed(self) -> F:
        """`R[f]`, from `source + target` to `source`."""

    @abstractmethod
    def observed(self) -> Any:
        """What two maps are compared by: all of it where equality can be decided, else values at some points."""

    @classmethod
    @with_types
    def identity(cls, source: int, /) -> F:
        """The map that changes nothing."""
        return cls.pick(source, range(whole("source", source, least=0)))

    def __matmul__(self, other: F) -> F:
        expect_type("`g` of `f @ g`", other, type(self))
        source = self.source + other.source
        first, second = self.pick(source, range(self.source)), self.pick(source, range(self.source, source))
        return cast("F", (first >> self) & (second >> other))

    def lens(self) -> Lens[Array, Array]:
        """`(f, R[f])`."""
        back = self.reversed()
        return Lens(self, lambda x, dy: back(jnp.concatenate([x, dy])))


def fit(what: str, first: int, second: int) -> None:
    """That two numbers are one. **Raises:** `PortMismatch` naming both."""
    if first != second:
        raise PortMismatch(f"`{what}` of maps that do not fit: {first} numbers and {second}. Give both the same.")


def expect_length(x: Array, source: int) -> None:
    """That a vector, or an array whose first axis is one, is as long as a map takes. **Raises:** `PortMismatch`."""
    if not hasattr(x, "shape"):
        raise PortMismatch(f"a map of {source} numbers does not take {short(x)}: give an array of that length.")
    if x.shape[:1] != (source,):
        raise PortMismatch(
            f"a map of {source} numbers does not take an array of shape {x.shape}: its first axis must be {source}."
        )


def expect_places(source: int, places: Sequence[int]) -> None:
    """That a map reads what is there. **Raises:** `PortMismatch` naming what is not."""
    beyond = [i for i in places if not 0 <= i < source]
    if beyond:
        raise PortMismatch(f"`pick` of place {beyond[0]} of {source}: places are numbered from 0 to {source - 1}.")


@with_types
def R(f: DifferentiableMap[F], /) -> F:
    """The reverse derivative: at `a`, it sends a change of the value to a change of `a`.

    Examples:
        >>> cube = cdl.optics.SmoothMap(1, 1, lambda x: x**3)
        >>> cdl.optics.R(cube)(jnp.array([2.0, 1.0])).tolist()
        [12.0]
    """
    return f.reversed()


@with_types
def D(f: DifferentiableMap[F], /) -> F:
    """The derivative, by reverse derivatives alone: at `a`, it sends a change of `a` to a change of the value.

    `R[f]` is linear in its second argument, and `R` of what is linear is its transpose.

    Examples:
        >>> product = cdl.optics.SmoothMap(2, 1, lambda x: x[:1] * x[1:])
        >>> cdl.optics.D(product)(jnp.array([2.0, 5.0, 1.0, 0.0])).tolist()
        [5.0]
    """
    n, m = f.source, f.target
    a = f.pick(2 * n, range(n))
    v = f.pick(2 * n, range(n, 2 * n))
    at_zero = a & f.zero(2 * n, m) & v
    return cast("F", at_zero >> R(f).reversed() >> f.pick(n + m, range(n, n + m)))
