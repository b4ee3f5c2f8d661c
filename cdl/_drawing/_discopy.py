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

from .._functors.usage import with_types
from .._para import Para
from .._terms import Along, Beside, Box, Loop, Named, none, real, Space, Term, Then, Turned, Wires


@with_types
def to_discopy(para: Para[Any, Any, Any], /) -> Any:
    """The term of a parametric map as a `discopy.symmetric.Diagram`.

    **Raises:** `ImportError` where DisCoPy is not installed; the extra `discopy` has it.

    Examples:
        >>> double = cdl.Para(jnp.array([2.0]), lambda p, x: p * x)
        >>> str(cdl.drawing.to_discopy(double >> double).dom)
        'ℝ¹ @ ℝ¹ @ X'
    """
    try:
        symmetric: Any = import_module("discopy.symmetric")
    except ImportError as error:
        raise ImportError(
            "`to_discopy` gives a diagram of DisCoPy, which is not installed: `pip install discopy`, or "
            "`draw`, which needs nothing."
        ) from error
    Diagram, Ty = symmetric.Diagram, symmetric.Ty

    def wires(of: Space | None) -> Any:
        return Ty(*(real(wire.numbers) if wire.numbers else "X" for wire in (of or none()).each()))

    def moved(term: Wires) -> Any:
        """A box `copy` on each wire that becomes several, and then an exchange."""
        each = [range(block.wires()) for block in term.blocks]
        places = [(i, wire) for i in term.order for wire in each[i]]
        order = sorted(range(len(places)), key=places.__getitem__)
        x = wires(term.source)
        times = [term.order.count(i) for i, some in enumerate(each) for _ in some]
        copied = [
            symmetric.Box("copy", one, one**n) if n > 1 else Diagram.id(one) for one, n in zip(x, times, strict=True)
        ]
        return Diagram.id().tensor(*copied).permute(*(order.index(i) for i in range(len(order))))

    def read(term: Term) -> Any:
        """From the wires of the parameters and then the others."""
        p, x = wires(term.above), wires(term.source)
        match term:
            case Box(name=words):
                return symmetric.Box(words, p @ x, wires(term.target))
            case Wires():
                return moved(term)
            case Then(first=f, second=g):
                p, q = wires(f.above), wires(g.above)
                return Diagram.swap(p, q) @ x >> q @ read(f) >> read(g)
            case Beside(first=f, second=g):
                p, q, one, other = (wires(of) for of in (f.above, g.above, f.source, g.source))
                return p @ Diagram.swap(q, one) @ other >> read(f) @ read(g)
            case Along(inner=f, cell=cell):
                return read(cell) @ x >> read(f)
            case Named(inner=f):
                return read(f)
            case Loop() | Turned():  # of machines and of optics
                raise TypeError(f"a parametric map has no {type(term).__name__}")

    return read(para.__term__())
