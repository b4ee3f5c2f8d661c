"""A space of residual networks: each block chooses its activation, skip, norm and gain; the depth can be chosen too.

| the mathematics                                  | here                                                        |
| ------------------------------------------------ | ----------------------------------------------------------- |
| `x ↦ a x + b g φ(W ν(x) + c)`                    | one block: `φ`, `(a, b)`, `ν`, `g` are chosen; `W`, `c` learnt |
| `W` with entries `N(0, 1/n)`                     | a matrix, or a 3 × 3 convolution: `n` is what one unit reads |
| `x ↦ Wₕ fₗ(… f₁(Wₑ x))`                          | `Blocks.apply`: one `scan` over the blocks                  |

Where the depth is chosen it is at least `minimum`. A search that may leave out every block finds a linear classifier,
which does well on small pictures.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from cdl.checks import whole
from cdl.errors import CdlError

from ._choice import made, mix, read
from ._space import Space


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "gelu": jax.nn.gelu,
    "none": lambda x: x,
}
NORMS = ("none", "layer")
GAINS = (0.5, 1.0, 2.0, 4.0)
FIELDS = 4
BLOCKS = ("dense", "conv")


class Weights(NamedTuple):
    """The parameters of every candidate; those of the blocks have the depth as their first axis."""

    embed: Array
    matrices: Array
    biases: Array
    head: Array
    bias: Array


@dataclass(frozen=True)
class Blocks(Space):
    """Residual networks on pictures.

    **Arguments:** `shape`: of a picture, `(height, width, channels)`. `classes`: how many logits a network gives.
    `width`: units, or channels, of a block. `depth`: how many blocks there are at most. `minimum`: the least number of
    blocks, where the depth is chosen; `None` where it is not. `block`: "dense" or "conv".

    **Raises:** `CdlError` for sizes below 1, fewer than 2 classes, a `minimum` that is not between 1 and the depth, and
    for another `block`.

    Examples:
        >>> from cdl_arch.search import Blocks
        >>> space = Blocks((8, 8, 1), classes=10, width=16, depth=3)
        >>> space.sizes, space.count
        ((4, 5, 2, 4, 4, 5, 2, 4, 4, 5, 2, 4), 4096000)
    """

    shape: tuple[int, int, int]
    classes: int
    width: int = 32
    depth: int = 12
    minimum: int | None = None
    block: Literal["dense", "conv"] = "dense"

    def __post_init__(self) -> None:
        whole("classes", self.classes, least=2)
        for name, size in (("width", self.width), ("depth", self.depth), *(("shape", n) for n in self.shape)):
            whole(name, size)
        if self.block not in BLOCKS or len(self.shape) != 3:
            raise CdlError(
                f"a space has blocks that are {' or '.join(BLOCKS)}, of pictures (height, width, channels): not "
                f"{self.block!r}, of {self.shape}."
            )
        least = self.depth if self.minimum is None else self.minimum
        if not 1 <= least <= self.depth:
            raise CdlError(f"networks of {least} to {self.depth} blocks were asked for: 1 ≤ minimum ≤ depth.")

    @property
    def skips(self) -> dict[str, tuple[float, float]]:
        """The pairs `(a, b)`. Those with `a² + b² = 1` keep the second moment."""
        part = 1 / self.depth
        return {
            "no skip": (0.0, 1.0),
            "x + f": (1.0, 1.0),
            "√½ (x + f)": (math.sqrt(0.5), math.sqrt(0.5)),
            "√(1 - 1/L) x + √(1/L) f": (math.sqrt(1 - part), math.sqrt(part)),
            "x + f/10": (1.0, 0.1),
        }

    @property
    def places(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Four for each block; the depth last, where it is chosen."""
        fields = (
            ("activation", tuple(ACTIVATIONS)),
            ("skip", tuple(self.skips)),
            ("norm", NORMS),
            ("gain", tuple(f"{gain:g}" for gain in GAINS)),
        )
        found = tuple((f"{i}.{name}", choices) for i in range(self.depth) for name, choices in fields)
        if self.minimum is None:
            return found
        return (*found, ("depth", tuple(map(str, range(self.minimum, self.depth + 1)))))

    def init(self, key: PRNGKeyArray) -> Weights:
        """Weights of variance 1 over what a unit reads; biases 0."""
        height, wide, channels = self.shape
        window = (3, 3) if self.block == "conv" else ()
        first = channels if self.block == "conv" else height * wide * channels
        keys = jr.split(key, 3)

        def normal(key: PRNGKeyArray, *shape: int) -> Array:
            return jr.normal(key, shape) / math.sqrt(math.prod(shape[-1 - 1 - len(window) : -1]))

        return Weights(
            normal(keys[0], *window, first, self.width),
            normal(keys[1], self.depth, *window, self.width, self.width),
            jnp.zeros((self.depth, self.width)),
            jr.normal(keys[2], (self.width, self.classes)) / math.sqrt(self.width),
            jnp.zeros(self.classes),
        )

    def apply(
        self, params: Weights, code: Array, inputs: Float[Array, "n height width channels"]
    ) -> Float[Array, "n classes"]:
        """The logits of pictures.

        **Arguments:** `params`: the weights of all blocks. `code`: which are used. `inputs`: a row for each example.

        **Raises:** `CdlError` for a code or for pictures that are not of this space.
        """
        code = self.expected(code)
        if inputs.shape[1:] != self.shape:
            raise CdlError(f"the pictures are of {inputs.shape[1:]}, and those of the space of {self.shape}.")
        x = inputs.astype(params.embed.dtype)  # pictures are float32, and weights of whatever type JAX computes in
        x = x if self.block == "conv" else x.reshape(len(x), -1)
        x = self._run(params, code, self._linear(x, params.embed))
        x = x.mean((1, 2)) if self.block == "conv" else x
        return x @ params.head + params.bias[None]

    def trunk(self, params: Weights, code: Array) -> Callable[[Float[Array, " state"]], Float[Array, " state"]]:
        """The blocks alone. The state of a convolution is `height × width × channels` numbers.

        **Arguments:** `params`: the weights of all blocks. `code`: which are used.
        """
        form = (1, *self.shape[:2], self.width) if self.block == "conv" else (1, self.width)
        return lambda x: self._run(params, code, x.reshape(form)).reshape(x.shape)

    @property
    def state(self) -> int:
        """How many numbers a hidden state has."""
        return self.width * (math.prod(self.shape[:2]) if self.block == "conv" else 1)

    def _run(self, params: Weights, code: Array, x: Array) -> Array:
        fields = code[: FIELDS * self.depth].reshape(self.depth, FIELDS, *code.shape[1:])
        pairs, gains = jnp.asarray(list(self.skips.values()), x.dtype), jnp.asarray(GAINS, x.dtype)

        def block(x: Array, of: Any) -> tuple[Array, None]:
            (act, skip, norm, gain), matrix, bias, share = of
            y = mix(norm, (lambda x: x, layer_norm), x)
            y = mix(act, list(ACTIVATIONS.values()), self._linear(y, matrix) + bias)
            y = read(skip, pairs[:, 0]) * x + read(skip, pairs[:, 1]) * read(gain, gains) * y
            return (jnp.where(share > 0, y, x) if made(code) else share * y + (1 - share) * x), None

        biases = params.biases.reshape(self.depth, *(1,) * (x.ndim - 1), self.width)
        return jax.lax.scan(block, x, (fields, params.matrices, biases, self._shares(code, x.dtype)))[0]

    def _shares(self, code: Array, dtype: Any) -> Float[Array, " depth"]:
        """How far each block is there: 0 or 1, or of a mixture between."""
        if self.minimum is None:
            return jnp.ones(self.depth, dtype)
        depths = jnp.arange(self.minimum, self.depth + 1)
        there = (jnp.arange(self.depth)[:, None] < depths[None]).astype(dtype)
        return there[:, code[-1]] if made(code) else there @ code[-1, : len(depths)]

    def _linear(self, x: Array, matrix: Array) -> Array:
        if self.block == "dense":
            return x @ matrix
        return jax.lax.conv_general_dilated(x, matrix, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def layer_norm(x: Array) -> Array:
    """Mean 0 and variance 1 along the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5)
