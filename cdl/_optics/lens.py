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
from dataclasses import dataclass
from typing import Any, final, Generic

import equinox as eqx

from .. import _terms as t
from .._functors.expected import expect_fields
from .._functors.ordered import two
from .._functors.usage import with_types
from .letters import DV, DW, DX, DY, DZ, V, W, X, Y, Z
from .optic import Optic


@final
class Lens(eqx.Module, Generic[X, Y, DX, DY]):
    """A map `X → Y`, and a map back that is given the `X` once more.

    Examples:
        >>> first_three = cdl.Lens(lambda text: text[:3], lambda text, new: new + text[3:])
        >>> first_three.get("optics"), first_three.put("optics", "fabr")
        ('opt', 'fabrics')
    """

    get: Callable[[X], Y]
    put: Callable[[X, DY], DX]

    def __check_init__(self) -> None:
        expect_fields(self)

    @with_types
    def __rshift__(self, other: "Lens[Y, Z, DY, DZ]") -> "Lens[X, Z, DX, DZ]":
        both = _Then(self, other)
        return Lens(both.get, both.put)

    @with_types
    def __matmul__(self, other: "Lens[V, W, DV, DW]") -> "Lens[tuple[X, V], tuple[Y, W], tuple[DX, DV], tuple[DY, DW]]":
        both = _Beside(self, other)
        return Lens(both.get, both.put)

    def __term__(self) -> t.Term:
        made = _whole(self.get, self.put)
        return t.box(t.name(self.get, "lens"), None, back=True) if made is None else t.plain(made.__term__())


@dataclass(frozen=True, eq=False)
class _Then:
    """No module, so that the `get` and the `put` of a chain are two leaves, not two copies of all that it is of."""

    first: Lens[Any, Any, Any, Any]
    second: Lens[Any, Any, Any, Any]

    def get(self, x: Any) -> Any:
        return self.second.get(self.first.get(x))

    def put(self, x: Any, dz: Any) -> Any:
        return self.first.put(x, self.second.put(self.first.get(x), dz))

    def __term__(self) -> t.Term:
        return t.then(self.first.__term__(), self.second.__term__())


@dataclass(frozen=True, eq=False)
class _Beside:
    first: Lens[Any, Any, Any, Any]
    second: Lens[Any, Any, Any, Any]

    def get(self, pair: Any) -> Any:
        x, v = two("f @ g", pair)
        return self.first.get(x), self.second.get(v)

    def put(self, pair: Any, change: Any) -> Any:
        (x, v), (dy, dw) = two("f @ g", pair), two("f @ g", change)
        return self.first.put(x, dy), self.second.put(v, dw)

    def __term__(self) -> t.Term:
        return t.beside(self.first.__term__(), self.second.__term__())


def _whole(get: Any, put: Any) -> Any:
    """What the two maps of a lens are both of, where they are the two of one optic or of one composite."""
    made, other = getattr(get, "__self__", None), getattr(put, "__self__", None)
    if not isinstance(made, Optic | _Then | _Beside) or type(made) is not type(other):
        return None
    if (get.__name__, put.__name__) != ("get", "put"):
        return None
    return made if made is other or bool(eqx.tree_equal(made, other)) else None


@with_types
def to_lens(optic: Optic[X, Y, DX, DY], /) -> Lens[X, Y, DX, DY]:
    """What can be seen of an optic: two optics are the same when their lenses are.

    Examples:
        >>> lens = cdl.optics.to_lens(cdl.reverse(jnp.square))
        >>> float(lens.get(3.0)), float(lens.put(3.0, 1.0))
        (9.0, 6.0)
    """
    return Lens(optic.get, optic.put)


@with_types
def to_optic(lens: Lens[X, Y, DX, DY], /) -> Optic[X, Y, DX, DY]:
    """The optic of a lens, whose residual is its whole input.

    Examples:
        >>> length = cdl.Lens(len, lambda text, n: text[:n])
        >>> cdl.to_optic(length).put("optics", 5)
        'optic'
    """
    return _FromLens(lens)


@final
class _FromLens(Optic[Any, Any, Any, Any]):
    lens: Lens[Any, Any, Any, Any]

    def forward(self, x: Any, /) -> tuple[Any, Any]:
        return self.lens.get(x), x

    def backward(self, residual: Any, dy: Any, /) -> Any:
        return self.lens.put(residual, dy)

    def __term__(self) -> t.Term:
        return self.lens.__term__()
