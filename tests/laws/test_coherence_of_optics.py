"""Optics are a monoidal category: the pentagon, the triangle and both unitors, and instances for which they fail."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest
from hypothesis import given, settings, strategies as st
from planted import breaks
from planted_optics import Planted

import cdl.laws._monoidal
from cdl import laws, Optic, reverse
from cdl.errors import LawBroken
from cdl.optics import structure


AnyOptic = Optic[Any, Any, Any, Any]
SIDES = ["get", "put"]


@settings(max_examples=8)
@given(st.integers(-99, 99), st.text("ab", max_size=3), st.lists(st.integers(-9, 9), min_size=4, max_size=4))
def test_optics_of_sets_are_coherent(x, dy, salts):
    atom = lambda n: Optic.of(lambda x: (n * x + 1, x % 5), lambda kept, change: f"{change}{n}:{kept};")
    laws.monoidal_optics(*map(atom, salts), x, dy)


def test_optics_of_smooth_maps_are_coherent():
    maps = [reverse(f) for f in (jnp.sin, jnp.tanh, jnp.exp, jnp.cos)]
    laws.monoidal_optics(*maps, jnp.array([0.3, -1.0]), jnp.array([1.0, 2.0]), tolerance=1e-6)


def linear(m: int) -> AnyOptic:
    return Optic.of(lambda x: (m * x, m), lambda kept, dy: kept * dy)


LINEAR = [linear(m) for m in (2, 3, 5, 7)]


def signed(iso: AnyOptic, side: str, sign: Callable[[Any], Any], *, after: bool) -> AnyOptic:
    """An isomorphism that changes signs on one side: after it forward and before it back, or the other way round."""
    there = lambda x: sign(iso.get(x)) if after else iso.get(sign(x))
    back = lambda dy: iso.backward((), sign(dy)) if after else sign(iso.backward((), dy))
    return Optic.iso(there if side == "get" else iso.get, back if side == "put" else lambda dy: iso.backward((), dy))


@pytest.mark.parametrize("side", SIDES)
def test_a_unitor_that_is_natural_and_invertible_may_break_the_triangle(side):
    """The sign of a number commutes with linear maps and is its own inverse: only the diagram of units shows it."""
    minus = lambda x: -x
    λ = signed(structure.left_unitor(), side, minus, after=True)
    λ_back = signed(structure.left_unitor_back(), side, minus, after=False)
    breaks(f"the triangle, {side}", lambda: laws.monoidal_optics(*LINEAR, 4, 11, left_unitor=(λ, λ_back)))
    ρ = signed(structure.right_unitor(), side, minus, after=True)
    ρ_back = signed(structure.right_unitor_back(), side, minus, after=False)
    breaks(f"the triangle, {side}", lambda: laws.monoidal_optics(*LINEAR, 4, 11, right_unitor=(ρ, ρ_back)))


def minus(x: Any) -> Any:
    return tuple(map(minus, x)) if isinstance(x, tuple) else -x


def minus_unless_the_middle_is_the_unit(triple: Any) -> Any:
    return triple if triple[1][0] == () else minus(triple)


@pytest.mark.parametrize("side", SIDES)
def test_an_associator_that_is_natural_and_invertible_may_break_the_pentagon(side):
    """At a unit it is as ever, so the triangle holds; signs cancel along two sides of the pentagon, not along three."""
    α = signed(structure.associator(), side, minus_unless_the_middle_is_the_unit, after=True)
    α_back = signed(structure.associator_back(), side, minus_unless_the_middle_is_the_unit, after=False)
    breaks(f"the pentagon, {side}", lambda: laws.monoidal_optics(*LINEAR, 4, 11, associator=(α, α_back)))


COMPOSITES = {
    "`α >> α⁻¹ = id`": ["(α >> α⁻¹)"],
    "`α⁻¹ >> α = id`": ["(α⁻¹ >> α)"],
    "associativity is natural": ["(((f @ g) @ h) >> α)", "(α >> (f @ (g @ h)))"],
    "`λ >> λ⁻¹ = id`": ["(λ >> λ⁻¹)"],
    "`λ⁻¹ >> λ = id`": ["(λ⁻¹ >> λ)"],
    "`ρ >> ρ⁻¹ = id`": ["(ρ >> ρ⁻¹)"],
    "`ρ⁻¹ >> ρ = id`": ["(ρ⁻¹ >> ρ)"],
    "`(id @ f) >> λ = λ >> f`": ["((id @ f) >> λ)", "(λ >> f)"],
    "`(f @ id) >> ρ = ρ >> f`": ["((f @ id) >> ρ)", "(ρ >> f)"],
    "the pentagon": ["(α >> α)", "(((α @ id) >> α) >> (id @ α))"],
    "the triangle": ["(α >> (id @ λ))", "(ρ @ id)"],
}
ISOS = {
    "associator": (structure.associator(), structure.associator_back()),
    "left_unitor": (structure.left_unitor(), structure.left_unitor_back()),
    "right_unitor": (structure.right_unitor(), structure.right_unitor_back()),
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("law", "composite"), [(law, name) for law, names in COMPOSITES.items() for name in names])
def test_a_mistake_in_one_composite_breaks_one_law_of_coherence_and_no_other(law, composite, side, monkeypatch):
    plant = lambda optic, name: Planted(optic, name, (composite, side))
    monkeypatch.setattr(Optic, "identity", staticmethod(lambda one=Optic.identity(): plant(one, "id")))
    f, g, h, k = map(plant, LINEAR, "fghk")
    isos = {
        name: (plant(there, sign), plant(back, f"{sign}⁻¹"))
        for (name, (there, back)), sign in zip(ISOS.items(), "αλρ", strict=True)
    }
    breaks(f"{law}, {side}", lambda: laws.monoidal_optics(f, g, h, k, 4, 11, **isos))


def test_the_laws_of_optics_are_these_as_well(monkeypatch):
    without_its_inverse = signed(structure.left_unitor(), "put", minus, after=True)
    monkeypatch.setattr(cdl.laws._monoidal.structure, "left_unitor", lambda: without_its_inverse)
    with pytest.raises(LawBroken, match="`λ >> λ⁻¹ = id`, put"):
        laws.optics(*LINEAR, 4, 11)
