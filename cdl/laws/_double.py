"""Laws of the double category of parametric maps.

| the law          | the two sides                                                                              |
| ---------------- | ------------------------------------------------------------------------------------------ |
| a square         | along the top and down, and down and along the bottom                                      |
| interchange      | `(a >> b).above(c >> d)`, and `a.above(c) >> b.above(d)`: borders, and maps of parameters  |
| units            | `still(f).above(a) = a = a.above(still(f'))`; `on(u) >> a = a = a >> on(v)`, along unitors |
| associativity    | `(a.above(b)).above(c) = a.above(b.above(c))`                                              |

Two squares are the same when their maps of parameters agree at the parameters of the top, and their borders at an
input.
"""

from typing import Any, TypeAlias

from .._functors.usage import with_usage
from .._para import DoubleCell
from .._para.two_cells import left_unitor, right_unitor
from ._hold import hold


Cell: TypeAlias = DoubleCell[Any, Any, Any, Any, Any, Any]


@with_usage
def double_cell(a: Cell, x: Any, *, tolerance: float = 0.0) -> None:
    """That a square commutes: `v(f(p, x)) = f'(r(p), u(x))`, at the parameters of its top.

    **Raises:** `LawBroken`.

    Examples:
        >>> double = cdl.Para(2.0, lambda p, x: p * x)
        >>> halved = cdl.para.DoubleCell(
        ...     double, double, lambda x: x / 2, lambda y: y / 2, lambda p: p
        ... )
        >>> cdl.laws.double_cell(halved, 5.0)
    """
    hold("`v ∘ f = f' ∘ (r × u)`", a.over(x), a.under(x), tolerance)


@with_usage
def double_category(a: Cell, b: Cell, c: Cell, d: Cell, x: Any, *, tolerance: float = 0.0) -> None:
    """That squares compose to squares, both ways, and that the two ways interchange.

    **Arguments:** `a`, `b`: side by side, above `c`, `d`, which are side by side. `x`: an input at the upper left.

    **Raises:** `LawBroken`; `PortMismatch` where borders do not meet.

    Examples:
        >>> double, half = cdl.Para(2.0, lambda p, x: p * x), lambda x: x / 2
        >>> halved = cdl.para.DoubleCell(double, double, half, half, lambda p: p)
        >>> cdl.laws.double_category(halved, halved, halved, halved, 5.0)
    """
    rows, columns = (a >> b).above(c >> d), a.above(c) >> b.above(d)
    for name, square in {"a >> b": a >> b, "a.above(c)": a.above(c), "the four": rows}.items():
        hold(f"`v ∘ f = f' ∘ (r × u)` of `{name}`", square.over(x), square.under(x), tolerance)
    _same("`(a >> b).above(c >> d) = a.above(c) >> b.above(d)`", rows, columns, x, tolerance)
    _same("`still(f).above(a) = a`", DoubleCell.still(a.top).above(a), a, x, tolerance)
    _same("`a.above(still(f')) = a`", a.above(DoubleCell.still(a.bottom)), a, x, tolerance)
    # beside an identity, parameters are paired with none
    p, along = a.top.params, a.cell
    beside, before = DoubleCell.on(a.left) >> a, a >> DoubleCell.on(a.right)
    one = (left_unitor(along(p)), a.over(x), a.under(x))
    hold("`on(u) >> a = a`", (beside.cell(left_unitor(p)), beside.over(x), beside.under(x)), one, tolerance)
    one = (right_unitor(along(p)), a.over(x), a.under(x))
    hold("`a >> on(v) = a`", (before.cell(right_unitor(p)), before.over(x), before.under(x)), one, tolerance)


@with_usage
def stacked_squares(a: Cell, b: Cell, c: Cell, x: Any, *, tolerance: float = 0.0) -> None:
    """That three squares, one above the other, are one square in either bracketing.

    **Arguments:** `a`, `b`, `c`: cells, the first above the second. `x`: an input of the first.

    **Raises:** `LawBroken`; `PortMismatch` where borders do not meet.

    Examples:
        >>> double, half = cdl.Para(2.0, lambda p, x: p * x), lambda x: x / 2
        >>> halved = cdl.para.DoubleCell(double, double, half, half, lambda p: p)
        >>> cdl.laws.stacked_squares(halved, halved, halved, 5.0)
    """
    _same("`(a.above(b)).above(c) = a.above(b.above(c))`", a.above(b).above(c), a.above(b.above(c)), x, tolerance)


def _same(law: str, a: Cell, b: Cell, x: Any, tolerance: float) -> None:
    hold(law, _seen(a, x), _seen(b, x), tolerance)


def _seen(a: Cell, x: Any) -> Any:
    """Parameters above and below, and what comes out at each corner and along each way."""
    p, y = a.top.params, a.top(x)
    return p, a.cell(p), y, a.left(x), a.right(y), a.over(x), a.under(x)
