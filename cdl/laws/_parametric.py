"""Laws of `Para`: parametric maps are a bicategory, whatever they are maps of: sets, smooth maps, optics.

| the law                | the two sides                                                                 |
| ---------------------- | ----------------------------------------------------------------------------- |
| a 2-cell `r`           | `f` along `r`, and `g`                                                        |
| associator             | `(f >> g) >> h` along `(p, (q, r)) ↦ ((p, q), r)`, and `f >> (g >> h)`        |
| unitors                | `id >> f` along `p ↦ ((), p)`, and `f`; `f >> id` along `p ↦ (p, ())`, and `f` |
| interchange            | `(f @ g) >> (h @ k)` along the middle four, and `(f >> h) @ (g >> k)`         |
| whiskering             | `(f >> g)` along `r × s`, and `f` along `r`, then `g` along `s`               |
| 2-cells compose        | `f` along `r`, along `s`, and `f` along `r ∘ s`                               |
| the pentagon           | the two ways from `((f g) h) k` to `f (g (h k))`, on parameters               |
| the triangle           | the two ways from `(f id) g` to `f g`, on parameters                          |

Two parametric maps are the same here when they have the same parameters and give the same at the point that is asked;
parametrised optics, when they also put the same, changes of parameters and of input. The laws hold up to these 2-cells
and not exactly: the two sides have their parameters in other brackets.
"""

from collections.abc import Callable
from typing import Any

import jax

from .._functors.usage import with_usage
from .._optics import Optic, ParaOptic
from .._para import identity, Para
from .._para.two_cells import (
    associator,
    associator_back,
    horizontal,
    left_unitor,
    middle_four,
    right_unitor,
    same,
)
from ..errors import CdlError
from ._hold import hold


AnyPara = Para[Any, Any, Any] | ParaOptic[Any, Any, Any, Any, Any, Any]
There = Callable[[Any], Any]
Cell = There | tuple[There, There]  # a map between parameters; between those of optics, with the map back


@with_usage
def bicategory(f: AnyPara, g: AnyPara, h: AnyPara, k: AnyPara, x: Any, *, tolerance: float = 0.0) -> None:
    """That composition is associative, has units and interchanges with the tensor, each along its 2-cell.

    **Arguments:** `f`, `g`, `h`, `k`: all of them `Para`, or all `ParaOptic`, and all from one object to itself.
    `x`: an element of it, which is used as a change as well.

    **Raises:** `LawBroken`.

    Examples:
        >>> f, g, h, k = (cdl.Para(float(p), lambda p, x: p * x) for p in range(1, 5))
        >>> cdl.laws.bicategory(f, g, h, k, 2.0)
    """
    one: Any = identity() if isinstance(f, Para) else ParaOptic.identity()
    a, b, c, d = (_any(para) for para in (f, g, h, k))
    left, right = (a >> b) >> c, a >> (b >> c)
    _is_cell("`(f >> g) >> h ≅ f >> (g >> h)`", left, right, (associator, associator_back), x, tolerance)
    _is_cell("`f >> (g >> h) ≅ (f >> g) >> h`", right, left, (associator_back, associator), x, tolerance)
    _is_cell("`id >> f ≅ f`", one >> a, a, (left_unitor, lambda pair: pair[1]), x, tolerance)
    _is_cell("`f >> id ≅ f`", a >> one, a, (right_unitor, lambda pair: pair[0]), x, tolerance)
    crossed, along = (a @ b) >> (c @ d), (a >> c) @ (b >> d)
    law = "`(f @ g) >> (h @ k) ≅ (f >> h) @ (g >> k)`"
    _is_cell(law, crossed, along, (middle_four, middle_four), (x, x), tolerance)
    p, q, r, s = (para.params for para in (f, g, h, k))
    one_way = horizontal(same, associator_back)(associator_back(horizontal(associator_back, same)((((p, q), r), s))))
    hold("the pentagon", one_way, associator_back(associator_back((((p, q), r), s))), tolerance)
    hold("the triangle", associator((p, left_unitor(q))), horizontal(right_unitor, same)((p, q)), tolerance)


@with_usage
def reparametrisation(f: AnyPara, g: AnyPara, r: Cell, s: Cell, x: Any, *, tolerance: float = 0.0) -> None:
    """That 2-cells compose, one after the other and side by side, on parametric maps that compose.

    **Arguments:** `r`, `s`: maps between parameters of one type, which `f` and `g` share; for optics, each is a pair of
    the map and the map back.

    **Raises:** `LawBroken`; `CdlError` for a map between parameters of optics without the map back.

    Examples:
        >>> f, g = cdl.Para(2.0, lambda p, x: p * x), cdl.Para(3.0, lambda p, x: p + x)
        >>> cdl.laws.reparametrisation(f, g, lambda p: -p, lambda p: 2 * p, 1.0)
    """
    a, b = _any(f), _any(g)
    r, s = _both_ways(f, r), _both_ways(f, s)
    twice = a.reparametrise(_cell(f, r), f.params).reparametrise(_cell(f, s), f.params)
    composed = (lambda q: r[0](s[0](q)), lambda dp: s[1](r[1](dp)))
    hold(
        "`f` along `r`, along `s`", _seen(twice, x), _seen(a.reparametrise(_cell(f, composed), f.params), x), tolerance
    )
    both: Any = tuple(horizontal(one, other) for one, other in zip(r, s, strict=True))
    at_once = (a >> b).reparametrise(_cell(f, both), (f.params, g.params))
    apart = a.reparametrise(_cell(f, r), f.params) >> b.reparametrise(_cell(g, s), g.params)
    hold("`f >> g` along `r × s`", _seen(at_once, x), _seen(apart, x), tolerance)


@with_usage
def two_cell(f: AnyPara, g: AnyPara, cell: Cell, x: Any, *, tolerance: float = 0.0) -> None:
    """That a map between parameters is a 2-cell from `f` to `g`: it sends those of `g` to those of `f`, and `g` is `f`
    along it.

    **Arguments:** `cell`: the map; for optics, a pair of the map and the map back.

    **Raises:** `LawBroken`; `CdlError` for a map between parameters of optics without the map back.

    Examples:
        >>> f, g = cdl.Para(4.0, lambda p, x: p * x), cdl.Para(2.0, lambda q, x: q * q * x)
        >>> cdl.laws.two_cell(f, g, lambda q: q * q, 5.0)
        >>> cdl.laws.two_cell(f, g, lambda q: q + 1, 5.0)
        Traceback (most recent call last):
            ...
        cdl.errors.LawBroken: `g = f ∘ (r × id)`, parameters: the left side gives `3.0` where the right
        gives `4.0`.
    """
    _is_cell("`g = f ∘ (r × id)`", f, g, _both_ways(f, cell), x, tolerance)


def _both_ways(f: AnyPara, cell: Cell) -> tuple[There, There]:
    if isinstance(cell, tuple):
        return cell
    if isinstance(f, Para):
        return cell, same  # no way back is asked for
    raise CdlError("a map between parameters of optics has a map back: give both, as `(there, back)`.")


def _is_cell(law: str, f: Any, g: Any, cell: tuple[There, There], x: Any, tolerance: float) -> None:
    hold(f"{law}, parameters", jax.tree.leaves(cell[0](g.params)), jax.tree.leaves(f.params), tolerance)
    hold(law, _seen(f.reparametrise(_cell(f, cell), g.params), x), _seen(g, x), tolerance)


def _cell(f: AnyPara, cell: tuple[There, There]) -> Any:
    return cell[0] if isinstance(f, Para) else Optic.iso(*cell)


def _seen(f: Any, x: Any) -> Any:
    return f(x) if isinstance(f, Para) else (f(x), f.optic.put((f.params, x), x))


def _any(f: AnyPara) -> Any:
    return f
