"""`Para`: parametric maps, as values that compose.

| the mathematics                             | here                                                            |
| ------------------------------------------- | --------------------------------------------------------------- |
| a 1-cell `(P, f : P × X → Y)`               | `Para(params, fn)`, with a point of `P`: its parameters         |
| `X → Y → Z`, with parameters `P × Q`        | `f >> g`: in reading order, its parameters `(p, q)`             |
| the tensor, with parameters `P × Q`         | `f @ g`: on pairs                                               |
| `⟨f, g⟩`                                    | `fanout(f, g)`                                                  |
| the identity, the symmetry                  | `identity()`, `swap()`: no parameters                           |

An `eqx.Module` is a parametric map already: its arrays are `P`. `Para.of(module)` and `para.module()` go from one to
the other, and nothing is computed that was not before.
"""

from collections.abc import Callable
from typing import Any, Generic, overload, TypeVar

import equinox as eqx
import jax

from .. import _terms as t
from .._functors import Base
from .._functors.expected import expect_fields
from .._functors.ordered import two
from .._functors.usage import with_types, with_usage
from .._schemes import Algebra


P = TypeVar("P")
Q = TypeVar("Q")
X = TypeVar("X")
Y = TypeVar("Y")
Z = TypeVar("Z")
V = TypeVar("V")
W = TypeVar("W")
T = TypeVar("T")
A = TypeVar("A")


class Para(eqx.Module, Generic[P, X, Y]):
    """A map `P × X → Y` with a point of `P`. Called, it is the map at that point.

    Examples:
        >>> double = cdl.Para(2.0, lambda p, x: p * x)
        >>> double(5.0), (double >> double)(5.0), (double @ double)((1.0, 5.0))
        (10.0, 20.0, (2.0, 10.0))
        >>> (double >> double).params
        (2.0, 2.0)
    """

    params: P
    fn: Callable[[P, X], Y]

    def __check_init__(self) -> None:
        expect_fields(self)

    @overload
    @staticmethod
    def of(module: Algebra[Base[T, A], A], /) -> "Para[Any, Base[T, A], A]": ...
    @overload
    @staticmethod
    def of(module: Callable[[V], W], /) -> "Para[Any, V, W]": ...
    @staticmethod
    @with_types
    def of(module: Callable[..., Any], /) -> "Para[Any, Any, Any]":
        """A module as a parametric map: its floating arrays are the parameters, in its own structure."""
        params, rest = eqx.partition(module, eqx.is_inexact_array)
        return Para(params, _Joined(rest))

    def module(self) -> Callable[[X], Y]:
        """The same as a module of its input alone: for one made by `of`, the module it was made from."""
        return eqx.combine(self.params, self.fn.rest) if isinstance(self.fn, _Joined) else self

    def __call__(self, x: X) -> Y:
        return self.fn(self.params, x)

    def __term__(self) -> t.Term:
        return t.term_of(self.fn, self.params)

    @with_types
    def __rshift__(self, other: "Para[Q, Y, Z]") -> "Para[tuple[P, Q], X, Z]":
        return Para((self.params, other.params), _Then(self.fn, other.fn))

    @with_types
    def __matmul__(self, other: "Para[Q, V, W]") -> "Para[tuple[P, Q], tuple[X, V], tuple[Y, W]]":
        return Para((self.params, other.params), _Beside(self.fn, other.fn))

    @with_types
    def reparametrise(self, cell: Callable[[Q], P], at: Q) -> "Para[Q, X, Y]":
        """Along a map `r : Q → P`, against its direction: `(q, x) ↦ f(r(q), x)`, at a point of `Q`.

        This is the 2-cell from this map to the one it gives; `f.reparametrise(r, …).reparametrise(s, …)` is
        `f.reparametrise(r ∘ s, …)`.
        """
        return Para(at, Along(self.fn, cell))

    @with_types
    def named(self, name: str) -> "Para[P, X, Y]":
        """The same map, with a name by which `cdl.draw` and `cdl.explain` call it."""
        return Para(self.params, _Named(self.fn, name))


@with_usage
def identity() -> Para[tuple[()], X, X]:
    """`X → X`, with no parameters.

    Examples:
        >>> (cdl.Para(2.0, lambda p, x: p * x) >> cdl.para.identity())(5.0)
        10.0
    """
    return Para((), _Moved(_same, "x"))


@with_usage
def swap() -> Para[tuple[()], tuple[X, Y], tuple[Y, X]]:
    """`X × Y → Y × X`, with no parameters.

    Examples:
        >>> cdl.para.swap()((1, 2))
        (2, 1)
    """
    return Para((), _Moved(_swapped, ("x", "y")))


@with_types
def fanout(f: Para[P, X, Y], g: Para[Q, X, Z], /) -> Para[tuple[P, Q], X, tuple[Y, Z]]:
    """Both of one input: `x ↦ (f(p, x), g(q, x))`.

    **Arguments:** `f`, `g`: parametric maps with the same inputs.

    Examples:
        >>> double, shift = cdl.Para(2.0, lambda p, x: p * x), cdl.Para(3.0, lambda p, x: p + x)
        >>> cdl.para.fanout(double, shift)(5.0)
        (10.0, 8.0)
    """
    return Para((f.params, g.params), _Fanned(f.fn, g.fn))


class _Joined(eqx.Module):
    """A module without its arrays, which come as parameters."""

    rest: Any

    def __call__(self, params: Any, x: Any) -> Any:
        return eqx.combine(params, self.rest)(x)

    @property
    def __called__(self) -> str:
        return t.name(self.rest)


class _Then(eqx.Module):
    first: Callable[[Any, Any], Any]
    second: Callable[[Any, Any], Any]

    def __call__(self, params: Any, x: Any) -> Any:
        return self.second(params[1], self.first(params[0], x))

    def __term_at__(self, params: Any) -> t.Term:
        return t.then(t.term_of(self.first, params[0]), t.term_of(self.second, params[1]))


class _Beside(eqx.Module):
    first: Callable[[Any, Any], Any]
    second: Callable[[Any, Any], Any]

    def __call__(self, params: Any, pair: Any) -> Any:
        x, v = two("f @ g", pair)
        return self.first(params[0], x), self.second(params[1], v)

    def __term_at__(self, params: Any) -> t.Term:
        return t.beside(t.term_of(self.first, params[0]), t.term_of(self.second, params[1]))


class _Fanned(eqx.Module):
    first: Callable[[Any, Any], Any]
    second: Callable[[Any, Any], Any]

    def __call__(self, params: Any, x: Any) -> Any:
        return self.first(params[0], x), self.second(params[1], x)

    def __term_at__(self, params: Any) -> t.Term:
        return t.fan(t.term_of(self.first, params[0]), t.term_of(self.second, params[1]))


class Along(eqx.Module):
    fn: Callable[[Any, Any], Any]
    cell: Callable[[Any], Any]

    def __call__(self, params: Any, x: Any) -> Any:
        return self.fn(self.cell(params), x)

    def __term_at__(self, params: Any) -> t.Term:
        inner = t.term_of(self.fn, jax.eval_shape(self.cell, params))
        return t.along(inner, t.Box(t.own(params), t.Space(back=False), None, t.name(self.cell, "r")))


class _Named(eqx.Module):
    fn: Callable[[Any, Any], Any]
    name: str = eqx.field(static=True)

    def __call__(self, params: Any, x: Any) -> Any:
        return self.fn(params, x)

    def __term_at__(self, params: Any) -> t.Term:
        return t.named(t.term_of(self.fn, params), self.name)

    @property
    def __called__(self) -> str:
        return self.name


class _Moved(eqx.Module):
    """What only moves its input; `pattern` is an input in letters."""

    move: Callable[[Any], Any] = eqx.field(static=True)
    pattern: Any = eqx.field(static=True)

    def __call__(self, _: Any, x: Any) -> Any:
        return self.move(x)

    def __term_at__(self, _: Any) -> t.Term:
        return t.wires(self.move, self.pattern, back=False)


def _same(x: Any) -> Any:
    return x


def _swapped(pair: Any) -> Any:
    x, y = two("swap()", pair)
    return y, x
