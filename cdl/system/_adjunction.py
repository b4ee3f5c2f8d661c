"""A wiring beside its boxes, as one that changes: `Poly(r ⊗ p, q) ≅ Poly(r, [p, q])`.

| the mathematics                                     | here                     |
| --------------------------------------------------- | ------------------------ |
| `r ⊗ p → q` as `r → [p, q]`                         | `curry(lens, r, p)`      |
| the other way                                       | `uncurry(lens, p, q)`    |

So a fixed diagram with one more box, whose state is the wiring, is a diagram that changes.
"""

from itertools import product
from typing import Any

from .._functors.usage import with_types
from ..errors import PortMismatch
from ._lens import DependentLens, hom, Sent
from ._polynomial import Polynomial


@with_types
def curry(lens: DependentLens, r: Polynomial, p: Polynomial) -> DependentLens:
    """Of `r ⊗ p → q`, the lens `r → [p, q]`: a position of `r` wires `p` to `q`.

    **Arguments:** `lens`: from `r ⊗ p` to `q`. `r`, `p`: the two factors of its source.

    **Raises:** `PortMismatch` where the lens does not begin at `r ⊗ p`.

    Examples:
        >>> p = cdl.system.Polynomial({"open": ["a", "b"], "shut": []})
        >>> q = cdl.system.Polynomial.monomial([0, 1], ["tick"])
        >>> lens = next(cdl.system.lenses(p @ q, p))
        >>> wires = cdl.system.curry(lens, p, q)
        >>> print(wires.source, "→", wires.target)
        y² + 1 → y⁴ + 2y² + 1
    """
    if lens.source != r @ p:
        raise PortMismatch(f"a lens from {lens.source} cannot be curried from {r} ⊗ {p}, which is {r @ p}.")
    q = lens.target
    inner = hom(p, q)
    sent: dict[Any, Sent] = {}
    for k in r.positions:
        wired = DependentLens(
            p, q, {i: (lens.sent[k, i][0], tuple(b for _, b in lens.sent[k, i][1])) for i in p.positions}
        )
        at = next(f for f in inner.positions if f == wired)
        sent[k] = at, tuple(lens.back((k, i), d)[0] for i, d in inner.directions[at])
    return DependentLens(r, inner, sent)


@with_types
def uncurry(lens: DependentLens, p: Polynomial, q: Polynomial) -> DependentLens:
    """Of `r → [p, q]`, the lens `r ⊗ p → q`: the other way of `curry`.

    **Arguments:** `lens`: from `r` to `[p, q]`. `p`, `q`: the two polynomials of its target.

    **Raises:** `PortMismatch` where the lens does not end at `[p, q]`.

    Examples:
        >>> p = cdl.system.Polynomial({"open": ["a", "b"], "shut": []})
        >>> q = cdl.system.Polynomial.monomial([0, 1], ["tick"])
        >>> lens = next(cdl.system.lenses(p @ q, p))
        >>> cdl.system.uncurry(cdl.system.curry(lens, p, q), q, p) == lens
        True
    """
    if lens.target != hom(p, q):
        raise PortMismatch(f"a lens to {lens.target} cannot be uncurried to [{p}, {q}], which is {hom(p, q)}.")
    r = lens.source
    sent: dict[Any, Sent] = {}
    for k, i in product(r.positions, p.positions):
        wired = lens.sent[k][0]
        assert isinstance(wired, DependentLens)
        j, _ = wired.sent[i]
        sent[k, i] = j, tuple((lens.back(k, (i, d)), wired.back(i, d)) for d in q.directions[j])
    return DependentLens(r @ p, q, sent)
