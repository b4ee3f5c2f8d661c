"""Laws of co-Kleisli maps of `P × −`, and of their comparison with `Para`.

| the law           | the two sides                                                                                  |
| ----------------- | ---------------------------------------------------------------------------------------------- |
| category          | `(f >> g) >> h = f >> (g >> h)`, `id >> f = f = f >> id`                                       |
| coextension       | `ext (f >> g) = ext g ∘ ext f`, `ext id = id`                                                  |
| round trips       | `of (f.para(p)) = f`, `(of m).para(m.params) = m`                                              |
| to `Para`         | `(f >> g).para(p)`, and `f.para(p) >> g.para(p)` along `Δ`; `id.para(p)`, and `id` along `P → 1` |
| from `Para`       | `of (m >> n)`, and `of m` along `P × Q → P`, then `of n` along `P × Q → Q`                     |
"""

from collections.abc import Callable
from typing import Any

from .._functors.usage import with_usage
from .._para import CoKleisli, discard, identity, Para
from .._para.two_cells import delta
from ._hold import hold


Map = CoKleisli[Any, Any, Any]


@with_usage
def co_kleisli(f: Map, g: Map, h: Map, p: Any, x: Any, *, tolerance: float = 0.0) -> None:
    """That co-Kleisli maps are a category, and that to read one parameter is to be tied along `Δ`.

    **Arguments:** `f`, `g`, `h`: maps that compose in this order. `p`: a parameter. `x`: an input of `f`.

    **Raises:** `LawBroken`.

    Examples:
        >>> scale = cdl.para.CoKleisli.of(cdl.Para(2.0, lambda p, x: p * x))
        >>> shift = cdl.para.CoKleisli.of(cdl.Para(2.0, lambda p, x: p + x))
        >>> cdl.laws.co_kleisli(scale, shift, scale, 3.0, 1.0)
    """
    same: Callable[..., None] = lambda law, a, b, x: hold(law, a(p, x), b(p, x), tolerance)
    one: Map = CoKleisli.identity()
    y = f(p, x)
    same("`(f >> g) >> h = f >> (g >> h)`", (f >> g) >> h, f >> (g >> h), x)
    same("`id >> f = f`", one >> f, f, x)
    same("`f >> id = f`", f >> one, f, x)
    hold("`ext (f >> g) = ext g ∘ ext f`", (f >> g).extend(p, x), g.extend(*f.extend(p, x)), tolerance)
    hold("`ext id = id`", one.extend(p, x), (p, x), tolerance)
    same("`of (f.para(p)) = f`", CoKleisli.of(f.para(p)), f, x)
    tied = (f.para(p) >> g.para(p)).reparametrise(delta(2), at=p)
    _same_para("`(f >> g).para(p) = f.para(p) >> g.para(p)` along `Δ`", (f >> g).para(p), tied, x, tolerance)
    nothing: Para[Any, Any, Any] = identity().reparametrise(discard, at=p)
    _same_para("`id.para(p) = id` along `P → 1`", one.para(p), nothing, y, tolerance)


@with_usage
def from_para(m: Para[Any, Any, Any], n: Para[Any, Any, Any], x: Any, *, tolerance: float = 0.0) -> None:
    """That a composite of parametric maps is co-Kleisli for the product of their parameters.

    **Arguments:** `m`, `n`: maps that compose in this order. `x`: an input of `m`.

    **Raises:** `LawBroken`.

    Examples:
        >>> cdl.laws.from_para(
        ...     cdl.Para(2.0, lambda p, x: p * x), cdl.Para(3.0, lambda p, x: p + x), 1.0
        ... )
    """
    _same_para("`(of m).para(m.params) = m`", CoKleisli.of(m).para(m.params), m, x, tolerance)
    whole: Map = CoKleisli.of(m >> n)
    parts: Map = CoKleisli.of(m).along(_first) >> CoKleisli.of(n).along(_second)
    at = (m.params, n.params)
    hold("`of (m >> n) = of m` along `P × Q → P`, `>> of n` along `P × Q → Q`", whole(at, x), parts(at, x), tolerance)


def _same_para(law: str, a: Any, b: Any, x: Any, tolerance: float) -> None:
    hold(f"{law}, parameters", a.params, b.params, tolerance)
    hold(law, a(x), b(x), tolerance)


def _first(pair: Any) -> Any:
    return pair[0]


def _second(pair: Any) -> Any:
    return pair[1]
