"""The square of a parametric algebra, and the comonoid on its parameters.

```
    F μF ──── F h ────▶ F A          h : P × μF → A, the fold: the map out of the initial algebra
      │                  │           a : P × F A → A, the algebra
     embed      ⇐        a
      ▼                  ▼
     μF ────── h ──────▶ A
```

One way round has the parameters of `h` at the children and those of `a` at the root, `P × P`; the other has `P`. So the
square is not an equation: it is filled by a 2-cell, a map `P → P × P` along which the two ways agree. For the fold that
is `Δ`, and with `P → 1`, at a variable of the free monad, where there is no cell and so no parameter, it is a comonoid.
This is where weight tying comes from.

(Gavranović et al., *Categorical Deep Learning*, 2024, section 3.2 and theorem G.10.)
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx

from .._functors import Base
from .._functors.expected import expect_fields
from .._functors.usage import with_types, with_usage
from .._schemes import algebra, cata
from .._terms import name
from .para import Para
from .two_cells import delta
from .unrolled import lift


T = TypeVar("T")
P = TypeVar("P")
Q = TypeVar("Q")
A = TypeVar("A")


class Square(eqx.Module, Generic[P, Q]):
    """The two ways round a square, as parametric maps, and the 2-cell that fills it: a map from the parameters of the
    one way to those of the other.

    Of a fold they are maps of one layer of trees: `through` folds the children and then reads the layer, `direct` folds
    the tree that the layer is.

    Examples:
        >>> read = lambda p, t: t.label if isinstance(t, cdl.Leaf) else p * (t.left + t.right)
        >>> weigh = cdl.Para(2.0, read)
        >>> both: cdl.para.Square = cdl.para.square(weigh)
        >>> both.through.params, both.direct.params
        ((2.0, 2.0), 2.0)
    """

    through: Para[Q, Any, Any]
    direct: Para[P, Any, Any]
    cell: Callable[[P], Q]

    def __check_init__(self) -> None:
        expect_fields(self)

    @with_types
    def along(self, cell: Callable[[P], Q]) -> Para[P, Any, Any]:
        """The way through, along a map that may be another than the square's own: equal to `direct` or not."""
        return self.through.reparametrise(cell, at=self.direct.params)


@with_types
def square(alg: Para[P, Base[T, A], A], /) -> Square[P, tuple[P, P]]:
    """The square that says that the fold of a parametric algebra is a lax homomorphism, and its 2-cell `Δ`.

    Examples:
        >>> read = lambda p, t: t.label if isinstance(t, cdl.Leaf) else p * (t.left + t.right)
        >>> weigh = cdl.Para(2.0, read)
        >>> both = cdl.para.square(weigh)
        >>> layer = cdl.Fork(cdl.Leaf(1.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(3.0)))
        >>> both.through(layer), both.direct(layer), both.cell(both.direct.params)
        (22.0, 22.0, (2.0, 2.0))
    """
    fold = Para(alg.params, _Fold(alg.fn))
    return Square(lift(fold) >> alg, fold, delta(2))


@with_usage
def discard(params: Any, /) -> tuple[()]:
    """`P → 1`, the counit beside `Δ`.

    Examples:
        >>> cdl.para.discard((1.0, 2.0))
        ()
    """
    del params
    return ()


class _Fold(eqx.Module):
    fn: Callable[[Any, Any], Any]

    @property
    def __called__(self) -> str:
        return f"fold {name(self.fn)}"

    def __call__(self, params: Any, tree: Any) -> Any:
        at: Any = algebra(lambda layer: self.fn(params, layer))
        return cata(at)(tree)
