"""2-cells of `Para`: maps between parameters, and the ones that make it a bicategory.

| the mathematics                                        | here                                             |
| ------------------------------------------------------ | ------------------------------------------------ |
| a 2-cell `f ⇒ g`, a map `r : Q → P` with `g = f ∘ r`   | a function from `g`'s parameters to `f`'s        |
| vertical composition                                   | composition of functions, `r ∘ s`                |
| horizontal composition `r * s`                         | `horizontal(r, s)`                               |
| whiskering                                             | `horizontal(r, same)`, `horizontal(same, s)`     |
| the associator `(f >> g) >> h ⇒ f >> (g >> h)`         | `associator`: `(p, (q, r)) ↦ ((p, q), r)`        |
| the unitors                                            | `left_unitor`, `right_unitor`                    |
| `(f @ g) >> (h @ k) ⇒ (f >> h) @ (g >> k)`             | `middle_four`                                    |
| the diagonal `Δ : P → Pⁿ`                              | `delta(n)`: weight tying                         |

A 2-cell points against its map: from the parameters of what is given to those of what there was. Composition in `Para`
associates up to the associator, and not exactly: the two sides have their parameters in other brackets.

Examples:
    >>> double = cdl.Para(2.0, lambda p, x: p * x)
    >>> tied = (double >> double).reparametrise(cdl.para.two_cells.delta(2), at=3.0)
    >>> tied.params, tied(1.0)
    (3.0, 9.0)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, overload, TypeVar

from .._functors.expected import expect_fields
from .._functors.ordered import two
from .._functors.usage import whole, with_types, with_usage
from .._functors.words import number_of
from ..errors import CdlError


P = TypeVar("P")
Q = TypeVar("Q")
R = TypeVar("R")
S = TypeVar("S")
A = TypeVar("A")
B = TypeVar("B")


@with_usage
def same(params: P, /) -> P:
    """The identity 2-cell.

    Examples:
        >>> cdl.para.two_cells.same((1.0, 2.0))
        (1.0, 2.0)
    """
    return params


@with_types
def horizontal(r: Callable[[A], P], s: Callable[[B], Q], /) -> Callable[[tuple[A, B]], tuple[P, Q]]:
    """`r` on the parameters of the first, and `s` on those of the second: of `f >> g`, and of `f @ g`.

    **Arguments:** `r`, `s`: reparametrisations, of the first map and of the second.

    Examples:
        >>> cdl.para.two_cells.horizontal(abs, lambda q: 10 * q)((-1, -2))
        (1, -20)
    """

    def both(pair: tuple[A, B]) -> tuple[P, Q]:
        a, b = two("horizontal(r, s)", pair)
        return r(a), s(b)

    return both


@with_usage
def associator(params: tuple[P, tuple[Q, R]], /) -> tuple[tuple[P, Q], R]:
    """From the parameters of `f >> (g >> h)` to those of `(f >> g) >> h`.

    Examples:
        >>> cdl.para.two_cells.associator(("f", ("g", "h")))
        (('f', 'g'), 'h')
    """
    p, (q, r) = params
    return (p, q), r


@with_usage
def associator_back(params: tuple[tuple[P, Q], R], /) -> tuple[P, tuple[Q, R]]:
    """The inverse of `associator`.

    Examples:
        >>> cdl.para.two_cells.associator_back((("f", "g"), "h"))
        ('f', ('g', 'h'))
    """
    (p, q), r = params
    return p, (q, r)


@with_usage
def left_unitor(params: P, /) -> tuple[tuple[()], P]:
    """From the parameters of `f` to those of `identity() >> f`.

    Examples:
        >>> cdl.para.two_cells.left_unitor("f")
        ((), 'f')
    """
    return (), params


@with_usage
def right_unitor(params: P, /) -> tuple[P, tuple[()]]:
    """From the parameters of `f` to those of `f >> identity()`.

    Examples:
        >>> cdl.para.two_cells.right_unitor("f")
        ('f', ())
    """
    return params, ()


@with_usage
def middle_four(params: tuple[tuple[P, R], tuple[Q, S]], /) -> tuple[tuple[P, Q], tuple[R, S]]:
    """From the parameters of `(f >> h) @ (g >> k)` to those of `(f @ g) >> (h @ k)`; its own inverse.

    Examples:
        >>> cdl.para.two_cells.middle_four((("f", "h"), ("g", "k")))
        (('f', 'g'), ('h', 'k'))
    """
    (p, r), (q, s) = params
    return (p, q), (r, s)


@overload
def delta(n: Literal[2], /) -> Callable[[P], tuple[P, P]]: ...
@overload
def delta(n: int, /) -> Callable[[P], tuple[P, ...]]: ...
@with_types
def delta(n: int, /) -> Callable[[P], tuple[P, ...]]:
    """`Δ : P → Pⁿ`, the same parameters `n` times. Along it gradients are summed.

    Examples:
        >>> cdl.para.two_cells.delta(3)(2.0)
        (2.0, 2.0, 2.0)
        >>> jax.grad(lambda p: sum(cdl.para.two_cells.delta(3)(p)))(2.0).item()
        3.0
    """
    whole("n", n, least=0)

    def Δ(params: P) -> tuple[P, ...]:
        return (params,) * n

    return Δ


@with_types
def gather(index: Sequence[int], /) -> Callable[[tuple[P, ...]], tuple[P, ...]]:
    """`Pᵏ → Pⁿ`, which gives place `i` the parameters of number `index[i]`: partial tying; `delta` where all are 0.

    **Raises:** `CdlError` for a number below 0, and when called, for one that the parameters do not have.

    Examples:
        >>> cdl.para.two_cells.gather([0, 1, 0])(("p", "q"))
        ('p', 'q', 'p')
    """
    return Gather(tuple(index))


@dataclass(frozen=True)
class Gather:
    """A map between powers of one space that only copies.

    Examples:
        >>> cell: cdl.para.two_cells.Gather = cdl.para.two_cells.gather([0, 1, 0])
        >>> cell.index
        (0, 1, 0)
    """

    index: tuple[int, ...]

    def __post_init__(self) -> None:
        expect_fields(self)
        if self.index and min(self.index) < 0:
            raise CdlError(f"`index` has {min(self.index)}: parameters are numbered from 0.")

    __name__ = "Δ"

    def __call__(self, params: tuple[P, ...], /) -> tuple[P, ...]:
        if self.index and max(self.index) >= len(params):
            raise CdlError(
                f"`index` has {max(self.index)}, and there are {number_of('space', len(params))} of parameters, "
                "numbered from 0: give a number below."
            )
        return tuple(params[i] for i in self.index)
