"""Lenses: optics as the book first has them, in two maps that share no residual.

| the mathematics                                                  | here                        |
| ---------------------------------------------------------------- | --------------------------- |
| a lens `get : X → Y`, `put : X × Y' → X'`                        | `Lens(get, put)`            |
| `get = get_g ∘ get_f`, `put(x, z') = put_f(x, put_g(get_f x, z'))` | `f >> g`                  |
| over a cartesian category, `Optic ≅ Lens`                        | `to_lens`, `to_optic`       |

As written, `put` of a composite calls `get` again: in a chain of `n` lenses, bracketed to the left as Python reads it,
`n(n − 1)/2` times. As optics (`to_optic`, whose residual is the input) each is called once. Lenses are for laws, and
for what has nothing to recompute, such as an optimiser.
"""

from collections.abc import Callable
from typing import Any, final, Generic

import equinox as eqx

from ._letters import DV, DW, DX, DY, DZ, V, W, X, Y, Z
from ._optic import Optic


@final
class Lens(eqx.Module, Generic[X, Y, DX, DY]):
    """A map `X → Y`, and a map back that is given the `X` once more."""

    get: Callable[[X], Y]
    put: Callable[[X, DY], DX]

    def __rshift__(self, other: "Lens[Y, Z, DY, DZ]") -> "Lens[X, Z, DX, DZ]":
        return Lens(
            lambda x: other.get(self.get(x)),
            lambda x, dz: self.put(x, other.put(self.get(x), dz)),
        )

    def __matmul__(self, other: "Lens[V, W, DV, DW]") -> "Lens[tuple[X, V], tuple[Y, W], tuple[DX, DV], tuple[DY, DW]]":
        return Lens(
            lambda pair: (self.get(pair[0]), other.get(pair[1])),
            lambda pair, change: (self.put(pair[0], change[0]), other.put(pair[1], change[1])),
        )


def to_lens(optic: Optic[X, Y, DX, DY], /) -> Lens[X, Y, DX, DY]:
    """What can be seen of an optic: two optics are the same when their lenses are."""
    return Lens(optic.get, optic.put)


def to_optic(lens: Lens[X, Y, DX, DY], /) -> Optic[X, Y, DX, DY]:
    """The optic of a lens, whose residual is its whole input."""
    return _FromLens(lens)


@final
class _FromLens(Optic[Any, Any, Any, Any]):
    lens: Lens[Any, Any, Any, Any]

    def forward(self, x: Any, /) -> tuple[Any, Any]:
        return self.lens.get(x), x

    def backward(self, residual: Any, dy: Any, /) -> Any:
        return self.lens.put(residual, dy)
