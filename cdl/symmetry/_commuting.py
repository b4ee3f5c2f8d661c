"""The two sides of "`h` commutes with the action", for one word of generators.

| the generators                  | the two sides                                                        |
| ------------------------------- | -------------------------------------------------------------------- |
| of the monoid                   | `h(m · x)` and `m · h(x)`                                            |
| one of a Lie algebra, `A`       | `D h(x) A x` and `A h(x)`                                            |
|                                 | `h(exp(t A) x)` and `exp(t A) h(x)`, for two `t` of the order of `1 / ‖A‖` |

Derivatives alone do not decide: that of a step function is zero almost everywhere, and such a function jumps elsewhere.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._functors.usage import with_usage
from ..errors import CdlError
from ._action import Action
from ._apart import precision, relative, traced
from ._generator import Generator
from ._squares import same_form, varied
from ._word import Word, word_of


TIMES = 1.0, 3.0  # over the greatest norm: a vector that turns has gone round almost half the circle
TERMS = 20  # of a series with numbers of 1 or less, whose rest is below the rounding of float64


class Sides(NamedTuple):
    """Two values that are equal where `h` commutes. `law` says which, with `{h}`, `{m}` and `{x}` for the names of
    the map, of the word and of the element.

    `beside` are numbers whose rounding is in both: `h(x)`, and how much it changes with `x`.

    Examples:
        >>> C3 = cdl.symmetry.groups.cyclic(3)
        >>> [both] = cdl.symmetry.sides(jnp.sort, C3, C3, jnp.array([1, 2, 3]), "shift")
        >>> both.left, both.right
        (Array([1, 2, 3], dtype=int32), Array([3, 1, 2], dtype=int32))
    """

    law: str
    left: Any
    right: Any
    beside: Any = ()

    @property
    def apart(self) -> float:
        """The greatest difference in an array, over the greatest number of the two sides in it: 1e-7 or so where `h`
        commutes and the arrays are of single precision. Infinity where the sides differ in form."""
        return relative(self.left, self.right, self.beside)


@with_usage
def sides(h: Callable[[Any], Any], X: Action, Y: Action, x: Any, word: str | Word) -> list[Sides]:
    """What is to be equal at one element of the carrier of `X`, and one word.

    **Arguments:** `h`: the map. `X`, `Y`: the actions on its inputs and outputs. `x`: an input. `word`: generators, one
    after the other.

    **Raises:** `CdlError` for a longer word with a generator of a Lie algebra in it.

    Examples:
        >>> C3 = cdl.symmetry.groups.cyclic(3)
        >>> [both] = cdl.symmetry.sides(jnp.cumsum, C3, C3, jnp.array([1, 2, 3]), "shift")
        >>> both.left, both.right
        (Array([3, 4, 6], dtype=int32), Array([6, 1, 3], dtype=int32))
    """
    word = word_of(word)
    lie = [name for name in word if X[name].lie]
    if lie and len(word) > 1:
        raise CdlError(f"`{lie[0]}` is of a Lie algebra: its law is one of derivatives, and is checked for it alone.")
    if not lie:
        y = h(x)
        return [Sides("{h}({m} · {x}) = {m} · {h}({x})", h(X(word, x)), Y(word, y), _beside(h, x, y))]
    name = lie[0]
    x = varied(x)
    y, left = derivative(h, lambda v: X(name, v), x)
    beside = _beside(h, x, y)
    bound = max(X[name].bound, Y[name].bound)
    scaled = jax.tree.map(lambda v: bound * v, beside)
    found = [Sides("D {h}({x}) {m} {x} = {m} {h}({x})", left, Y(name, y), scaled)]
    for t in times(X[name], Y[name]):
        law = f"{{h}}(exp({t:.2g} {{m}}) {{x}}) = exp({t:.2g} {{m}}) {{h}}({{x}})"
        found.append(Sides(law, h(flowed(X, name, t, x)), flowed(Y, name, t, y), beside))
    return found


def _beside(h: Callable[[Any], Any], x: Any, y: Any) -> Any:
    """`h(x)`, and how fast it changes where each number of `x` changes by itself: what rounding is relative to."""
    if traced((x, y)) or not (eps := precision(x)):
        return y
    rng, step = np.random.default_rng(0), eps**0.5

    def near(v: Any) -> jax.Array:
        v = jnp.asarray(v)
        return v * jnp.asarray(1 + step * rng.uniform(-1, 1, v.shape), v.dtype)

    other = h(jax.tree.map(near, x))
    return y, jax.tree.map(lambda a, b: (a - b) / step, varied(other), varied(y))


def derivative(h: Callable[[Any], Any], field: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """`h(x)`, and its derivative along a vector field; zero for whole numbers and truth values."""
    x = varied(x)
    return jax.jvp(lambda v: varied(h(v)), (x,), (along(field, x),))


def along(field: Callable[[Any], Any], x: Any) -> Any:
    """The vector of a field at `x`. **Raises:** `CdlError` where it has another form than `x`."""
    found = field(x)
    same_form(x, found)
    return jax.tree.map(lambda d, v: jnp.asarray(d, v.dtype), found, x)


def times(*generators: Generator) -> list[float]:
    """How long to follow an element of a Lie algebra in several actions; not at all where nothing moves."""
    longest = max((x.bound for x in generators), default=0.0)
    return [t / longest for t in TIMES] if longest else []


def flowed(X: Action, name: str, t: float, x: Any) -> jax.Array:
    """`exp(t A) x`, for a generator `A` of a Lie algebra, by its series in double precision."""
    generator, given = X[name], jnp.asarray(x)
    flat = np.asarray(given).astype(np.complex128 if jnp.iscomplexobj(given) else np.float64)
    found = flat.reshape((-1, X.size)).T
    steps = max(1, int(np.ceil(abs(t) * generator.bound)))
    for _ in range(steps):
        term = found
        for k in range(1, TERMS):
            term = (t / steps / k) * (generator.sparse @ term)
            found = found + term
    return jnp.asarray(found.T.reshape(given.shape), given.dtype)
