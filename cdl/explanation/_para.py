"""A parametric map explained: `(P, f : P × X → Y)`, as the term that it was put together by.

| the law                              | what is run                                                     |
| ------------------------------------ | --------------------------------------------------------------- |
| the unitors                          | `f`, with the identity before it and behind it                  |
| `f ∘ (r ∘ s) = (f ∘ r) ∘ s`          | two reparametrisations, at once and one after the other         |
| `∇ (f along Δ) = Σ ∇ f`              | `f` beside itself: the gradient of one copy, and those of two   |
| the identity costs nothing           | the operations of `identity() >> f`, and those of `f`           |
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from .._para import identity, Para, two_cells
from .._terms import Along, Beside, Box, boxes, Loop, name, Named, none, numbers, real, Term, Then, Turned, Wires
from ._measure import equations, gradient, law, shapes, summed, total, weights
from ._page import Checked, Explanation


def explain_para(para: Para[Any, Any, Any], x: Any, allowed: float | None) -> Explanation:
    """The page of a parametric map, its laws run at an input."""
    term = para.__term__()
    result = eqx.filter_eval_shape(para.fn, para.params, x)
    many = numbers(para.params)
    run = [
        box.name + (f" of {real(box.above.size())}" if box.above and box.above.size() else "") for box in boxes(term)
    ]
    return Explanation(
        name=name(para.fn) if isinstance(term, Box) else written(term),
        kind="a parametric map",
        functors=(),
        type="f : P × X → Y" if many else "f : X → Y",
        where=(*([f"P = {real(many)}"] if many else []), f"X = {shapes(x)}", f"Y = {shapes(result)}"),
        parameters=weights(para.params),
        tying=_tying(term),
        laws=tuple(_laws(para, x, allowed)),
        execution=(
            f"{'boxes' if len(run) > 1 else 'one box'}: {', '.join(run)}" if run else "wires alone",
            f"{equations(para.fn, para.params, x)} operations, to be compiled by `jit` where it is called",
        ),
    )


def written(term: Term, *, inner: bool = False) -> str:
    """A term as it is written in Python."""
    match term:
        case Box(name=words) | Named(name=words):
            return words
        case Wires():
            return f"{term.name}()"
        case Then(first=Wires(copies=True), second=Beside(first=f, second=g)):
            return f"fanout({written(f)}, {written(g)})"
        case Then(first=f, second=g):
            text = f"{written(f, inner=not isinstance(f, Then))} >> {written(g, inner=True)}"
            return f"({text})" if inner else text
        case Beside(first=f, second=g):
            return f"({written(f, inner=True)} @ {written(g, inner=True)})"
        case Along(inner=f, cell=cell):
            return f"{written(f, inner=True)}.reparametrise({written(cell)})"
        case Loop(inner=f):
            return f"feedback({written(f)})"
        case Turned(inner=f):
            return written(f, inner=inner)


def _laws(para: Para[Any, Any, Any], x: Any, allowed: float | None) -> list[Checked]:
    value = para(x)
    found = [
        law("identity() >> f = f, f >> identity() = f", ((identity() >> para)(x), (para >> identity())(x)),
            (value, value), allowed),
    ]  # fmt: skip
    if numbers(para.params):
        r: Callable[[Any], Any] = lambda p: jax.tree.map(lambda w: w / 2, p)
        s: Callable[[Any], Any] = lambda p: jax.tree.map(lambda w: w - w * w / 4, p)
        twice = para.reparametrise(r, at=para.params).reparametrise(s, at=para.params)
        at_once = para.reparametrise(lambda p: r(s(p)), at=para.params)
        found.append(law("f ∘ (r ∘ s) = (f ∘ r) ∘ s, r, s : P → P", twice(x), at_once(x), allowed))
        both = para @ para
        tied = both.reparametrise(two_cells.delta(2), at=para.params)
        each = gradient(lambda p: total(both.fn(p, (x, x))), both.params)
        once = gradient(lambda p: total(tied.fn(p, (x, x))), tied.params)
        found.append(law("∇ (f @ f along Δ : P → P²) = Σ ∇ (f @ f)", once, summed(each), allowed))
    if isinstance(para.fn, eqx.Module):
        alone = equations(lambda p, x: para.fn(p, x), para.params, x)
        whole = equations(lambda p, x: (identity() >> para).fn(((), p), x), para.params, x)
        found.append(Checked("identity() >> f has the operations of f", float(abs(whole - alone)), 0.0))
    return found


def _tying(term: Term) -> tuple[str, ...]:
    """The reparametrisations of a term, from the parameters there are to those that its boxes take."""
    found: list[str] = []
    if isinstance(term, Along):
        into = (term.inner.above or none()).size()
        found.append(f"{written(term.cell)} : {real(term.cell.source.size())} → {real(into)}")
    return (*found, *(line for part in term.parts for line in _tying(part)))
