"""Terms as diagrams of DisCoPy: box for box, wire for wire, and with the same values by a functor to functions."""

import sys
from typing import Any

import jax
import pytest
from hypothesis import given, settings
from para_terms import built, F, G, terms

from cdl import draw, Para
from cdl.drawing import to_discopy
from cdl.para import fanout, identity, swap, two_cells


def weights(term: Any) -> int:
    """How many wires of parameters a term has."""
    match term:
        case str():
            return int(term == "f")
        case ("named", one, _):
            return weights(one)
        case ("along", one, _):
            return min(weights(one), 1)
        case (_, one, two):
            return weights(one) + weights(two)


@settings(max_examples=25)
@given(terms)
def test_a_diagram_has_the_boxes_and_the_wires_of_the_term(term):
    symmetric = pytest.importorskip("discopy.symmetric")
    para, boxes, _ = built(term)
    diagram, drawn = to_discopy(para), draw(para).diagram
    made = [box for box in diagram.boxes if not isinstance(box, symmetric.Swap)]
    assert len([box for box in made if box.name != "copy"]) == boxes == drawn.count("box")
    assert len([box for box in made if box.name == "copy"]) == drawn.count("dot")
    names = [wire.name for wire in diagram.dom]
    assert names[weights(term) :] == ["X"] * (len(names) - weights(term))
    assert all(name.startswith("ℝ") for name in names[: weights(term)])
    assert len(names) - weights(term) + len(diagram.cod) == drawn.count("port")


def test_a_composite_is_composed_with_parameters_in_the_order_of_the_term():
    symmetric = pytest.importorskip("discopy.symmetric")
    x, p = symmetric.Ty("X"), symmetric.Ty("ℝ¹²")
    affine, tanh = symmetric.Box("affine", p @ x, x), symmetric.Box("tanh", x, x)
    assert to_discopy(F >> G) == affine >> tanh
    assert to_discopy(F >> F) == symmetric.Swap(p, p) @ x >> p @ affine >> affine
    assert to_discopy(F @ F) == p @ symmetric.Swap(p, x) @ x >> affine @ affine
    assert to_discopy(swap()) == symmetric.Swap(x, x)
    assert to_discopy(identity()) == symmetric.Id(x)
    assert to_discopy(fanout(G, G)) == symmetric.Box("copy", x, x @ x) >> tanh @ tanh
    tied = (F >> F).reparametrise(two_cells.delta(2), at=F.params)
    assert to_discopy(tied) == symmetric.Box("Δ", p, p @ p) @ x >> to_discopy(F >> F)
    assert to_discopy((F >> G).named("layer")) == to_discopy(F >> G)


def scaled(p, x):
    return p * x


def joined(p, pair):
    return p * pair[0] - pair[1]


def parted(p, x):
    return x + p, x * p


S, J, T = Para(2.0, scaled), Para(3.0, joined), Para(5.0, parted)


FUNCTIONS = {
    "scaled": scaled,
    "joined": lambda p, a, b: joined(p, (a, b)),
    "parted": parted,
    "copy": lambda x: (x, x),
    "r": lambda p: (p, p, 2 * p),
}


@pytest.mark.parametrize(
    ("para", "inputs"),
    [
        (S >> T >> (S @ S) >> J, (1.5,)),
        ((S @ T) >> (S @ (swap() >> J)), (1.5, 7.0)),
        (fanout(S, S >> S) >> swap() >> J, (0.5,)),
        ((((S @ S) >> swap()).named("a name")) >> J, (1.5, 7.0)),
        (((S >> S) @ S).reparametrise(lambda p: ((p, p), 2 * p), at=3.0), (1.5, 7.0)),
    ],
    ids=["then", "beside", "fan", "named", "along"],
)
def test_a_functor_to_functions_has_the_values_of_the_map(para, inputs):
    symmetric, python = pytest.importorskip("discopy.symmetric"), pytest.importorskip("discopy.python")
    functor = symmetric.Functor(
        ob=lambda wire: float,
        ar=lambda box: python.Function(FUNCTIONS[box.name], (float,) * len(box.dom), (float,) * len(box.cod)),
        cod=symmetric.Category(python.Ty, python.Function),
    )
    values = functor(to_discopy(para))(*jax.tree.leaves(para.params), *inputs)
    assert jax.tree.leaves(values) == jax.tree.leaves(para(inputs if len(inputs) > 1 else inputs[0]))


def test_without_discopy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "discopy.symmetric", None)
    with pytest.raises(ImportError, match="pip install discopy"):
        to_discopy(F)
