"""Smooth maps between vectors: the reverse derivative category of `jax.vjp`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._functors.described import described
from .._functors.expected import expect_fields
from .._functors.usage import whole, with_types
from ..errors import CdlError, PortMismatch
from ._category import DifferentiableMap, expect_length, expect_places, fit


POINTS = 2  # how many points two maps are compared at


@final
@dataclass(frozen=True)
class SmoothMap(DifferentiableMap["SmoothMap"]):
    """A smooth map `Rⁿ → Rᵐ`, as a function from vectors to vectors; its reverse derivative is `jax.vjp`'s.

    **Arguments:** `source`, `target`: `n` and `m`. `fn`: from a vector `(n,)` to one `(m,)`.

    **Raises:** when called, `PortMismatch` for a vector, or a value of `fn`, of another length; `CdlError` for one of
    whole numbers.

    Examples:
        >>> product = cdl.optics.SmoothMap(2, 1, lambda x: x[:1] * x[1:])
        >>> cdl.optics.R(product)(jnp.array([2.0, 5.0, 1.0])).tolist()
        [5.0, 2.0]
    """

    source: int
    target: int
    fn: Callable[[Array], Array]

    def __post_init__(self) -> None:
        expect_fields(self)

    def __call__(self, x: Array, /) -> Array:
        expect_length(x, self.source)
        if not jnp.issubdtype(jnp.result_type(x), jnp.inexact):
            raise CdlError(
                f"a `SmoothMap` is of vectors in floating point, and was given {described(x)}: write `x.astype(float)`."
            )
        y = self.fn(x)
        if jnp.shape(y)[:1] != (self.target,):
            raise PortMismatch(
                f"`target` of this `SmoothMap` is {self.target}, and its function gives {described(y)}: let it give a "
                f"vector of {self.target}, or change `target`."
            )
        return y

    @with_types
    def __rshift__(self, other: "SmoothMap") -> "SmoothMap":
        fit("f >> g", self.target, other.source)
        return SmoothMap(self.source, other.target, lambda x: other.fn(self.fn(x)))

    @with_types
    def __and__(self, other: "SmoothMap") -> "SmoothMap":
        fit("f & g", self.source, other.source)
        both = lambda x: jnp.concatenate([self.fn(x), other.fn(x)])
        return SmoothMap(self.source, self.target + other.target, both)

    @with_types
    def __add__(self, other: "SmoothMap") -> "SmoothMap":
        fit("f + g", self.source, other.source)
        fit("f + g", self.target, other.target)
        return SmoothMap(self.source, self.target, lambda x: self.fn(x) + other.fn(x))

    @classmethod
    @with_types
    def pick(cls, source: int, places: Sequence[int], /) -> "SmoothMap":
        whole("source", source, least=0)
        expect_places(source, places)
        index = np.asarray(places, int)
        return SmoothMap(source, len(places), lambda x: x[index])

    @classmethod
    @with_types
    def zero(cls, source: int, target: int, /) -> "SmoothMap":
        whole("source", source, least=0)
        whole("target", target, least=0)
        return SmoothMap(source, target, lambda x: jnp.zeros((target, *x.shape[1:]), x.dtype))

    def reversed(self) -> "SmoothMap":
        n = self.source
        return SmoothMap(n + self.target, n, lambda x: jax.vjp(self.fn, x[:n])[1](x[n:])[0])

    def observed(self) -> Any:
        points = np.random.default_rng(self.source).normal(size=(POINTS, self.source))
        return jax.jit(jax.vmap(self.fn))(jnp.asarray(points))
