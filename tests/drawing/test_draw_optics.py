"""Drawings of optics: every wire there and back, parameters from above, names around what they are of."""

import xml.etree.ElementTree as ET
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
from hypothesis import example, given, settings, strategies as st
from well_drawn import crossings, well_drawn

from cdl import Algebra, draw, Lens, ListF, Nil, Optic, Para, ParaOptic, reverse, supervised, to_optic
from cdl.learning import autoencoder, dream, gan, layers, losses, optimisers
from cdl.optics import to_lens


class Sum(Algebra[ListF[Any, Any], Any]):
    start: jax.Array

    def __call__(self, layer):
        return self.start if isinstance(layer, Nil) else layer.head + layer.tail


LINEAR = layers.linear(3, 3, key=jr.key(0))
SCALED = ParaOptic.of(Para(2.0, lambda p, x: p * x), name="scaled")
TANH = layers.activation(jnp.tanh)
NETWORK = layers.dense(4, 8, jnp.tanh, key=jr.key(0)) >> layers.dense(8, 3, key=jr.key(1))
DESCENT = optimisers.descent(0.1)


def called(diagram: Any, name: str) -> list[Any]:
    return [node for node in diagram.nodes if node.lines == (name,)]


def wires(diagram: Any, *, back: bool) -> Counter[tuple[str, str]]:
    """From what to what wires go, by the places of boxes and the names of ports, of which a change has the value's."""
    port = lambda n: n.lines[0].rstrip("′").replace("next", "state")
    name = {n.key: n.key if n.kind == "box" else port(n) for n in diagram.nodes}
    return Counter((name[w.source], name[w.target]) for w in diagram.wires if w.back is back)


def there_and_back(diagram: Any) -> None:
    """Every wire has one beside it that goes the other way."""
    assert wires(diagram, back=True) == Counter((b, a) for a, b in wires(diagram, back=False).elements())


def ways(diagram: Any) -> set[tuple[bool, str]]:
    """The directions in which wires arrive, on the way there and on the way back."""
    found = set()
    for wire in diagram.wires:
        (x, y), (to_x, to_y) = wire.points[-2:]
        across = {1: "right", -1: "left"}.get((to_x > x) - (to_x < x))
        found.add((wire.back, across or ("down" if to_y > y else "up")))
    return found


def test_a_layer_is_a_box_with_its_parameter_above_and_two_strands_to_every_wire():
    drawn = """
             ℝ⁹ ℝ⁹′
             │   ▲
             ▼   │
           ┌─────┴──┐
 f32[3]───▶│        ├───▶f32[3]
           │ linear │
f32[3]′◀───┤        │◀───f32[3]′
           └────────┘"""
    assert "\n" + draw(LINEAR).text == drawn
    assert ways(draw(LINEAR).diagram) == {(False, "right"), (False, "down"), (True, "left"), (True, "up")}


def test_a_learner_is_model_loss_and_rate_in_a_row_under_the_optimiser():
    learner = supervised(layers.dense(2, 1, key=jr.key(0)), losses.mse(), DESCENT)
    drawn = """
                             state next                   target target′
                               │    ▲                       │       ▲
                               ▼    │                       │       │
                      ┌─────────────┴─────────┐             │       │
                      │        descent        │             │       │
                      └─┬───────────────┬─────┘             │       │
                        │   ▲           │   ▲               │       │
                        │   │           │   │               │       │
          ┌╌ model ╌╌╌╌╌┼╌╌╌┼╌╌╌╌╌╌╌╌╌╌╌┼╌╌╌┼╌╌╌╌╌╌╌┐       │       │
          ╎             │   │           │   │       ╎       │       │
          ╎  ┌╌ dense ╌╌┼╌╌╌┼╌╌╌╌╌╌╌╌╌╌╌┼╌╌╌┼╌╌╌╌┐  ╎       │       │
          ╎  ╎          ▼   │           ▼   │    ╎  ╎       ▼       │
          ╎  ╎        ┌─────┴──┐      ┌─────┴─┐  ╎  ╎     ┌─────────┴─┐     ┌──────┐
 input────┼──┼───────▶│        ├─────▶│       ├──┼──┼────▶│           ├────▶│      │
          ╎  ╎        │ linear │      │ bias  │  ╎  ╎     │    mse    │     │ rate │
input′◀───┼──┼────────┤        │◀─────┤       │◀─┼──┼─────┤           │◀────┤      │
          ╎  ╎        └────────┘      └───────┘  ╎  ╎     └───────────┘     └──────┘
          ╎  ╎                                   ╎  ╎
          ╎  └╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┘  ╎
          ╎                                         ╎
          └╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┘"""
    assert "\n" + draw(learner).text == drawn


terms = st.recursive(
    st.sampled_from(["scaled", "tanh", "identity"]),
    lambda inner: st.tuples(st.sampled_from([">>", "@", "along", "named", "batched"]), inner, inner),
    max_leaves=7,
)


def built(term: Any) -> tuple[Any, int, int, int, int]:
    """A parametrised optic, its boxes, its wires from above, and those on its left and right."""
    match term:
        case "scaled":
            return SCALED, 1, 1, 1, 1
        case "tanh":
            return TANH, 1, 0, 1, 1
        case "identity":
            return ParaOptic.identity(), 0, 0, 1, 1
        case (how, one, two):
            (f, boxes, above, left, right), (g, more, others, ins, outs) = built(one), built(two)
            match how:
                case "named":
                    return f.named("a name"), boxes, above, left, right
                case "batched":
                    return f.batched(), boxes, above, left, right
                case "along":
                    return f.reparametrise(DESCENT.optic, at=f.params), boxes + 1, min(above, 1), left, right
                case ">>" if right == ins:
                    return f >> g, boxes + more, above + others, left, outs
            return f @ g, boxes + more, above + others, left + ins, right + outs


@settings(max_examples=25)
@given(terms)
@example(("along", (">>", "tanh", "tanh"), "scaled"))
def test_a_term_is_drawn_box_for_box_and_port_for_port_with_every_wire_there_and_back(term):
    optic, boxes, above, left, right = built(term)
    drawing = draw(optic)
    diagram = drawing.diagram
    assert diagram.count("box") == boxes
    assert diagram.count("parameter") == 2 * above
    assert diagram.count("port") == 2 * (left + right)
    well_drawn(diagram)
    there_and_back(diagram)
    assert ways(diagram) <= {(False, "right"), (False, "down"), (True, "left"), (True, "up")}
    for node in diagram.nodes:
        assert all(line in drawing.text for line in node.lines)


def test_layers_are_in_the_boxes_that_they_make_up():
    diagram = draw(supervised(NETWORK, losses.cross_entropy(), DESCENT)).diagram
    well_drawn(diagram)
    there_and_back(diagram)
    assert crossings(diagram) == 0
    model, first, second = sorted(diagram.frames, key=lambda frame: frame.x)
    assert [frame.name for frame in (model, first, second)] == ["model", "dense", "dense"]
    assert [model.holds(frame) for frame in (first, second)] == [True, True]
    held = lambda frame: [node.lines[0] for node in diagram.nodes if frame.holds(node)]
    assert [held(frame) for frame in (first, second)] == [["linear", "bias", "tanh"], ["linear", "bias"]]
    assert held(model) == held(first) + held(second)
    descent, loss = called(diagram, "descent"), called(diagram, "cross entropy")
    assert not any(model.holds(box) for box in descent + loss)
    learnt = [box for name in ("linear", "bias") for box in called(diagram, name)]
    assert Counter({(descent[0].key, box.key): 1 for box in learnt}) <= wires(diagram, back=False)


def test_a_dream_has_the_optimiser_on_its_input_and_the_parameters_on_the_left():
    diagram = draw(dream(NETWORK, jnp.ones(4), losses.dot(), optimisers.ascent())).diagram
    well_drawn(diagram)
    there_and_back(diagram)
    (ascent,), first = called(diagram, "ascent"), called(diagram, "linear")[0]
    there = wires(diagram, back=False)
    assert there[ascent.key, first.key] == there["state", ascent.key] == 1
    assert there["ℝ³²", first.key] == 1
    assert [n.kind for n in called(diagram, "ℝ³²")] == ["port"]
    assert [n.kind for n in called(diagram, "state")] == ["parameter"]


def test_an_autoencoder_has_its_input_for_target():
    encoder, decoder = layers.dense(4, 2, key=jr.key(0)), layers.dense(2, 4, key=jr.key(1))
    diagram = draw(autoencoder(encoder, decoder, losses.mse(), DESCENT)).diagram
    well_drawn(diagram)
    assert {frame.name for frame in diagram.frames} == {"model", "encoder", "decoder", "dense"}
    (dot,), (loss,), first = called(diagram, " "), called(diagram, "mse"), called(diagram, "linear")[0]
    assert {w.target for w in diagram.wires if w.source == dot.key} == {loss.key, first.key}
    assert [w.back for w in diagram.wires if dot.key in (w.source, w.target)] == [False] * 3
    changes = {n.key: n.lines[0] for n in diagram.nodes if n.kind == "port" and n.lines[0].endswith("′")}
    found = {changes[w.target]: w.source for w in diagram.wires if w.target in changes}
    assert found == {"input′": first.key, "target′": loss.key}


def boxes(optic: Any) -> int:
    return sum(node.kind == "box" for node in draw(optic).diagram.nodes)


def test_a_lens_with_a_way_back_of_its_own_is_one_box():
    both = Lens(jnp.sin, lambda x, dy: dy) >> Lens(jnp.cos, lambda x, dy: dy)
    smooth = to_lens(reverse(jnp.sin) >> reverse(jnp.cos))
    assert boxes(both) == boxes(smooth) == boxes(jax.tree.map(lambda x: x, smooth)) == 2
    assert boxes(Lens(both.get, lambda x, dy: -dy)) == boxes(Lens(both.get, smooth.put)) == 1


def test_an_adversarial_pair_has_one_critic_twice_along_its_copy_and_an_optimiser_each():
    made = layers.bias(2), layers.linear(2, 1, key=jr.key(0))
    diagram = draw(gan(*made, DESCENT, optimisers.ascent())).diagram
    well_drawn(diagram)
    there_and_back(diagram)
    (copy,), (payoff,), critics = called(diagram, "copy"), called(diagram, "payoff"), called(diagram, "linear")
    there = wires(diagram, back=False)
    assert [there[copy.key, box.key] for box in critics] == [there[box.key, payoff.key] for box in critics] == [1, 1]
    assert [there[box.key, copy.key] for name in ("descent", "ascent") for box in called(diagram, name)] == [1, 1]


def test_an_exchange_is_drawn_as_a_crossing_of_wires():
    diagram = draw((reverse(jnp.sin) @ reverse(jnp.cos)) >> Optic.swap()).diagram
    well_drawn(diagram)
    there_and_back(diagram)
    assert crossings(diagram) > 0
    assert crossings(draw(reverse(jnp.sin) @ reverse(jnp.cos)).diagram) == 0
    alone = draw(Optic.swap()).diagram
    well_drawn(alone)
    assert wires(alone, back=False) == Counter([("x₀", "y₁"), ("x₁", "y₀")])


def test_lenses_are_drawn_as_optics_and_remember_what_they_are_composed_of():
    lens = Lens(len, lambda text, n: text[:n]) >> Lens(abs, lambda n, m: m)
    for form in (lens, to_optic(lens), to_lens(to_optic(lens))):
        assert [n.lines[0] for n in draw(form).diagram.nodes if n.kind == "box"] == ["len", "abs"]
    assert draw(lens @ lens).diagram.count("port") == 8


def test_data_that_nobody_wants_the_change_of_have_no_way_back():
    reader = layers.fold(Sum(jnp.zeros(2)))
    diagram = draw(reader).diagram
    well_drawn(diagram)
    assert [n.lines[0] for n in diagram.nodes if n.kind == "port"] == ["x", "y", "y′"]
    learner = draw(supervised(reader, losses.mse(), DESCENT)).diagram
    assert "input′" not in [n.lines[0] for n in learner.nodes]
    assert called(learner, "fold Sum")


def test_ends_have_the_shapes_that_are_known():
    names = lambda diagram: [n.lines[0] for n in diagram.nodes if n.kind == "port"]
    assert names(draw(NETWORK).diagram) == ["f32[4]", "f32[4]′", "f32[3]", "f32[3]′"]
    assert names(draw(TANH, jnp.ones((2, 2))).diagram) == ["f32[2,2]", "f32[2,2]′"] * 2
    learner = supervised(NETWORK.batched(5), losses.cross_entropy(), DESCENT)
    diagram = draw(learner, (jnp.ones((5, 4)), jnp.ones(5, int))).diagram
    assert names(diagram) == ["f32[5,4]", "f32[5,4]′"]
    assert called(diagram, "i32[5]")[0].kind == "parameter"


def test_the_way_back_is_told_apart_in_every_form(tmp_path):
    drawing = draw(LINEAR)
    root = ET.fromstring(drawing.svg)
    paths = [path for path in root.iter("{http://www.w3.org/2000/svg}path") if path.get("fill") == "none"]
    assert Counter(path.get("marker-end") for path in paths) == {"url(#tip)": 3, "url(#back)": 3}
    assert len({path.get("stroke") for path in paths}) == 2
    assert drawing.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (
        drawing.mermaid
        == """\
flowchart LR
  n0>"f32[3]"]
  n1>"f32[3]′"]
  n2["linear"]
  n3{{"ℝ⁹"}}
  n4{{"ℝ⁹′"}}
  n5>"f32[3]"]
  n6>"f32[3]′"]
  n0 --> n2
  n2 -.-> n1
  n2 --> n5
  n6 -.-> n2
  n3 --> n2
  n2 -.-> n4
"""
    )
