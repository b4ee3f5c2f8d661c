"""Drawings: what is drawn is what there is, and it can be read."""

import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from hypothesis import given, settings
from para_terms import built, F, G, terms
from random_signatures import random_signature, random_trees, size
from well_drawn import crossings, well_drawn

from cdl import algebra, Automaton, CdlError, draw, explain, Fork, Leaf, Many, Node, Para, RoseF, to_list, TreeF, unroll
from cdl.errors import PortMismatch, SignatureError
from cdl.functors import Link
from cdl.learning import layers
from cdl.machines import delay, series, stateless
from cdl.para import fanout, swap, two_cells


def test_a_composite_is_its_boxes_from_left_to_right_with_parameters_on_top():
    drawn = """
             ℝ¹²
              │
              ▼
          ┌────────┐     ┌──────┐
f32[3]───▶│ affine ├────▶│ tanh ├───▶f32[3]
          └────────┘     └──────┘"""
    assert "\n" + draw(F >> G, jnp.ones(3)).text == drawn


@settings(max_examples=25)
@given(terms)
def test_a_term_is_drawn_box_for_box_and_port_for_port(term):
    para, boxes, params = built(term)
    drawing = draw(para)
    assert drawing.diagram.count("box") == boxes
    assert drawing.diagram.count("parameter") == params
    well_drawn(drawing.diagram)
    for node in drawing.diagram.nodes:
        assert all(line in drawing.text for line in node.lines)


@pytest.mark.parametrize(
    "planar", [F >> F @ G >> F, fanout(F, G >> F) >> F, (F @ (G @ F)) >> (F @ F)], ids=["then", "fan", "beside"]
)
def test_wires_of_a_term_without_a_swap_do_not_cross(planar):
    assert crossings(draw(planar).diagram) == 0


def test_a_reparametrisation_stands_above_what_it_feeds():
    drawn = """
               ℝ¹²
                │
                ▼
       ┌──────────────────┐
       │        Δ         │
       └─┬──────────────┬─┘          ℝ¹²
         │              │             │
         ▼              ▼             ▼
     ┌────────┐     ┌────────┐     ┌─────┐
x───▶│ affine ├────▶│ affine ├────▶│ out ├───▶y
     └────────┘     └────────┘     └─────┘"""
    tied = (F >> F).reparametrise(two_cells.delta(2), at=F.params)
    assert "\n" + draw(tied >> F.named("out")).text == drawn
    both = draw(((F @ F).reparametrise(two_cells.delta(2), at=F.params)).named("both")).diagram
    (frame,), (delta,) = both.frames, [n for n in both.nodes if n.lines == ("Δ",)]
    fed = [n for n in both.nodes if n.lines == ("affine",)]
    assert [w.target for w in both.wires if w.source == delta.key] == [n.key for n in fed]
    assert all(frame.holds(n) for n in (delta, *fed))
    well_drawn(both)


def test_a_name_is_on_the_box_and_costs_nothing():
    named = (F >> G).named("layer")
    assert draw(named).diagram.frames[0].name == "layer"
    assert draw(F.named("W")).diagram.nodes[1].lines == ("W",)


def test_a_signature_is_its_constructors_with_their_places():
    drawn = """
┌╌ Tree ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┐
╎                                ╎
╎                ┌──────┐        ╎
╎  label: A─────▶│ Leaf ├────▶X  ╎
╎                └──────┘        ╎
╎                                ╎
╎                ┌──────┐        ╎
╎   left: X─────▶│      │        ╎
╎                │ Fork ├────▶X  ╎
╎  right: X─────▶│      │        ╎
╎                └──────┘        ╎
╎                                ╎
└╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┘

F X = A + X²"""
    assert "\n" + draw(TreeF).text == drawn


def test_a_family_is_a_frame_for_each_sort_with_places_of_both():
    from families import algebras, FAMILY, LAM

    drawing = draw(FAMILY)
    well_drawn(drawing.diagram)
    assert [frame.name for frame in drawing.diagram.frames] == ["Expr", "Stmt"]
    assert drawing.diagram.notes == (
        "F₀(X₀, X₁) = float + X₀ + Many(X₁)", "F₁(X₀, X₁) = X₀ + X₀ × Many(X₁) + X₁ × X₀"
    )  # fmt: skip
    algs = algebras(jnp.float32)
    cases = draw(algs).diagram
    assert [frame.name for frame in cases.frames] == ["OfExpr", "OfStmt"]
    ports = [line for node in cases.nodes if node.kind == "port" for line in node.lines]
    assert ports[-3:] == ["first: S₁", "last: S₀", "S₁"]
    fold = draw(algs, LAM).diagram
    assert fold.notes[0] == "(OfExpr, OfStmt) at 13 nodes; P = ℝ¹⁸"
    marks = {node.lines[0].split()[0]: node.lines[1] for node in fold.nodes}
    assert marks == dict.fromkeys(["Lam", "Neg", "Lit"], "p₀") | dict.fromkeys(["Return", "While", "Then"], "p₁")


@pytest.mark.parametrize("seed", range(6))
def test_random_signatures_and_their_trees_are_drawn_node_for_node(seed):
    signature, kinds = random_signature(seed)
    whole = draw(signature).diagram
    well_drawn(whole)
    assert whole.count("box") == len(kinds)
    for tree in random_trees(signature, seed, 4, 30):
        diagram = draw(tree).diagram
        well_drawn(diagram)
        assert crossings(diagram) == 0
        assert diagram.count("box") == size(tree)
        assert len(diagram.wires) == len(diagram.nodes) - 1


def test_a_tree_shows_payloads_children_in_order_and_empty_places():
    drawn = """
           ┌────────┐
           │ Node 1 │
           └───┬────┘
       ┌───────┴────────┐
┌──────┴──────┐  ┌──────┴──────┐
│ Node f32[3] │  │ Node 'leaf' │
└─────────────┘  └─────────────┘"""
    assert "\n" + draw(Node(1.0, Many([Node(jnp.ones(3), Many()), Node("leaf", Many())]))).text == drawn
    assert draw(Link(2, None)).diagram.nodes[1].lines == ("none",)


def test_a_deep_tree_is_drawn_as_far_as_there_is_room():
    diagram = draw(to_list(range(10_000))).diagram
    assert diagram.count("box") == 150
    assert diagram.nodes[-1].lines == ("…",)


class Net(eqx.Module):
    leaf: eqx.nn.Linear
    fork: eqx.nn.Linear

    def __call__(self, layer):
        if isinstance(layer, Leaf):
            return self.leaf(jnp.asarray([layer.label]))
        return jnp.tanh(self.fork(jnp.concatenate([layer.left, layer.right])))


NET = Para.of(Net(eqx.nn.Linear(1, 2, key=jr.key(0)), eqx.nn.Linear(4, 2, key=jr.key(1))))
TREE = Fork(Leaf(1.0), Fork(Leaf(0.5), Leaf(2.0)))


def test_a_network_of_a_tree_says_which_copy_of_the_weights_each_node_uses():
    untied = unroll(NET, TREE)
    marks = lambda drawing: [n.lines[1] for n in drawing.diagram.nodes]
    assert marks(draw(untied)) == ["p₀", "p₁", "p₂", "p₃", "p₄"]
    assert draw(untied).diagram.notes == ("Net at 5 nodes, with P⁵; P = ℝ¹⁴",)
    assert marks(draw(untied.tied())) == ["p₀"] * 5
    by_kind = draw(untied.tied(lambda place: place.constructor))
    assert marks(by_kind) == ["p₀", "p₁", "p₀", "p₁", "p₁"]
    assert by_kind.diagram.notes == (
        "Net at 5 nodes, with P², along Δ : P² → P⁵; P = ℝ¹⁴", "p₀  2 × Fork", "p₁  3 × Leaf"
    )  # fmt: skip
    well_drawn(by_kind.diagram)
    leaves, others = ({n.tint for n in by_kind.diagram.nodes if n.lines[0][:4] == kind} for kind in ("Leaf", "Fork"))
    assert len(leaves) == len(others) == 1
    assert leaves != others


def test_the_square_of_a_fold_is_drawn_with_its_2_cell():
    from cdl.para import square

    diagram = draw((found := square(NET)).along(found.cell)).diagram
    fold, cell, delta = [n for n in diagram.nodes if n.kind == "box"]
    assert [n.lines[0] for n in (fold, cell, delta)] == ["F (fold Net)", "Net", "Δ"]
    assert [n.lines[0] for n in diagram.nodes if n.kind == "parameter"] == ["ℝ¹⁴"]
    assert [w.target for w in diagram.wires if w.source == delta.key] == [fold.key, cell.key]
    well_drawn(diagram)


THIRDS = Automaton([[0, 1], [1, 2], [2, 0]], [True, False, False])


def test_every_form_has_every_name(tmp_path):
    drawing = draw((F @ G.named('<g> & "h"')) >> swap())
    for name in ("affine", "ℝ¹²"):
        assert name in drawing.text
        assert name in drawing.mermaid
        assert name in drawing.svg
    root = ET.fromstring(drawing.svg)
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == sorted(line for n in drawing.diagram.nodes for line in n.lines)
    assert "#60;g#62; #38; #34;h#34;" in drawing.mermaid
    assert drawing._repr_svg_() == drawing.svg
    assert str(drawing) == drawing.text
    assert drawing.save(tmp_path / "a.txt").read_text() == drawing.text + "\n"
    assert drawing.save(tmp_path / "a.svg").read_text() == drawing.svg
    assert drawing.save(tmp_path / "a.mmd").read_text() == drawing.mermaid
    assert drawing.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_mermaid_has_the_wires_and_the_frames():
    assert (
        draw((F >> F).named("twice")).mermaid
        == """\
flowchart LR
  n0>"x"]
  n5>"y"]
  subgraph f0["twice"]
    n1["affine"]
    n2{{"ℝ¹²"}}
    n3["affine"]
    n4{{"ℝ¹²"}}
  end
  n0 --> n1
  n1 --> n3
  n2 --> n1
  n3 --> n5
  n4 --> n3
"""
    )


def test_a_picture_without_matplotlib_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        draw(TreeF).save(tmp_path / "a.png")


SILENT, LINEAR = algebra(lambda layer: 0.0), layers.linear(3, 2, key=jr.key(0))
ROWS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: draw(3), CdlError, "3 Para"),
    (lambda: draw(lambda seed: Leaf(seed)), CdlError, "draw(machine, draw(coalgebra, seed)"),
    (lambda: draw(TREE, SILENT), CdlError, "Tree draw(algebra, tree"),
    (lambda: draw(TreeF, TREE), CdlError, "Tree leave"),
    (lambda: draw(THIRDS, TREE), CdlError, "Tree leave"),
    (lambda: draw(SILENT), SignatureError, "algebra signature"),
    (lambda: draw((SILENT, SILENT), signature=(RoseF,)), SignatureError, "2 1"),
    (lambda: draw(SILENT, RoseF, signature=RoseF), CdlError, "two signatures"),
    (lambda: draw(stateless(abs), signature=RoseF), CdlError, "signature"),
    (lambda: draw(series(stateless(abs), delay(0.0))), CdlError, "series machine Moore"),
    (lambda: draw(LINEAR, jnp.ones(5)), PortMismatch, "linear f32[5]"),
    (lambda: draw(TreeF).save("a.foo"), CdlError, "a.foo .svg, .mmd .txt,"),
    (lambda: draw(TreeF).save("a"), CdlError, "ending"),
]


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[words for *_, words in ROWS])
def test_draw_refuses(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as told:
        call()
    assert [word for word in words.split() if word not in str(told.value)] == []


def test_draw_takes_a_signature_by_place_or_by_name(getkey):
    from cdl_arch.recursive import tree_rnn

    net = tree_rnn(RoseF, 2, payload={Node: 1}, key=getkey())
    named, node = draw(SILENT, signature=RoseF), Node(1.0, Many())
    for drawing in (draw(net), draw(net, RoseF), draw(SILENT, RoseF), named):
        assert drawing.diagram.count("box") == 1
    assert draw(SILENT, node, signature=RoseF).text == draw(SILENT, node).text
    assert draw((SILENT,), signature=(RoseF,)).text == draw(SILENT, RoseF).text


def test_a_plain_function_is_drawn_and_explained_where_a_signature_says_what_it_reads():
    def total(layer):
        match layer:
            case Leaf(value):
                return jnp.asarray(value)
            case Fork(left, right):
                return left + right

    tree = Fork(Leaf(1.0), Leaf(2.0))
    signature = TreeF[float, jax.Array]
    assert draw(total, tree, signature=signature).text == draw(algebra(total), tree, signature=signature).text
    assert explain(total, [tree], signature=signature).holds
