"""Machines, what grows and automata are drawn: each box, each state and each transition."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from well_drawn import well_drawn

from cdl import Automaton, draw, Fork, Leaf, Para
from cdl.functors import StreamF
from cdl.machines import delay, feedback, minimise, parallel, series, stateless


def test_a_machine_is_a_box_with_its_state_fed_back(getkey):
    from cdl_arch.mealy import FullRNN
    from cdl_arch.moore import Recogniser
    from cdl_arch.unfolding import generator

    for machine, boxes, ports in [
        (Recogniser(2, 3, key=getkey()), 2, 2),
        (FullRNN(2, 3, 1, key=getkey()), 1, 2),
        (generator(3, key=getkey()), 1, 1),
    ]:
        diagram = draw(machine).diagram
        well_drawn(diagram)
        assert (diagram.count("box"), diagram.count("port"), diagram.count("parameter")) == (boxes, ports, 1)
        assert [w.label for w in diagram.wires if w.label] == ["S"]
    shown = draw(lambda state: StreamF(state, lambda: state), 0).diagram
    assert (shown.frames[0].name, shown.count("parameter")) == ("f", 0)
    assert draw(stateless(abs), ()).diagram.count("box") == 1


def test_machines_put_together_are_drawn_from_their_parts_with_states_from_above(getkey):
    from cdl_arch.mealy import FullRNN

    cell = FullRNN(2, 3, 1, key=getkey())
    drawn = """
         state next
           │    ▲
           │    │
      ℝ⁶⁴  │    │
       │   │    │
       ▼   ▼    │
     ┌──────────┴─┐     ┌─────┐
x───▶│  FullRNN   ├────▶│ abs ├───▶y
     └────────────┘     └─────┘"""
    assert "\n" + draw(series(cell, stateless(abs))).text == drawn


machines = st.recursive(
    st.sampled_from(["delay", "stateless"]),
    lambda inner: st.tuples(st.sampled_from(["series", "parallel", "feedback"]), inner, inner),
    max_leaves=6,
)


def machine(term):
    """A machine, its boxes, its states, and how many wires come in and out."""
    if isinstance(term, str):
        return (delay, 1, 1, 1, 1) if term == "delay" else (stateless(abs), 1, 0, 1, 1)
    how, one, two = term
    (f, boxes, states, i, o), (g, more, others, j, p) = machine(one), machine(two)
    if how == "series" and o == j:
        return series(f, g), boxes + more, states + others, i, p
    if how == "feedback" and j == p == 1:
        return parallel(f, feedback(abs, g)), boxes + more + 1, states + others + 1, i + 1, o + 1
    return parallel(f, g), boxes + more, states + others, i + j, o + p


@settings(max_examples=20)
@given(st.tuples(st.sampled_from(["series", "parallel", "feedback"]), machines, machines))
def test_random_machines_are_drawn_box_for_box_and_state_for_state(term):
    made, boxes, states, ins, outs = machine(term)
    diagram = draw(made).diagram
    well_drawn(diagram)
    found = [diagram.count(kind) for kind in ("box", "parameter", "port")]
    assert found == [boxes, 2 * states, ins + outs]


def test_what_is_fed_back_goes_round_to_the_box_that_takes_it():
    diagram = draw(feedback(abs, delay)).diagram
    (x,), (y,) = ([n.key for n in diagram.nodes if n.lines == (name,)] for name in "xy")
    first, loop = [n for n in diagram.nodes if n.kind == "box"]
    ends = {x, y, first.key, loop.key}
    there = [(w.source, w.target) for w in diagram.wires if {w.source, w.target} <= ends]
    assert sorted(there) == sorted([(x, first.key), (first.key, y), (first.key, loop.key), (loop.key, first.key)])


def test_what_grows_is_drawn_as_what_reads_with_the_copy_that_each_node_uses():
    from cdl.para import unroll_coalgebra, unroll_machine

    drawn = """
     ┌──────┐
     │ Fork │
     │  p₀  │
     └──┬───┘
   ┌────┴────┐
┌──┴───┐  ┌──┴───┐
│ Leaf │  │ Fork │
│  p₁  │  │  p₁  │
└──────┘  └──┬───┘
            ┌┴─┐
            …  …

grow at 3 nodes, with P², along Δ : P² → P³; P = ℝ¹
p₀  1 × Fork
p₁  1 × Leaf, 1 × Fork"""

    def grow(p, seed):
        return Fork(seed - 2 * p, seed - p) if seed > 1 else Leaf(seed)

    grown = unroll_coalgebra(Para(1.0, grow), 3.0, 2)
    assert "\n" + draw(grown.tied(lambda place: place.depth)).text == drawn
    marks = [n.lines for n in draw(grown).diagram.nodes if n.kind == "box"]
    assert marks == [("Fork", "p₀"), ("Leaf", "p₁"), ("Fork", "p₂")]
    run = unroll_machine(Para(1.0, lambda p, s: delay(s)), 0.0, range(4))
    assert [n.lines for n in draw(run).diagram.nodes] == [("MooreF", f"p{i}") for i in "₀₁₂₃₄"]
    well_drawn(draw(run).diagram)


THIRDS = Automaton([[0, 1], [1, 2], [2, 0]], [True, False, False])


def test_an_automaton_is_its_states_and_transitions():
    drawn = """
             0             0             0
            ┌──┐          ┌──┐          ┌──┐
            │  ▼          │  ▼          │  ▼
          ╔═╧════╗  1   ╭─┴────╮  1   ╭─┴────╮
start────▶║  0   ╟─────▶│  1   ├─────▶│  2   │
          ╚══════╝      ╰──────╯      ╰──┬───╯
             ▲                           │
             └───────────────────────────┘
                           1"""
    assert "\n" + draw(THIRDS).text == drawn


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("mealy", [True, False])
def test_random_automata_have_an_arc_for_each_pair_of_states_that_a_letter_joins(seed, mealy):
    rng = np.random.default_rng(seed)
    states, letters = 2 + seed, 1 + seed % 3
    outputs = rng.integers(0, 3, (states, letters) if mealy else states)
    automaton = minimise(Automaton(rng.integers(0, states, (states, letters)), outputs))
    diagram = draw(automaton).diagram
    joined = {(s, int(t)) for s in range(automaton.states) for t in automaton.next[s]}
    assert diagram.count("state") == automaton.states
    assert len(diagram.wires) == len(joined) + 1
    well_drawn(diagram)
