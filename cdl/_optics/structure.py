"""The structure maps of optics as a monoidal category: what rebrackets pairs, and what drops an empty part.

| the mathematics                               | here                                        |
| --------------------------------------------- | ------------------------------------------- |
| the unit `I`, and its only element            | `()`, as a value and as a change            |
| the associator `α : (X × Y) × Z → X × (Y × Z)` | `associator()`, `associator_back()`        |
| the left unitor `λ : I × X → X`               | `left_unitor()`, `left_unitor_back()`       |
| the right unitor `ρ : X × I → X`              | `right_unitor()`, `right_unitor_back()`     |

All are isomorphisms and keep nothing: the way back of each undoes it on changes. `cdl.laws.monoidal_optics` checks
that they are natural, and that the pentagon and the triangle commute (Mac Lane, *Categories for the Working
Mathematician*, VII.1).

Examples:
    >>> rebracket = cdl.optics.structure.associator()
    >>> cdl.optics.to_lens(rebracket).get((("x", "y"), "z"))
    ('x', ('y', 'z'))
"""

from .._functors.usage import with_usage
from .letters import DV, DW, DX, DZ, V, X, Y, Z
from .optic import Optic


Left = tuple[tuple[X, Y], Z]
Right = tuple[X, tuple[Y, Z]]


@with_usage
def associator() -> Optic[Left[X, Y, Z], Right[X, Y, Z], Left[DV, DW, DZ], Right[DV, DW, DZ]]:
    """`(X × Y) × Z → X × (Y × Z)`, and back.

    Examples:
        >>> cdl.optics.to_lens(cdl.optics.structure.associator()).get((("x", "y"), "z"))
        ('x', ('y', 'z'))
        >>> cdl.optics.structure.associator().put((("x", "y"), "z"), (1, (2, 3)))
        ((1, 2), 3)
    """
    return Optic.iso(_to_the_right, _to_the_left, wires=(("x", "y"), "z"))


@with_usage
def associator_back() -> Optic[Right[X, Y, Z], Left[X, Y, Z], Right[DV, DW, DZ], Left[DV, DW, DZ]]:
    """The inverse of `associator`.

    Examples:
        >>> cdl.optics.to_lens(cdl.optics.structure.associator_back()).get(("x", ("y", "z")))
        (('x', 'y'), 'z')
    """
    return Optic.iso(_to_the_left, _to_the_right, wires=("x", ("y", "z")))


@with_usage
def left_unitor() -> Optic[tuple[tuple[()], X], X, tuple[tuple[()], DX], DX]:
    """`I × X → X`, and back.

    Examples:
        >>> cdl.optics.to_lens(cdl.optics.structure.left_unitor()).get(((), "x"))
        'x'
    """
    return Optic.iso(_second, _with_first, wires=((), "x"))


@with_usage
def left_unitor_back() -> Optic[X, tuple[tuple[()], X], DX, tuple[tuple[()], DX]]:
    """The inverse of `left_unitor`.

    Examples:
        >>> cdl.optics.to_lens(cdl.optics.structure.left_unitor_back()).get("x")
        ((), 'x')
    """
    return Optic.iso(_with_first, _second, wires="x")


@with_usage
def right_unitor() -> Optic[tuple[X, tuple[()]], X, tuple[DX, tuple[()]], DX]:
    """`X × I → X`, and back.

    Examples:
        >>> cdl.optics.to_lens(cdl.optics.structure.right_unitor()).get(("x", ()))
        'x'
    """
    return Optic.iso(_first, _with_second, wires=("x", ()))


@with_usage
def right_unitor_back() -> Optic[X, tuple[X, tuple[()]], DX, tuple[DX, tuple[()]]]:
    """The inverse of `right_unitor`.

    Examples:
        >>> cdl.optics.to_lens(cdl.optics.structure.right_unitor_back()).get("x")
        ('x', ())
    """
    return Optic.iso(_with_second, _first, wires="x")


def _to_the_right(triple: Left[X, Y, Z]) -> Right[X, Y, Z]:
    (a, b), c = triple
    return a, (b, c)


def _to_the_left(triple: Right[X, Y, Z]) -> Left[X, Y, Z]:
    a, (b, c) = triple
    return (a, b), c


def _first(pair: tuple[V, tuple[()]]) -> V:
    return pair[0]


def _second(pair: tuple[tuple[()], V]) -> V:
    return pair[1]


def _with_first(x: V) -> tuple[tuple[()], V]:
    return (), x


def _with_second(x: V) -> tuple[V, tuple[()]]:
    return x, ()
