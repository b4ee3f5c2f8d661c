"""The folding recurrent network: an algebra of lists.

| the mathematics                                              | here                                            |
| ------------------------------------------------------------ | ----------------------------------------------- |
| the functor `1 + X × A`, read from the start; `1 + A × X`, from the end | `FromStart`, `FromEnd`               |
| `P × (1 + A × S) → S ≅ (P → S) × (P × A × S → S)`            | `init`, `cell`                                  |
| the map out of the initial algebra, `List A → S`             | `fold`; `cata` for one list                     |
| the values of all prefixes, all suffixes                     | `annotate`                                      |
| two algebras side by side (banana split), one in each direction | `Bidirectional`                              |

A cell is `A × S → S`: `Elman`, or `eqx.nn.GRUCell` and `eqx.nn.LSTMCell` as they are. Which end is read first is the
functor's choice. `horner` has data to learn from: words of bits, and the binary fractions that they write, which are
a fold themselves.

(Gavranović et al., *Categorical Deep Learning*, 2024, examples 2.9, 2.12 and I.1.)

Examples:
    >>> from cdl_arch.folding import elman
    >>> net = elman(2, 4, key=jax.random.key(0))
    >>> lists = cdl.Seq.of([jnp.ones((3, 2)), jnp.ones((1, 2))])
    >>> cdl.fold(net, lists).shape, cdl.annotate(net, lists).values.shape
    ((2, 4), (2, 3, 4))
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int, PRNGKeyArray

from cdl import Algebra, annotate, ListF, Nil, Seq
from cdl.functors import Lin, Snoc, SnocF


A = TypeVar("A")
S = TypeVar("S")
Vector = Float[Array, " width"]


class Elman(eqx.Module):
    """The cell `tanh(W [a, s] + b)` (Elman, 1990)."""

    linear: eqx.nn.Linear

    def __init__(self, size: int, width: int, *, dtype: Any = None, key: PRNGKeyArray) -> None:
        self.linear = eqx.nn.Linear(size + width, width, dtype=dtype, key=key)

    def __call__(self, element: Float[Array, " size"], state: Vector) -> Vector:
        return jnp.tanh(self.linear(jnp.concatenate([element, state])))


class FromStart(Algebra[SnocF[A, S], S]):
    """A cell that reads a list from its first element on."""

    init: S
    cell: Callable[[A, S], S]

    def __call__(self, layer: SnocF[A, S], /) -> S:
        match layer:
            case Lin():
                return self.init
            case Snoc(before, element):
                return self.cell(element, before)


class FromEnd(Algebra[ListF[A, S], S]):
    """A cell that reads a list from its last element back."""

    init: S
    cell: Callable[[A, S], S]

    def __call__(self, layer: ListF[A, S], /) -> S:
        match layer:
            case Nil():
                return self.init
            case _:
                return self.cell(layer.head, layer.tail)


class Bidirectional(eqx.Module):
    """Both readings of a list: at each element, what was read up to it from the start, and from the end."""

    forth: FromStart[Any, Vector]
    back: FromEnd[Any, Vector]

    def __call__(self, words: Seq[Any]) -> Seq[Float[Array, "batch time both"]]:
        return Seq(
            jnp.concatenate([annotate(self.forth, words).values, annotate(self.back, words).values], -1), words.lengths
        )


def elman(size: int, width: int, *, dtype: Any = None, key: PRNGKeyArray) -> FromStart[Vector, Vector]:
    """An Elman network that reads vectors of a size, from the start.

    **Arguments:** `size`: of an element, a vector. `width`: of the state. `dtype`: of the weights. `key`: for them.
    """
    return FromStart(jnp.zeros(width, dtype), Elman(size, width, dtype=dtype, key=key))


def gru(size: int, width: int, *, dtype: Any = None, key: PRNGKeyArray) -> FromStart[Vector, Vector]:
    """A GRU that reads vectors of a size, from the start.

    **Arguments:** `size`: of an element, a vector. `width`: of the state. `dtype`: of the weights. `key`: for them.
    """
    return FromStart(jnp.zeros(width, dtype), eqx.nn.GRUCell(size, width, dtype=dtype, key=key))


def lstm(size: int, width: int, *, dtype: Any = None, key: PRNGKeyArray) -> FromStart[Vector, tuple[Vector, Vector]]:
    """An LSTM that reads vectors of a size, from the start. Its carrier is the pair of what it shows and keeps.

    **Arguments:** `size`: of an element, a vector. `width`: of the state. `dtype`: of the weights. `key`: for them.
    """
    zeros = jnp.zeros(width, dtype)
    return FromStart((zeros, zeros), eqx.nn.LSTMCell(size, width, dtype=dtype, key=key))


def bidirectional(size: int, width: int, *, dtype: Any = None, key: PRNGKeyArray) -> Bidirectional:
    """Two GRUs, one in each direction.

    **Arguments:** `size`: of an element, a vector. `width`: of each of the two states. `dtype`: of the weights. `key`:
    for them.
    """
    forth, back = (gru(size, width, dtype=dtype, key=k) for k in jr.split(key))
    return Bidirectional(forth, FromEnd(back.init, back.cell))


def horner(
    count: int, time: int, *, key: PRNGKeyArray
) -> tuple[Seq[Float[Array, "batch time 1"]], Float[Array, " batch"]]:
    """Words of up to `time` bits, and the fraction `0.b₁b₂…` that each writes."""
    k, n = jr.split(key)
    bits = jr.bernoulli(k, 0.5, (count, time)).astype(jnp.float32)
    lengths: Int[Array, " batch"] = jr.randint(n, (count,), 0, time + 1)
    inside = jnp.arange(time)[None] < lengths[:, None]
    return Seq(bits[..., None], lengths), jnp.where(inside, bits, 0) @ 0.5 ** jnp.arange(1, time + 1, dtype=bits.dtype)
