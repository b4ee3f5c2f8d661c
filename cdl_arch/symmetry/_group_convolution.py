"""Group convolutions of p4 and p4m, lowered to convolutions with turned filters.

| the mathematics                                               | here                                    |
| ------------------------------------------------------------- | --------------------------------------- |
| `hom(ℤ², G)`: `y(t r) = Σ_v ψ(r⁻¹ v) x(t + v)`                | `lifting=True`, with `ψ` in `kernel`    |
| `hom(G, G)`: `y(t p) = Σ_q Σ_v φ_{p⁻¹ q}(p⁻¹ v) x_q(t + v)`   | `GroupConvolution`, with `φ`            |

A feature map is an array `[channels, 4, side, side]`, or with mirror images `[channels, 8, side, side]`.
`layer.equivariant` is the same map by a matrix, with the orbits of `hom`.

(Cohen and Welling, *Group Equivariant Convolutional Networks*, 2016.)
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from cdl.checks import with_usage
from cdl.errors import CdlError
from cdl.para import Para
from cdl.symmetry import Action, Equivariant, EquivariantMap

from ._one_type import in_one_type
from ._planes import images, planes, quotients, turned
from ._windows import checked, dense, drawn, read_at, windowed


class GroupConvolution(EquivariantMap):
    """From feature maps of the group to feature maps of it; or from images, which is called lifting.

    Examples:
        >>> from cdl_arch.symmetry import GroupConvolution
        >>> lift = GroupConvolution(8, 1, 4, 3, lifting=True, key=jax.random.key(0))
        >>> lift(jnp.ones((1, 8, 8))).shape
        (4, 4, 8, 8)
    """

    kernel: Float[Array, "outs ins *points width width"]
    beta: Float[Array, "outs 1"] | None
    source: Action = eqx.field(static=True)
    target: Action = eqx.field(static=True)
    in_channels: int | None = eqx.field(static=True)
    out_channels: int | None = eqx.field(static=True)
    lifting: bool = eqx.field(static=True)

    @with_usage
    def __init__(
        self,
        side: int,
        in_channels: int,
        out_channels: int,
        width: int,
        *,
        lifting: bool = False,
        mirrors: bool = False,
        bias: bool = True,
        dtype: Any = None,
        key: PRNGKeyArray,
    ) -> None:
        """**Arguments:**

        - `side`: of the torus, 3 or more.
        - `width`: of the filters, an odd number.
        - `lifting`: whether the layer reads images `[in, side, side]`, and not feature maps.
        - `mirrors`: whether the group has mirror images: p4m, and not p4.

        **Raises:** `CdlError` for an even width, or one above the side.
        """
        width, _ = checked((width, width), (side, side))
        if width % 2 == 0:
            raise CdlError(f"a filter of {width} × {width} has no middle place to turn about: give an odd width.")
        self.target = planes(side, mirrors)
        self.source, self.lifting = images(side, mirrors) if lifting else self.target, lifting
        shape = in_channels, *self.source.shape[:-2], width, width
        self.kernel = drawn((out_channels, *shape), dtype, key)
        self.out_channels, self.in_channels = self.kernel.shape[:2]
        self.beta = jnp.zeros((self.out_channels, 1), self.kernel.dtype) if bias else None

    @property
    def orbits(self) -> Int[np.ndarray, "*points width width"]:
        """The number of the orbit in `hom` of each entry of the kernel: its weight in the output at the unit."""
        width = self.kernel.shape[-1]
        return windowed(read_at(self.source, self.target, 0), (width, width), (-(width // 2),) * 2)

    @property
    def equivariant(self) -> Equivariant:
        """The same map by a matrix of all weights, tied as `hom` ties them."""
        return dense(self.source, self.target, self.kernel, self.orbits, self.beta)

    def dense(self) -> Para[Any, Any, Any]:
        return self.equivariant.dense()

    @property
    def execution(self) -> str:
        return f"one convolution of {self.target.shape[0]} planes for each channel that comes out"

    def _apply(self, x: jax.Array) -> jax.Array:
        side, width = self.source.shape[-1], self.kernel.shape[-1]
        reach = (width // 2, width // 2)
        x, kernel = in_one_type(x, self.kernel)
        padded = jnp.pad(x.reshape((-1, side, side)), [(0, 0), reach, reach], "wrap")
        filters = self._filters(kernel).reshape((-1, padded.shape[0], width, width))
        y = jax.lax.conv_general_dilated(padded[None], filters, (1, 1), "VALID")[0]
        y = y.reshape((-1, *self.target.shape))
        return y if self.beta is None else y + self.beta.astype(y.dtype)[..., None, None]

    def _filters(self, kernel: jax.Array) -> jax.Array:
        """A filter for each plane that comes out, from all planes: `[out, points, in, points, width, width]`."""
        quotient = quotients(self.target.shape[0] > 4)
        taken = (kernel if self.lifting else kernel[:, :, q] for q in quotient)
        return jnp.stack([turned(own, p) for p, own in enumerate(taken)], 1)
