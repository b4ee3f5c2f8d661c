"""Vector fields that move images: the generators of translation, rotation and scaling, for `lie_error`.

| the group                             | its field at an image `x`         | here           |
| ------------------------------------- | --------------------------------- | -------------- |
| translation along an axis, periodic   | `−∂x`, by the Fourier transform   | `translation`  |
| rotation, anticlockwise as `rot90`    | `s ∂_r x − r ∂_s x`               | `rotation`     |
| scaling: the image grows              | `−(r ∂_r x + s ∂_s x)`            | `scaling`      |
| nothing moves, as for invariants      | `0`                               | `still`        |

Rows `r` and columns `s` count from the centre.
Each takes an array whose last two axes are those of an image; axes in front, such as channels, are kept. The derivative
of a translation is exact for images below the Nyquist frequency, and that frequency counts as zero: its derivative is
not a real image. Rotation and scaling take the derivative of Catmull and Rom's cubic through the pixels, which is half
the difference of the two neighbours; an image goes on beyond its edge with the values at the edge.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import CdlError
from ._given import acted


def translation(x: jax.Array, axis: int = -1) -> jax.Array:
    """The field of translation along one of the last two axes, towards higher indices: `float[…, h, w]` of that shape.

    **Arguments:** `x`: an image. `axis`: -1 or -2.

    **Returns:** an array of the shape of `x`.

    **Raises:** `CdlError` for any other axis, and for what is not an image of real numbers.

    Examples:
        >>> waves = jnp.broadcast_to(jnp.sin(2 * jnp.pi * jnp.arange(8.0) / 8), (8, 8))
        >>> across, down = (cdl.symmetry.fields.translation(waves, axis=axis) for axis in (-1, -2))
        >>> round(float(abs(across).max()), 3), round(float(abs(down).max()), 3)
        (0.785, 0.0)
    """
    x = _image(x)
    if axis not in (-2, -1):
        raise CdlError(f"an image is translated along axis -2 (rows) or -1 (columns), not {axis!r}.")
    n = x.shape[axis]
    frequencies = np.fft.rfftfreq(n, 1 / n)
    frequencies = np.where(2 * frequencies == n, 0.0, frequencies) * 2 * np.pi / n
    wide = x if x.dtype in (jnp.float32, jnp.float64) else x.astype(jnp.float32)  # half precision has no transform
    spectrum = jnp.fft.rfft(wide, axis=axis)
    lead = (1,) * (x.ndim + axis)
    factors = jnp.asarray(-1j * frequencies.reshape((*lead, -1, *(1,) * (-1 - axis))), spectrum.dtype)
    return jnp.fft.irfft(spectrum * factors, n, axis=axis).astype(x.dtype)


def rotation(x: jax.Array) -> jax.Array:
    """The field of rotation about the centre, anticlockwise where the first row is on top: `float[…, h, w]`.

    **Arguments:** `x`: an image.

    **Returns:** an array of the shape of `x`.

    Examples:
        >>> ramp = jnp.broadcast_to(
        ...     jnp.arange(8.0), (8, 8)
        ... )  # turning it moves the top and the bottom the other way
        >>> moves = cdl.symmetry.fields.rotation(ramp)
        >>> bool(jnp.allclose(moves, -moves[::-1], atol=1e-4))
        True
    """
    x = _image(x)
    r, s = _places(x)
    return s * _slope(x, -2) - r * _slope(x, -1)


def scaling(x: jax.Array) -> jax.Array:
    """The field of scaling about the centre, by which the image grows: `float[…, h, w]`.

    **Arguments:** `x`: an image.

    **Returns:** an array of the shape of `x`.

    Examples:
        >>> flat = jnp.ones((4, 4))  # an image of one colour does not change where it grows
        >>> bool(jnp.allclose(cdl.symmetry.fields.scaling(flat), 0.0, atol=1e-5))
        True
    """
    x = _image(x)
    r, s = _places(x)
    return -(r * _slope(x, -2) + s * _slope(x, -1))


def still(x: jax.Array) -> jax.Array:
    """The field of the trivial action: zero. It is the field of a target that is to be invariant.

    **Arguments:** `x`: any array.

    **Returns:** zeros of the shape of `x`.

    Examples:
        >>> cdl.symmetry.fields.still(jnp.ones((2, 2)))
        Array([[0., 0.],
               [0., 0.]], dtype=float32)
    """
    return jnp.zeros_like(_array(x))


def _array(x: Any) -> jax.Array:
    return acted(x, "an image")


def _image(x: jax.Array) -> jax.Array:
    x = _array(x)
    if x.ndim < 2 or not jnp.issubdtype(x.dtype, jnp.floating):
        raise CdlError(
            f"an image is expected, real numbers with two axes or more, not {x.dtype}{list(x.shape)}: give an array "
            "`float[…, height, width]`."
        )
    return x


def _places(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The rows `[…, h, 1]` and columns `[…, 1, w]`, from the centre."""
    h, w = x.shape[-2:]
    lead = (1,) * (x.ndim - 2)
    rows = (np.arange(h) - (h - 1) / 2).reshape((*lead, h, 1))
    columns = (np.arange(w) - (w - 1) / 2).reshape((*lead, 1, w))
    return jnp.asarray(rows, x.dtype), jnp.asarray(columns, x.dtype)


def _slope(x: jax.Array, axis: int) -> jax.Array:
    """Half the difference of the neighbours along an axis; at an edge the pixel itself is the missing neighbour."""
    n = x.shape[axis]
    after, before = np.minimum(np.arange(n) + 1, n - 1), np.maximum(np.arange(n) - 1, 0)
    return (jnp.take(x, after, axis) - jnp.take(x, before, axis)) / 2
