"""Networks that commute with an action: explained, with their laws run, and drawn where they are a `Para`."""

import equinox as eqx
import jax
import pytest
from architectures import DRAWN, EXPLAINED, symmetric
from few import few
from well_drawn import well_drawn

from cdl import draw, explain
from cdl_arch.symmetry.bodies import bodies, BodyF, Turning


@pytest.mark.parametrize("name", few([*EXPLAINED, *DRAWN], 0, 6))
def test_a_network_is_explained_and_commutes(name):
    arch, x = symmetric(name)
    page = explain(arch, x)
    assert page.holds, str(page)
    if name != "graph network":  # of which the parameter is the matrix that all layers read
        assert page.size == sum(p.size for p in jax.tree.leaves(eqx.filter(arch, eqx.is_inexact_array)))
        assert page.functors == ("M × X",)
        names = [law.law for law in page.laws]
        assert all(
            f"f({m} · x) = {m} · f(x)" in names or f"D f(x) {m} x = {m} f(x)" in names for m in arch.source.names
        )


@pytest.mark.parametrize("name", DRAWN)
def test_a_network_is_drawn(name):
    drawing = draw(*symmetric(name))
    well_drawn(drawing.diagram)
    assert drawing.text
    assert "</svg>" in drawing.svg
    assert drawing.diagram.count("parameter") == 1


@pytest.mark.slow
def test_a_fold_of_bodies_is_explained_and_drawn():
    some = bodies(1, (2, 2), 0)
    net = Turning(2, 2, 3, key=jax.random.key(0))
    page = explain(net, some, signature=BodyF)
    assert page.holds, str(page)
    well_drawn(draw(net, some[0]).diagram)
