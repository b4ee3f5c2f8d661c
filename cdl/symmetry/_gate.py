"""`x ↦ σ(a ‖x‖ + b) x`, a nonlinear map that commutes with actions that keep lengths."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr

from .._schemes.expect import expect_key
from ..errors import CdlError
from ._action import Action, expect_action
from ._map import EquivariantMap
from ._sizes import axis_of, counted


class NormGate(EquivariantMap):
    """`x ↦ σ(a ‖x‖ + b) x`, with `a` and `b` for each channel: nonlinear, and equivariant where lengths are kept.

    What comes out has the type of what goes in.

    Examples:
        >>> turn = cdl.symmetry.groups.so(3)
        >>> gate = cdl.symmetry.NormGate(turn, key=jax.random.key(0))
        >>> along = lambda x: turn("turn01", x)
        >>> float(
        ...     abs(
        ...         cdl.symmetry.lie_derivative(gate, along, along)(jnp.array([1.0, 2.0, 3.0]))
        ...     ).max()
        ... ) < 1e-6
        True
    """

    scale: jax.Array
    shift: jax.Array
    source: Action = eqx.field(static=True)
    target: Action = eqx.field(static=True)
    in_channels: int | None = eqx.field(static=True)
    out_channels: int | None = eqx.field(static=True)

    def __init__(self, X: Action, channels: int | None = None, *, key: jax.Array) -> None:
        """**Raises:** `CdlError` where a generator is not orthogonal, and for a number of channels below 1,
        or anything other than a key."""
        orthogonal(X, "NormGate")
        self.source, self.target = X, X
        self.in_channels = self.out_channels = counted(channels)
        expect_key(key)
        self.scale = jr.normal(key, axis_of(self.in_channels))
        self.shift = jnp.zeros(axis_of(self.in_channels))

    @property
    def execution(self) -> str:
        return "a length for each channel, and one product"

    def _apply(self, x: jax.Array) -> jax.Array:
        x = x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(self.scale.dtype)
        wide = x.astype(jnp.float32) if x.dtype.itemsize < 4 else x  # squares of half precision overflow
        axes = tuple(range(x.ndim - len(self.source.shape), x.ndim))
        length = _length(wide, axes)
        ones = [1] * len(axes)
        scale, shift = (p.astype(length.dtype).reshape((*p.shape, *ones)) for p in (self.scale, self.shift))
        return x * jax.nn.sigmoid(scale * length + shift).astype(x.dtype)


def _length(x: jax.Array, axes: tuple[int, ...]) -> jax.Array:
    """The length of an array of real or complex numbers, by parts of 1 or less: squares would overflow."""
    limits: Any = jnp.finfo
    _, exponent = jnp.frexp(jax.lax.stop_gradient(jnp.max(jnp.abs(x), axes, keepdims=True, initial=0.0)))
    size = jnp.ldexp(jnp.ones_like(exponent, jnp.real(x).dtype), jnp.clip(exponent - 1, -100, 127))
    parts = x / size.astype(x.dtype)
    squares = jnp.sum(jnp.real(parts * jnp.conj(parts)), axes, keepdims=True)
    roots = jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1.0)), 0.0)
    return jnp.minimum(size * roots, limits(roots.dtype).max)


def orthogonal(X: Action, what: str) -> None:
    """**Raises:** `CdlError` where a generator does not keep lengths."""
    expect_action(X, what)
    for generator in X.generators:
        if not generator.orthogonal:
            law = "A + Aᵀ = 0" if generator.lie else "Aᵀ A = 1"
            raise CdlError(
                f"`{what}` needs an action that keeps lengths, and the generator `{generator.name}` of {X} is not "
                f"orthogonal: `{law}` does not hold of its matrix."
            )
