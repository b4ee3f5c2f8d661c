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
    algebra = Algebra("float", ("float64",), ("plain",), own, inner, {}, {}, False, keyed, 1)
    family, trees = (WITHOUT_MANY, TREES[:-1]) if form == "follow" else (FAMILY, TREES)
    return Case(form, transform, True, family, algebra, trees, None, tuple(range(len(trees))))


def twins(names: tuple[str, ...], style: str) -> Case:
    """Constructors in pairs, whose cases differ only in what one cell closes over."""
    kinds = [Constructor(f"N{i}{twin}", 0, (("f0", PLACE),)) for i in range(len(names)) for twin in ("", "t")]
    own = {f"N{i}{twin}.f0": name for i, name in enumerate(names) for twin in ("", "t")}
    algebra = Algebra(style, ("float64",), ("plain",), own)
    trees = tuple(Node(c.name, (_leaf("0.4"),)) for c in kinds)
    return Case("fold", "value", True, Family(1, (LEAF, *kinds)), algebra, trees, None, (0,))


def of_lists(form: str, transform: str, names: tuple[str, ...]) -> Case:
    """A form of lists, or a machine, whose cell is the sum of these."""
    first, *more = (f'jnp.array([{a}, {b}], "float64")' for a, b in ((0.4, 1.0), (0.9, -1.0), (0.2, 0.5)))
    drawn = Lists("float64", "+".join(names), "vector", ((first, *more), (first,)), True, False, False, 1)
    return Case(form, transform, True, Family(1, ()), Algebra("float", ("float64",), ("plain",)), (), drawn)


def dealt(names: tuple[str, ...], turn: int) -> dict[str, Any]:
    """Cells dealt out to the places; in as many turns as there are places, each is once at each."""
    every = len(PLACES)
    return {p: names[(i + turn) % every :: every] for i, p in enumerate(PLACES)}
