"""Laws of actions, of the maps between them, and of a symmetry that goes into a functor.

| the law                                   | the two sides                                           |
| ----------------------------------------- | ------------------------------------------------------- |
| the unit                                  | `1 · x = x`                                             |
| the product                               | `(m n) · x = m · (n · x)`, also for the matrix of `m n` |
| `h` is a map of algebras of `M × −`       | `h(m · x) = m · h(x)`; of a Lie algebra, derivatives    |
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from .._functors.usage import with_usage
from ..symmetry import Action, sides, Word, word_of
from ._hold import hold
from ._monad import eilenberg_moore


@with_usage
def action(X: Action, x: Any, first: str | Word, second: str | Word, *, tolerance: float = 0.0) -> None:
    """That words act as their products do, at an element of the carrier and two words.

    **Arguments:** `X`: the action. `x`: an element that it moves. `first`, `second`: generators, or words of them.

    **Raises:** `LawBroken`.

    Examples:
        >>> shift = cdl.symmetry.groups.cyclic(4)
        >>> cdl.laws.action(shift, jnp.arange(4.0), ("shift",), ("shift", "shift"))
    """
    first, second = word_of(first), word_of(second)
    eilenberg_moore(X.algebra, x, (first, (second, x)), tolerance=tolerance)
    flat = jnp.reshape(jnp.asarray(x), (X.size,))
    matrix = jnp.asarray((X.element(first) @ X.element(second)).toarray(), flat.dtype)
    acted = X((*first, *second), x)
    hold("`ρ(m) ρ(n) x = (m n) · x`", jnp.reshape(matrix @ flat, X.shape), acted, tolerance)


@with_usage
def equivariant(
    h: Callable[[Any], Any], X: Action, Y: Action, x: Any, word: str | Word, *, tolerance: float = 0.0
) -> None:
    """That `h(m · x) = m · h(x)`, at an element of the carrier and a word; for a generator of a Lie algebra, that
    `D h(x) A x = A h(x)`, and that `h(exp(t A) x) = exp(t A) h(x)` at two times.

    **Raises:** `LawBroken`; `CdlError` for a longer word with a generator of a Lie algebra in it.

    Examples:
        >>> shift, x = cdl.symmetry.groups.cyclic(3), jnp.array([3.0, 1.0, 2.0])
        >>> cdl.laws.equivariant(jnp.square, shift, shift, x, ("shift",))
        >>> cdl.laws.equivariant(jnp.cumsum, shift, shift, x, ("shift",))
        Traceback (most recent call last):
            ...
        cdl.errors.LawBroken: `h(m · x) = m · h(x)`: the left side gives `Array([2., 5., 6.],
        dtype=float32)` where the right gives `Array([6., 3., 4.], dtype=float32)`.
    """
    named = dict(h="h", m="A" if any(X[name].lie for name in word_of(word)) else "m", x="x")
    for law, left, right, _ in sides(h, X, Y, x, word):
        hold(f"`{law.format(**named)}`", left, right, tolerance)
