"""Convolution: the linear maps that commute with the shifts of a grid, lowered to `lax.conv_general_dilated`.

| the mathematics                                          | here                                              |
| -------------------------------------------------------- | ------------------------------------------------- |
| maps that commute with `C_a × C_b × …`: circulant        | `Convolution(shape, …)`                           |
| maps that commute with the shift that loses the end      | `Convolution(shape, …, causal=True)`: Toeplitz    |
| `y_a = Σ_v k_v x_{a + v}`, for `v` in a window           | `layer.kernel`, in the layout of `lax.conv`       |
| a local filter: a mask on the orbits of `hom`            | `layer.orbits`, the orbit of each entry of it     |
| the same map as a matrix                                 | `layer.equivariant`                               |

Only `orbits`, `equivariant` and `dense` solve for the maps, which takes an array of all weights; the layer itself does
not, so a grid may be of any size. No bias commutes with a truncated shift, so a causal convolution has none.

(Gavranović et al., *Categorical Deep Learning*, 2024, example 2.6.)
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from cdl.checks import with_usage
from cdl.para import Para
from cdl.symmetry import Action, Equivariant, EquivariantMap
from cdl.symmetry.groups import translations, truncated_translations

from ._one_type import in_one_type
from ._windows import checked, dense, drawn, read_at, windowed


class Convolution(EquivariantMap):
    """A convolution of channels on a grid of any number of axes, periodic or causal.

    Examples:
        >>> from cdl_arch.symmetry import Convolution
        >>> layer = Convolution((8, 8), 1, 4, (3, 3), key=jax.random.key(0))
        >>> layer(jnp.ones((1, 8, 8))).shape, layer.kernel.shape
        ((4, 8, 8), (4, 1, 3, 3))
    """

    kernel: Float[Array, "outs ins *window"]
    beta: Float[Array, "outs 1"] | None
    source: Action = eqx.field(static=True)
    target: Action = eqx.field(static=True)
    in_channels: int | None = eqx.field(static=True)
    out_channels: int | None = eqx.field(static=True)
    causal: bool = eqx.field(static=True)

    @with_usage
    def __init__(
        self,
        shape: Sequence[int],
        in_channels: int,
        out_channels: int,
        window: Sequence[int],
        *,
        causal: bool = False,
        bias: bool = True,
        dtype: Any = None,
        key: PRNGKeyArray,
    ) -> None:
        """**Arguments:**

        - `shape`: of the grid, such as `(28, 28)`.
        - `window`: the widths of the kernel, one for each axis. It is centred; of a causal one the last entry is at
          the output's own place.
        - `causal`: whether an output reads no place after its own, on any axis.
        - `bias`: whether a bias is added. A causal convolution has none.

        **Raises:** `CdlError` where the window is larger than the grid, or has another number of axes.
        """
        self.source = self.target = truncated_translations(*shape) if causal else translations(*shape)
        window = checked(window, shape)
        self.causal = causal
        self.kernel = drawn((out_channels, in_channels, *window), dtype, key)
        self.out_channels, self.in_channels = self.kernel.shape[:2]
        self.beta = jnp.zeros((self.out_channels, 1), self.kernel.dtype) if bias and not causal else None

    @property
    def window(self) -> tuple[int, ...]:
        """The widths of the kernel."""
        return self.kernel.shape[2:]

    @property
    def orbits(self) -> Int[np.ndarray, "*window"]:
        """The number of the orbit in `hom(X, X)` of each entry of the kernel."""
        place = self.source.size - 1 if self.causal else 0
        start = np.unravel_index(place, self.source.shape)
        first = [int(s) - before for s, (before, _) in zip(start, self._reach(), strict=True)]
        return windowed(read_at(self.source, self.target, place), self.window, first)

    @property
    def equivariant(self) -> Equivariant:
        """The same map by a matrix of all weights, tied as `hom` ties them."""
        return dense(self.source, self.target, self.kernel, self.orbits, self.beta)

    def _reach(self) -> list[tuple[int, int]]:
        """How many places before and after its own an output reads, on each axis."""
        return [(w - 1, 0) if self.causal else ((w - 1) // 2, w // 2) for w in self.window]

    def dense(self) -> Para[Any, Any, Any]:
        return self.equivariant.dense()

    @property
    def execution(self) -> str:
        return f"one convolution, by a kernel of {' × '.join(map(str, self.window))}"

    def _apply(self, x: jax.Array) -> jax.Array:
        x, kernel = in_one_type(x, self.kernel)
        reach = self._reach()
        padded, zeros = (x, reach) if self.causal else (jnp.pad(x, [(0, 0), *reach], "wrap"), [(0, 0)] * len(reach))
        y = jax.lax.conv_general_dilated(padded[None], kernel, (1,) * len(reach), zeros)[0]
        return y if self.beta is None else y + self.beta.astype(y.dtype).reshape((-1, *(1 for _ in reach)))
