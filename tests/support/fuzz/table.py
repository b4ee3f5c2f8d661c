"""The table of cells: each in a case of one place, of slots, of a `tuple[X, ...]` and of a `Many`, and in other forms.

Several cells at once stand in one case, as their sum, so that a program is made once for all.
"""

from typing import Any

from . import cells
from .algebras import Algebra
from .cases import Case
from .families import Constructor, Family
from .lists import Lists
from .trees import Node


PLACE = ("x", 0)
KINDS = {"One": (PLACE,), "Two": (PLACE, PLACE), "Row": (("list", PLACE),), "Some": (("many", 0),)}
LEAF = Constructor("Leaf", 0, (("f0", ("data", ("py", "float"))),))
FAMILY = Family(
    1, (LEAF, *(Constructor(n, 0, tuple((f"f{i}", t) for i, t in enumerate(terms))) for n, terms in KINDS.items()))
)
WITHOUT_MANY = Family(1, FAMILY.constructors[:-1])  # what `follow` reads
PLACES = ("One.f0", "Two.f0", "Two.f1", "Row.f0", "Some.f0", "Some.f0'")  # the last: inside of `map`


def _leaf(value: str) -> Node:
    return Node("Leaf", (value,))


TREES = (
    Node("One", (_leaf("0.3"),)),
    Node("Two", (_leaf("0.7"), Node("One", (_leaf("-1.2"),)))),
    Node("Row", ((_leaf("0.5"), _leaf("-0.4")),)),
    Node("Some", ((_leaf("0.1"), _leaf("0.9"), Node("Two", (_leaf("-0.6"), _leaf("1.4")))),)),
)
NO_KEY = tuple(c for c in cells.SMOOTH if c != "Dropout")


def case(form: str, transform: str, at: dict[str, Any], *, keyed: bool = False) -> Case:
    """A form of the table's family, with cells at each of some places."""
    own = {p: "+".join(names) for p, names in at.items() if not p.endswith("'")}
    inner = {p[:-1]: "+".join(names) for p, names in at.items() if p.endswith("'")}
    algebra = Algebra("float", ("float64",), ("plain",), own, inner, {}, {}, keyed=keyed, seed=1)
    family, trees = (WITHOUT_MANY, TREES[:-1]) if form == "follow" else (FAMILY, TREES)
    return Case(form, transform, True, family, algebra, trees, None, tuple(range(len(trees))))


def twins(names: tuple[str, ...], style: str) -> Case:
    """Constructors in pairs, whose cases differ only in what one cell closes over."""
    kinds = [Constructor(f"N{i}{twin}", 0, (("f0", PLACE),)) for i in range(len(names)) for twin in ("", "t")]
    own = {f"N{i}{twin}.f0": name for i, name in enumerate(names) for twin in ("", "t")}
    algebra = Algebra(style, ("float64",), ("plain",), own)
    trees = tuple(Node(c.name, (_leaf("0.4"),)) for c in kinds)
    return Case("fold", "value", True, Family(1, (LEAF, *kinds)), algebra, trees, None, (0,))


X0, X1 = PLACE, ("x", 1)
SIDES = Family(  # sorts side by side, whose constructors differ in their weights alone, in pairs
    2,
    (
        LEAF,
        Constructor("Stop", 1, (("f0", ("data", ("py", "int"))),)),
        *(
            Constructor(n + twin, s, tuple((f"f{i}", t) for i, t in enumerate(terms)))
            for n, s, terms in (("Two", 0, (X0, X1)), ("Row", 1, (X1, ("list", X0))), ("Some", 0, (("many", 1),)))
            for twin in ("", "t")
        ),
    ),
)
STOP = Node("Stop", ("3",))
ROWS = tuple(Node(n, (STOP, tuple(map(_leaf, xs)))) for n, xs in (("Row", ("0.2", "-0.7")), ("Rowt", ("1.1", "0.4"))))
SIDE_TREES = (
    Node("Two", (Node("Twot", (_leaf("0.3"), ROWS[0])), Node("Row", (ROWS[1], ())))),
    Node("Rowt", (ROWS[0], (Node("Twot", (_leaf("-0.4"), STOP)), _leaf("0.8")))),
    STOP,
    Node("Some", ((*ROWS, STOP),)),
    Node("Somet", ((Node("Row", (STOP, (Node("Some", ((),)), Node("Two", (_leaf("0.5"), STOP))))),),)),
)


def sides(form: str, transform: str, cell: str) -> Case:
    """A form of sorts side by side, with weights in stacks; at one place, a cell with weights of its own."""
    grows = form in ("follow", "unfold_key", "refold")
    family = Family(2, SIDES.constructors[:-2]) if grows else SIDES
    places = [p + twin for twin in ("", "t") for p in ("Two", "Row", "Some")]
    own = {f"{p}.f0": cell for p in places}
    algebra = Algebra("float", ("float64", "float64"), ("plain", "pair"), own, {}, {}, {}, stacked=True, seed=4)
    trees = SIDE_TREES[:3] if grows else SIDE_TREES
    return Case(form, transform, True, family, algebra, trees, None, tuple(range(len(trees))))


def of_lists(form: str, transform: str, names: tuple[str, ...]) -> Case:
    """A form of lists, or a machine, whose cell is the sum of these."""
    first, *more = (f'jnp.array([{a}, {b}], "float64")' for a, b in ((0.4, 1.0), (0.9, -1.0), (0.2, 0.5)))
    drawn = Lists("float64", "+".join(names), "vector", ((first, *more), (first,)), True, False, 1)
    return Case(form, transform, True, Family(1, ()), Algebra("float", ("float64",), ("plain",)), (), drawn)


def dealt(names: tuple[str, ...], turn: int) -> dict[str, Any]:
    """Cells dealt out to the places; in as many turns as there are places, each is once at each."""
    every = len(PLACES)
    return {p: names[(i + turn) % every :: every] for i, p in enumerate(PLACES)}
