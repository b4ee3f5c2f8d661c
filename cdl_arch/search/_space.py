"""A space of architectures as a value: places, and what there is to choose at each.

| the mathematics                        | here                                                            |
| -------------------------------------- | --------------------------------------------------------------- |
| `∏ᵢ {0, …, nᵢ - 1}`                    | `Space.sizes`; a code is `int[places]`, many are `int[n, places]` |
| one network for all codes              | `Space.init(key)`, `Space.apply(params, code, inputs)`          |
| a distribution that is a product       | logits, `float[places, most]`; `-inf` where there is no choice  |

All codes have parameters of one shape, so that candidates train side by side in one `vmap`.
"""

import abc
import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, PRNGKeyArray

from cdl.errors import CdlError

from ._choice import made


class Space(abc.ABC):
    """Networks that differ in finitely many choices. A subclass is hashable: its fields are static.

    Examples:
        >>> from cdl_arch.search import Signatures, Space
        >>> space: Space = Signatures(4)
        >>> space.sizes, space.count
        ((4, 4, 4, 4, 2, 2, 2, 2), 4096)
    """

    @property
    @abc.abstractmethod
    def places(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """For each place of a code its name, and the names of its choices."""

    @abc.abstractmethod
    def init(self, key: PRNGKeyArray) -> Any:
        """New parameters, of one shape for all codes."""

    @abc.abstractmethod
    def apply(self, params: Any, code: Array, inputs: Any) -> Float[Array, "n classes"]:
        """The logits of a batch. `code` is `int[places]`, or `float[places, most]` where choices are mixed."""

    @abc.abstractmethod
    def trunk(
        self, params: Any, code: Int[Array, " places"]
    ) -> Callable[[Float[Array, " state"]], Float[Array, " state"]]:
        """The map of hidden states whose Jacobian `isometry` looks at: many layers, or a path through a tree.

        **Arguments:** `params`: the weights. `code`: the architecture.
        """

    @property
    @abc.abstractmethod
    def state(self) -> int:
        """How many numbers a hidden state of the trunk has."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many choices each place has."""
        return tuple(len(choices) for _, choices in self.places)

    @property
    def count(self) -> int:
        """How many codes there are."""
        return math.prod(self.sizes)

    def checked(self, codes: Any) -> Int[Array, "*n places"]:
        """The codes, where each is one of this space.

        Inside a compiled function the numbers are not known until it runs: there `eqx.error_if` checks them.

        **Raises:** `CdlError` for another number of places, for choices that are not whole numbers, and for one that is
        out of the range of its place.
        """
        found = jnp.asarray(codes)
        if not jnp.issubdtype(found.dtype, jnp.integer) or found.shape[-1:] != (len(self.sizes),):
            raise CdlError(
                f"codes are {found.dtype}[{', '.join(map(str, found.shape))}], and a code of this space is "
                f"{len(self.sizes)} whole numbers."
            )
        sizes = np.asarray(self.sizes)
        if isinstance(found, Tracer):
            beyond = (found < 0) | (found >= jnp.broadcast_to(jnp.asarray(sizes, found.dtype), found.shape))
            return eqx.error_if(found, beyond, f"a choice is out of range: the places have {self.sizes} choices.")
        wrong = np.argwhere((np.asarray(found) < 0) | (np.asarray(found) >= sizes))
        for at in map(tuple, wrong[:1]):
            raise CdlError(
                f"the choice at `{self.places[at[-1]][0]}`, place {at[-1]}, is {found[at]}, and it is from 0 to "
                f"{sizes[at[-1]] - 1}."
            )
        return found

    def expected(self, code: Any) -> Array:
        """A code of this space, or a mixture of its choices. The choices of one that a compiled function is given are
        not looked at: `checked` does that, once, before a training.

        **Raises:** `CdlError` for another shape, and for a choice that is out of the range of its place.
        """
        found = jnp.asarray(code)
        form = (len(self.sizes),) if made(found) else (len(self.sizes), max(self.sizes))
        if found.shape != form:
            raise CdlError(
                f"the code is {found.dtype}{list(found.shape)}, and one of this space is whole numbers of shape "
                f"({len(self.sizes)},), or a mixture of shape ({len(self.sizes)}, {max(self.sizes)})."
            )
        return self.checked(found) if made(found) and not isinstance(found, Tracer) else found

    def described(self, code: Int[Array, " places"] | Int[np.ndarray, " places"]) -> dict[str, str]:
        """The choice at each place, in words."""
        return {name: choices[int(i)] for (name, choices), i in zip(self.places, self.checked(code), strict=True)}

    def level(self) -> Float[Array, "places most"]:
        """The logits of the distribution in which all codes are equally likely."""
        sizes = jnp.asarray(self.sizes)
        return jnp.where(jnp.arange(max(self.sizes))[None] < sizes[:, None], 0.0, -jnp.inf)

    def drawn(self, logits: Float[Array, "places most"], n: int, key: PRNGKeyArray) -> Int[Array, "n places"]:
        """Codes of a distribution.

        **Arguments:** `logits`: for each position of a code. `n`: how many codes. `key`: to draw them.
        """
        return jr.categorical(key, logits, shape=(n, len(self.sizes))).astype(jnp.int32)

    def mutated(self, code: Int[Array, " places"], key: PRNGKeyArray) -> Int[Array, " places"]:
        """The code with another choice at one place.

        **Arguments:** `code`: the parent. `key`: for the change.
        """
        where, step = jr.split(key)
        sizes = jnp.asarray(self.sizes, code.dtype)
        free = jnp.where(sizes > 1, 0.0, -jnp.inf)  # a place with one choice has no other
        at = jr.categorical(where, free)
        by = jr.randint(step, (), 1, jnp.maximum(sizes[at], 2), code.dtype)
        return code.at[at].set((code[at] + by) % sizes[at])


def simplex(logits: Float[Array, "places most"]) -> Float[Array, "places most"]:
    """The point of each place's simplex."""
    return jax.nn.softmax(logits, axis=-1)
