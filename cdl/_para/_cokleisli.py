"""Parametric maps as co-Kleisli maps: the parameter is read, and a composite hands the same one to both parts.

| the mathematics                                                  | here                                        |
| ---------------------------------------------------------------- | ------------------------------------------- |
| the comonad `P × −`: `(p, x) ↦ x` and `(p, x) ↦ (p, (p, x))`     | the counit is `CoKleisli.identity()`        |
| a co-Kleisli map `X → Y`, that is, `f : P × X → Y`               | `CoKleisli(f)`                              |
| its coextension `P × X → P × Y`                                  | `f.extend(p, x)`                            |
| the composite `g ∘ (P × f) ∘ δ`: `(p, x) ↦ g(p, f(p, x))`        | `f >> g`                                    |
| the tensor: `(p, (x, v)) ↦ (f(p, x), g(p, v))`                   | `f @ g`                                     |
| a map `X → Y` that ignores the parameter                         | `CoKleisli.pure(f)`                         |
| change of base along `r : Q → P`                                 | `f.along(r)`                                |
| to `Para`, at a point of `P`                                     | `f.para(p)`                                 |
| from `Para`                                                      | `CoKleisli.of(para)`                        |

Co-Kleisli maps of one `P` are a category, with equations where `Para` has 2-cells. The comparison with `Para` is the
identity on maps, both ways, and composes along 2-cells:

- `(f >> g).para(p)` is `f.para(p) >> g.para(p)` along `Δ : P → P × P`, and `identity().para(p)` is the identity along
  `P → 1`. So a network in which layers share their parameter is one of `Para`, tied.
- `of(f >> g)` is `of(f)` along the projection to `P`, and then `of(g)` along that to `Q`: a network in which each layer
  has its parameter is co-Kleisli for the product of them all.

(Uustalu and Vene, *Comonadic Notions of Computation*, 2008, for co-Kleisli maps of the product comonad.)
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax

from .._engine.arrays.shapes import shaped, shown
from .._functors.expected import expect_fields
from .._functors.ordered import two
from .._functors.usage import with_types, with_usage
from ..errors import PortMismatch
from .para import Para


P = TypeVar("P")
Q = TypeVar("Q")
X = TypeVar("X")
Y = TypeVar("Y")
Z = TypeVar("Z")
V = TypeVar("V")
W = TypeVar("W")


class CoKleisli(eqx.Module, Generic[P, X, Y]):
    """A map `P × X → Y` as one from `X` to `Y` that reads a parameter. It holds no point of `P`.

    **Arguments:** `fn`: the map. `space`: the type of a parameter as `parameter_space` gives it; `None` where any is
    taken. Where it is known on both sides, composition checks that it is the same.

    Examples:
        >>> scale = cdl.para.CoKleisli.of(cdl.Para(2.0, lambda p, x: p * x))
        >>> (scale >> scale)(3.0, 5.0)
        45.0
    """

    fn: Callable[[P, X], Y]
    space: "Space | None" = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        expect_fields(self)

    @staticmethod
    @with_types
    def of(para: Para[Q, V, W], /) -> "CoKleisli[Q, V, W]":
        """The map of a parametric map, for all parameters of the type that it has."""
        return CoKleisli(para.fn, parameter_space(para.params))

    @staticmethod
    def identity() -> "CoKleisli[Any, V, V]":
        """The counit, `(p, x) ↦ x`, of any parameter."""
        return CoKleisli(_second)

    @staticmethod
    @with_types
    def pure(f: Callable[[V], W], /) -> "CoKleisli[Any, V, W]":
        """A map that ignores the parameter: `(p, x) ↦ f(x)`."""
        return CoKleisli(_Ignoring(f))

    def __call__(self, params: P, x: X, /) -> Y:
        self._expect(params)
        return self.fn(params, x)

    def extend(self, params: P, x: X, /) -> tuple[P, Y]:
        """The coextension: `(p, x) ↦ (p, f(p, x))`, a map of coalgebras of the comonad."""
        return params, self(params, x)

    def para(self, at: P, /) -> Para[P, X, Y]:
        """The parametric map, with a point of `P`.

        **Raises:** `PortMismatch` where the point is not a parameter of the map.
        """
        self._expect(at)
        return Para(at, self.fn)

    @with_types
    def along(self, r: Callable[[Q], P], /, space: "Space | None" = None) -> "CoKleisli[Q, X, Y]":
        """The map that reads its parameter through `r : Q → P`. `space`: the type of a parameter in `Q`."""
        return CoKleisli(_Through(r, self.fn), space)

    @with_types
    def __rshift__(self, other: "CoKleisli[P, Y, Z]") -> "CoKleisli[P, X, Z]":
        return CoKleisli(_Then(self.fn, other.fn), _shared(">>", self, other))

    @with_types
    def __matmul__(self, other: "CoKleisli[P, V, W]") -> "CoKleisli[P, tuple[X, V], tuple[Y, W]]":
        return CoKleisli(_Beside(self.fn, other.fn), _shared("@", self, other))

    def _expect(self, params: Any) -> None:
        if self.space is not None and (given := parameter_space(params)) != self.space:
            raise PortMismatch(
                f"a co-Kleisli map reads parameters {self.space}, and was given {given}: give it one with that "
                "structure, with those shapes and dtypes."
            )


class Space:
    """The type of a parameter: its structure, and the shape and dtype of each leaf. Two are equal where these are."""

    def __init__(self, structure: Any, leaves: tuple[Any, ...]) -> None:
        self.structure, self.leaves = structure, leaves

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and (self.structure, self.leaves) == (other.structure, other.leaves)

    def __hash__(self) -> int:
        return hash((self.structure, self.leaves))

    def __str__(self) -> str:
        names = [_Name(x.__name__) if isinstance(x, type) else x for x in self.leaves]
        return " ".join(shown(jax.tree.unflatten(self.structure, names)).split())


class _Name(str):
    """A class, by its name and without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@with_usage
def parameter_space(params: Any, /) -> Space:
    """The type of a parameter: arrays by their shapes and dtypes, anything else by its class.

    Examples:
        >>> str(cdl.para.parameter_space(jnp.zeros((2, 3))))
        'f32[2,3]'
        >>> cdl.para.parameter_space(2.0) == cdl.para.parameter_space(3.0)
        True
    """
    leaves, structure = jax.tree.flatten(params)
    kind = lambda x: shaped(x.shape, x.dtype) if hasattr(x, "shape") and hasattr(x, "dtype") else type(x)
    return Space(structure, tuple(map(kind, leaves)))


def _shared(sign: str, first: CoKleisli[Any, Any, Any], second: CoKleisli[Any, Any, Any]) -> Space | None:
    """The type of the parameter that both read."""
    if first.space is not None and second.space is not None and first.space != second.space:
        raise PortMismatch(
            f"`f {sign} g` of co-Kleisli maps hands one parameter to both, and `f` reads {first.space} where `g` reads "
            f"{second.space}: bring both to one space with `along`, or compose as `Para`, which pairs parameters."
        )
    return second.space if first.space is None else first.space


class _Then(eqx.Module):
    first: Callable[[Any, Any], Any]
    second: Callable[[Any, Any], Any]

    def __call__(self, params: Any, x: Any) -> Any:
        return self.second(params, self.first(params, x))


class _Beside(eqx.Module):
    first: Callable[[Any, Any], Any]
    second: Callable[[Any, Any], Any]

    def __call__(self, params: Any, pair: Any) -> Any:
        x, v = two("f @ g", pair)
        return self.first(params, x), self.second(params, v)


class _Through(eqx.Module):
    cell: Callable[[Any], Any]
    fn: Callable[[Any, Any], Any]

    def __call__(self, params: Any, x: Any) -> Any:
        return self.fn(self.cell(params), x)


class _Ignoring(eqx.Module):
    fn: Callable[[Any], Any]

    def __call__(self, _: Any, x: Any) -> Any:
        return self.fn(x)


def _second(_: Any, x: V) -> V:
    return x
