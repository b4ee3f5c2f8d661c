"""Terms: every architecture says how it was put together, and the types of its wires are inferred."""

import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from hypothesis import given, settings
from para_terms import built, F, G, terms

from cdl import draw, Optic, Para, ParaOptic, reverse, supervised
from cdl.errors import PortMismatch
from cdl.learning import layers, losses, optimisers
from cdl.machines import delay, feedback, parallel, series, stateless
from cdl.optics import structure, to_lens
from cdl.para import fanout, identity, swap, two_cells


def of(x):
    return x.__term__()


def sides(term):
    """How many wires there are on the left, on the right, and above; `None` where nothing can be above."""
    above = None if term.above is None else term.above.wires()
    return term.source.wires(), term.target.wires(), above


@settings(max_examples=25)
@given(terms)
def test_term_of_para_has_a_box_for_each_map_and_no_wire_back(term):
    from cdl._terms import Along, boxes

    para, count, params = built(term)
    found = of(para)
    cells = []

    def look(term):
        cells.extend([term.cell] if isinstance(term, Along) else [])
        for part in ("inner", "first", "second"):
            if hasattr(term, part):
                look(getattr(term, part))

    look(found)
    assert len(boxes(found)) + len(cells) == count
    assert sides(found)[2] in (params, None if params == 0 else params)
    assert not any(wire.back for side in (found.source, found.target) for wire in side.each())


def test_types_are_inferred_by_joining_what_is_joined():
    assert sides(of(swap() >> F @ G)) == (2, 2, 1)
    assert sides(of(fanout(F, G @ F) >> F)) == (2, 1, 3)
    assert sides(of((identity() @ swap()) >> (F @ (G @ G)))) == (3, 3, 1)
    tied = of((F >> F).reparametrise(two_cells.delta(2), at=F.params))
    assert sides(tied) == (1, 1, 1)
    assert [wire.numbers for wire in tied.above.each()] == [12]
    assert [wire.numbers for wire in tied.cell.target.each()] == [12, 12]


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("back", [True, False])
def test_a_wire_has_a_way_back_where_both_of_its_ends_have_one(there, back):
    from cdl._terms import join, pair, Space

    one, other = Space(back=there), Space(back=back)
    join(one, other)
    assert [wire.back for wire in one.each()] == [there and back]
    product = pair(Space(back=back), Space())
    one = Space(back=there)
    join(product, one)
    assert one.wires() == 2
    assert [wire.back for wire in one.each()] == [there and back, there]


def test_types_that_cannot_be_one_are_refused():
    from cdl._terms import join, pair, Space

    with pytest.raises(PortMismatch, match=r"0 types .* 2"):
        draw(structure.right_unitor_back() >> structure.associator_back())
    one = Space()
    with pytest.raises(PortMismatch, match="part"):
        join(pair(one, Space()), one)


def test_what_only_moves_wires_says_where_they_go():
    for para, order in ((identity(), (0,)), (swap(), (1, 0))):
        assert of(para).order == order
    found = [of(optic) for optic in (Optic.identity(), Optic.swap(), structure.associator())]
    assert [term.order for term in found] == [(0,), (1, 0), (0, 1, 2)]
    assert [term.name for term in found] == ["identity", "swap", "wires"]
    assert sides(of(structure.left_unitor())) == (1, 1, None)
    assert of(Optic.iso(lambda x: x[0], lambda dx: (dx, 0))).name == "f"


LINEAR = layers.linear(3, 3, key=jr.key(0))


def test_term_of_an_optic_has_parameters_above_or_on_the_left():
    assert sides(of(LINEAR)) == sides(of(LINEAR.optic)) == (1, 1, 1)
    assert sides(of(reverse(jnp.sin))) == (1, 1, None)
    assert sides(of(to_lens(LINEAR.optic))) == (2, 1, None)
    assert sides(of(Optic.identity() >> LINEAR.optic)) == (2, 1, None)
    assert sides(of(ParaOptic(jnp.ones(3), reverse(lambda pair: pair[0] * pair[1])))) == (1, 1, 1)
    assert sides(of(LINEAR.optic @ LINEAR.optic)) == (4, 2, None)


def test_term_of_an_optic_forwards_is_that_of_its_para():
    def shape(term):
        """The term without the ways back."""
        parts = [shape(getattr(term, part)) for part in ("inner", "first", "second") if hasattr(term, part)]
        return type(term).__name__, getattr(term, "name", ""), sides(term), *parts

    forward = [Para.of(jnp.tanh), Para(2.0, lambda p, x: p * x)]
    optics = [ParaOptic.of(f, name=name) for f, name in zip(forward, "ab", strict=True)]
    f, g = (f.named(name) for f, name in zip(forward, "ab", strict=True))
    a, b = optics
    for para, optic in (
        (f >> g, a >> b),
        (g @ (f >> g), b @ (a >> b)),
        ((g >> g).named("two"), (b >> b).named("two")),
    ):
        assert shape(of(para)) == shape(of(optic))
        assert all(wire.back for wire in of(optic).source.each())


def test_exchanged_ports_are_led_to_the_other_side():
    turned = of(LINEAR.exchange(jnp.ones(3)))
    assert sides(turned) == (1, 1, 1)
    assert turned.above.each()[0] is turned.inner.source.each()[0]
    assert turned.source.each()[0] is turned.inner.above.each()[0]
    assert sides(of(LINEAR.exchange(jnp.ones(3)).exchange(LINEAR.params))) == (1, 1, 1)


def test_term_of_a_learner_has_its_target_on_the_left():
    from cdl._terms import boxes

    learner = supervised(LINEAR, losses.mse(), optimisers.descent(0.1))
    assert sides(of(learner.optic)) == (2, 1, 1)
    assert sides(of(learner.optic).inner) == (1, 1, 2)
    assert [box.name for box in boxes(of(learner))] == ["linear", "mse", "rate"]


class Cell:
    def __call__(self, state):
        raise AssertionError("a term is read without running what it is of")


def test_machines_put_together_have_a_state_each_that_comes_back():
    cell = Cell()
    for machine, wires in (
        (series(cell, stateless(abs)), (1, 1, 1)),
        (series(cell, series(cell, delay)), (1, 1, 3)),
        (parallel(cell, delay), (2, 2, 2)),
        (feedback(cell, delay), (1, 1, 2)),
        (feedback(parallel(delay, delay)), (1, 1, 2)),
    ):
        found = of(machine)
        assert sides(found) == wires
        assert all(wire.back for wire in found.above.each())
        assert not any(wire.back for wire in found.source.each() + found.target.each())


@pytest.mark.parametrize("params", [(jnp.ones((2, 3)), 1.0, 2, jnp.arange(3)), ()])
def test_only_floating_numbers_are_counted(params):
    from cdl._terms import numbers

    assert numbers(params) == sum(jnp.size(x) for x in jax.tree.leaves(params) if jnp.result_type(x).kind == "f")
