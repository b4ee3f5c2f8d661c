"""Optics: maps with a way back, and what is kept in between.

| the mathematics                                        | here                                                     |
| ------------------------------------------------------ | -------------------------------------------------------- |
| a pair of objects `(X, X')`                            | `X` and `DX`: values, and changes of them                |
| an optic `(M, f : X → Y × M, b : M × Y' → X')`         | `Optic[X, Y, DX, DY]`, with `forward` and `backward`     |
| its residual `M`, known to nobody else (a coend)       | whatever `forward` gives second and `backward` takes     |
| the composite, with residual `M × N`                   | `f >> g`                                                 |
| the tensor                                             | `f @ g`: on pairs                                        |
| the identity, the symmetry                             | `Optic.identity()`, `Optic.swap()`                       |
| an isomorphism, as an optic                            | `Optic.iso(there, back)`                                 |
| what can be seen of it: a lens                         | `get(x)` and `put(x, dy)`                                |
| a box with its name, in a picture                      | `f.named(name)`, which costs nothing                     |

`backward` reads the residual and does not run `forward` again: a composite of `n` optics calls each of them once, in
either bracketing. The residual of a smooth map is what `jax.vjp` keeps.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, final, Generic

import equinox as eqx

from .. import _terms as t
from .._functors.expected import expect_fields
from .._functors.ordered import two
from .._functors.usage import with_types
from .letters import DV, DW, DX, DY, DZ, M, V, W, X, Y, Z


class Optic(eqx.Module, Generic[X, Y, DX, DY]):
    """A map `X → Y` with a way back, `Y' → X'`. Extend it, or give the two maps to `Optic.of`.

    Examples:
        >>> wave = cdl.reverse(jnp.sin) >> cdl.reverse(jnp.square)
        >>> slope = wave.put(0.5, 1.0)
        >>> round(float(slope - 2 * jnp.sin(0.5) * jnp.cos(0.5)), 6)
        0.0
    """

    @abstractmethod
    def forward(self, x: X, /) -> tuple[Y, Any]:
        """The value, and the residual: what is kept for the way back."""

    @abstractmethod
    def backward(self, residual: Any, dy: DY, /) -> DX:
        """The way back, from the residual and a change of the value.

        **Arguments:** `residual`: what `forward` gave beside its value. `dy`: the change of that value.
        """

    def get(self, x: X, /) -> Y:
        """The value alone."""
        return self.forward(x)[0]

    def put(self, x: X, dy: DY, /) -> DX:
        """Forward and back at once.

        **Arguments:** `x`: the input. `dy`: the change of the output.
        """
        return self.backward(self.forward(x)[1], dy)

    @with_types
    def __rshift__(self, other: "Optic[Y, Z, DY, DZ]") -> "Optic[X, Z, DX, DZ]":
        return _Then(self, other)

    @with_types
    def __matmul__(
        self, other: "Optic[V, W, DV, DW]"
    ) -> "Optic[tuple[X, V], tuple[Y, W], tuple[DX, DV], tuple[DY, DW]]":
        return _Beside(self, other)

    @with_types
    def named(self, name: str) -> "Optic[X, Y, DX, DY]":
        """The same, with a name by which pictures and messages call it."""
        return Named(self, name)

    def __term__(self) -> t.Term:
        return t.box(t.name(self), None, back=True)

    @staticmethod
    @with_types
    def of(forward: Callable[[V], tuple[W, M]], backward: Callable[[M, DW], DV]) -> "Optic[V, W, DV, DW]":
        """The optic of two maps, which agree on a residual.

        **Arguments:** `forward`: from an input to an output and a residual. `backward`: from a residual and a change of
        the output to a change of the input.
        """
        return _Of(forward, backward)

    @staticmethod
    @with_types
    def iso(there: Callable[[V], W], back: Callable[[DW], DV], *, wires: Any = None) -> "Optic[V, W, DV, DW]":
        """A map forward and another back, with nothing to remember.

        **Arguments:** `wires`: for pictures, where the map only moves its input: an input with a letter for each part,
        such as `("x", ("y", "z"))`.
        """
        return _Iso(there, back, wires)

    @staticmethod
    def identity() -> "Optic[V, V, DV, DV]":
        """`X → X`, and back."""
        return _Iso(_same, _same, "x")

    @staticmethod
    def swap() -> "Optic[tuple[V, W], tuple[W, V], tuple[DV, DW], tuple[DW, DV]]":
        """`X × Y → Y × X`, and back."""
        return _Iso(_swapped, _swapped, ("x", "y"))


@final
class _Of(Optic[Any, Any, Any, Any]):
    ahead: Callable[[Any], tuple[Any, Any]]
    back: Callable[[Any, Any], Any]

    def forward(self, x: Any, /) -> tuple[Any, Any]:
        return self.ahead(x)

    def backward(self, residual: Any, dy: Any, /) -> Any:
        return self.back(residual, dy)

    def __term__(self) -> t.Term:
        return t.box(t.name(self.ahead), None, back=True)


@final
class _Iso(Optic[Any, Any, Any, Any]):
    there: Callable[[Any], Any]
    back: Callable[[Any], Any]
    wires: Any = eqx.field(static=True, default=None)

    def forward(self, x: Any, /) -> tuple[Any, Any]:
        return self.there(x), ()

    def backward(self, residual: Any, dy: Any, /) -> Any:
        return self.back(dy)

    def __term__(self) -> t.Term:
        return t.box(t.name(self.there), None, back=True) if self.wires is None else t.wires(self.there, self.wires)


@final
class _Then(Optic[Any, Any, Any, Any]):
    first: Optic[Any, Any, Any, Any]
    second: Optic[Any, Any, Any, Any]

    def forward(self, x: Any, /) -> tuple[Any, Any]:
        y, m = self.first.forward(x)
        z, n = self.second.forward(y)
        return z, (m, n)

    def backward(self, residual: Any, dy: Any, /) -> Any:
        m, n = residual
        return self.first.backward(m, self.second.backward(n, dy))

    def __term__(self) -> t.Term:
        return t.after(self.first.__term__(), self.second.__term__())


@final
class _Beside(Optic[Any, Any, Any, Any]):
    first: Optic[Any, Any, Any, Any]
    second: Optic[Any, Any, Any, Any]

    def forward(self, pair: Any, /) -> tuple[Any, Any]:
        x, v = two("f @ g", pair)
        y, m = self.first.forward(x)
        w, n = self.second.forward(v)
        return (y, w), (m, n)

    def backward(self, residual: Any, change: Any, /) -> Any:
        (m, n), (dy, dw) = residual, two("f @ g", change)
        return self.first.backward(m, dy), self.second.backward(n, dw)

    def __term__(self) -> t.Term:
        return t.beside(t.plain(self.first.__term__()), t.plain(self.second.__term__()))


@final
class Named(Optic[Any, Any, Any, Any]):
    """Any optic, with a name."""

    optic: Optic[Any, Any, Any, Any]
    name: str = eqx.field(static=True)

    def __check_init__(self) -> None:
        expect_fields(self)

    def forward(self, x: Any, /) -> tuple[Any, Any]:
        return self.optic.forward(x)

    def backward(self, residual: Any, dy: Any, /) -> Any:
        return self.optic.backward(residual, dy)

    def __term__(self) -> t.Term:
        return t.named(self.optic.__term__(), self.name)


def unnamed(optic: Optic[X, Y, DX, DY]) -> Optic[X, Y, DX, DY]:
    """What was given a name, or the optic itself."""
    return unnamed(optic.optic) if isinstance(optic, Named) else optic


def _same(x: Any) -> Any:
    return x


def _swapped(pair: Any) -> Any:
    x, y = two("swap()", pair)
    return y, x
