"""Parametric maps as diagrams of DisCoPy, to be rewritten, evaluated and drawn by its functors.

| the mathematics                         | here                                                         |
| --------------------------------------- | ------------------------------------------------------------ |
| `P ⊗ X → Y`                             | a `symmetric.Diagram`, the wires of its parameters first     |
| a map that is taken as given            | a `Box`: its parameters are a wire `ℝⁿ`, its values wires `X` |
| `f >> g`, `f @ g`, with `P ⊗ Q ⊗ …`     | both boxes, and a `Swap` where parameters pass other wires   |
| `fanout(f, g)`                          | a box `copy` on each wire, which has no parameters           |
| a reparametrisation `r : Q → P`         | a box from `ℝⁿ` to the wires of `P`                          |
| the name of a composite                 | not kept: diagrams of DisCoPy do not nest                    |
"""

from importlib import import_module
from typing import Any

from .._functors.poly import superscript
from .._para import Para
from .terms import Along, Beside, Cross, Fan, Leaf, Named, Same, Space, Term, term_of, Then


def to_discopy(para: Para[Any, Any, Any], /) -> Any:
    """The term of a parametric map as a `discopy.symmetric.Diagram`.

    **Raises:** `ImportError` where DisCoPy is not installed, which the extra `discopy` brings.
    """
    try:
        symmetric: Any = import_module("discopy.symmetric")
    except ImportError as error:
        raise ImportError(
            "`to_discopy` gives a diagram of DisCoPy, which is not installed: `pip install 'cdl-jax[discopy]'`, or "
            "`draw`, which needs nothing."
        ) from error
    Box, Diagram, Ty = symmetric.Box, symmetric.Diagram, symmetric.Ty

    def wires(of: Space) -> Any:
        return Ty(*["X"] * of.wires())

    def weights(params: int) -> Any:
        return Ty("ℝ" + superscript(params)) if params else Ty()

    def copied(x: Any) -> Any:
        n = len(x)
        return Diagram.tensor(*(Box("copy", wire, wire @ wire) for wire in x)).permute(
            *range(0, 2 * n, 2), *range(1, 2 * n, 2)
        )

    def read(term: Term) -> tuple[Any, Any]:
        """The wires of the parameters, and the diagram."""
        x = wires(term.source)
        match term:
            case Leaf(words, params):
                p = weights(params)
                return p, Box(words, p @ x, wires(term.target))
            case Same():
                return Ty(), Diagram.id(x)
            case Cross(first):
                n = first.wires()
                return Ty(), Diagram.swap(x[:n], x[n:])
            case Then(f, g):
                (p, first), (q, second) = read(f), read(g)
                return p @ q, Diagram.swap(p, q) @ x >> q @ first >> second
            case Beside(f, g) | Fan(f, g):
                (p, upper), (q, lower) = read(f), read(g)
                one, other = wires(f.source), wires(g.source)
                both = p @ Diagram.swap(q, one) @ other >> upper @ lower
                return p @ q, p @ q @ copied(x) >> both if isinstance(term, Fan) else both
            case Along(inner, cell, params):
                (p, diagram), q = read(inner), weights(params)
                return q, Box(cell, q, p) @ x >> diagram
            case Named(inner):
                return read(inner)

    return read(term_of(para))[1]
