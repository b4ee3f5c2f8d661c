"""Each law of symmetric monoidal categories has an instance that breaks it."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest
from chains import slices
from planted import breaks

from cdl import laws
from cdl.categories import Arrow, MAT, Monoidal, Over, SLICE
from cdl.errors import LawBroken


RNG = np.random.default_rng(1)
F, G, H = (np.asarray(RNG.integers(-3, 4, (2, 2)), float) for _ in range(3))
CHAIN = [MAT.arrow(matrix) for matrix in (F, G, H)]


def check(category: Monoidal) -> Callable[[], None]:
    return lambda: laws.symmetric_monoidal(category, *CHAIN)


def scaled(number: Callable[..., float]) -> Callable[..., Any]:
    """Isomorphisms that also multiply, by a number for each of their objects."""

    def bodies(*at: int) -> tuple[Any, Any]:
        one, s = np.eye(int(np.prod(at))), number(*at)
        return s * one, one / s

    return bodies


def exchange(number: Callable[[int, int], float]) -> Callable[[int, int], Any]:
    return lambda x, y: number(x, y) * MAT.braiding(x, y)


def test_the_instance_that_is_broken_below_holds():
    laws.symmetric_monoidal(MAT, *CHAIN)


@pytest.mark.parametrize(
    ("law", "category"),
    [
        ("the pentagon", replace(MAT, associator=scaled(lambda x, y, z: -1.0 if y == 4 else 1.0))),
        ("the triangle", replace(MAT, left_unitor=scaled(lambda x: -1.0))),
        ("the triangle", replace(MAT, right_unitor=scaled(lambda x: 2.0))),
        ("the hexagon", replace(MAT, braiding=exchange(lambda x, y: -1.0 if (x, y) == (2, 4) else 1.0))),
    ],
)
def test_a_structure_that_is_natural_and_invertible_may_break_one_diagram(law, category):
    breaks(law, check(category))


def degrees(c: float) -> Callable[[int, int], float]:
    """The size is two to the power of the degree; an exchange of odd ones multiplies by `c`."""
    return lambda x, y: float(c ** (np.log2(x) * np.log2(y)))


def test_a_braiding_may_be_no_symmetry():
    """With −1 this is the exchange of graded spaces, which is a symmetry; with another number it is a braiding."""
    laws.symmetric_monoidal(replace(MAT, braiding=exchange(degrees(-1.0))), *CHAIN)
    breaks("`σ >> σ = id`", check(replace(MAT, braiding=exchange(degrees(2.0)))))


def except_for(first: Any, second: Any) -> Callable[[Any, Any], Any]:
    """Composition with one wrong composite."""
    same = lambda x, y: np.shape(x) == np.shape(y) and np.array_equal(x, y)
    return lambda f, g: MAT.then(f, g) + (same(f, first) and same(g, second))


MOVED = np.array([[0.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    ("law", "category"),
    [
        ("`(f >> g) >> h = f >> (g >> h)`", replace(MAT, then=except_for(G @ F, H))),
        ("`(f >> g) >> h = f >> (g >> h)`", replace(MAT, then=except_for(F, H @ G))),
        ("`id >> f = f`", replace(MAT, then=except_for(np.eye(2), F))),
        ("`f >> id = f`", replace(MAT, then=except_for(F, np.eye(2)))),
        ("`⊗(id) = id`", replace(MAT, beside=lambda f, g: 2 * MAT.beside(f, g))),
        ("`⊗(f >> g)`", replace(MAT, beside=lambda f, g: abs(MAT.beside(f, g)))),
        (
            "`α` is natural",
            replace(MAT, associator=lambda x, y, z: (np.kron(np.kron(MOVED, np.eye(2)), np.eye(2)),) * 2),
        ),
        ("`λ` is natural", replace(MAT, left_unitor=lambda x: (MOVED, np.linalg.inv(MOVED)))),
        ("`ρ` is natural", replace(MAT, right_unitor=lambda x: (MOVED, np.linalg.inv(MOVED)))),
        ("`σ` is natural", replace(MAT, braiding=lambda x, y: np.eye(x * y))),
        ("`α >> α⁻¹ = id`", replace(MAT, associator=lambda x, y, z: (np.eye(x * y * z), 2 * np.eye(x * y * z)))),
        ("`λ >> λ⁻¹ = id`", replace(MAT, left_unitor=lambda x: (np.eye(x), 2 * np.eye(x)))),
        ("`ρ >> ρ⁻¹ = id`", replace(MAT, right_unitor=lambda x: (np.eye(x), 2 * np.eye(x)))),
    ],
)
def test_a_mistake_is_called_by_its_law(law, category):
    with pytest.raises(LawBroken, match="^" + re.escape(law)):
        check(category)()


def test_an_inverse_on_one_side_alone_is_not_an_inverse():
    """Of the isomorphism back the bodies are made with a mark: the order of a composite is seen by it."""
    then = lambda f, g: MAT.then(f, g) + (np.array_equal(f, 2 * np.eye(2)) and np.array_equal(g, np.eye(2) / 2))
    marked = replace(MAT, then=then, left_unitor=lambda x: (np.eye(x) / 2, 2 * np.eye(x)))
    with pytest.raises(LawBroken, match=r"^`λ⁻¹ >> λ = id`"):
        check(marked)()


def test_structure_maps_are_maps_of_the_category():
    """A tensor that doubles the second loss has no associator over the reals."""
    with jax.enable_x64(True):
        doubled = lambda x, y: Over((x.kind, y.kind), lambda pair: x.loss(pair[0]) + 2 * y.loss(pair[1]))
        chain = slices()
        unchecked = replace(SLICE, pair=doubled, meets=lambda x, y: x.kind == y.kind)
        with pytest.raises(LawBroken, match=r"^`α` is a map of the category"):
            laws.symmetric_monoidal(unchecked, *chain, tolerance=1e-12)


@pytest.mark.parametrize(("wrong", "name"), [(0, "f"), (1, "g")])
def test_maps_that_are_none_of_the_category_are_found(wrong, name):
    with jax.enable_x64(True):
        chain = slices()
        f = chain[wrong]
        chain[wrong] = Arrow(f.source, f.target, lambda x: 2 * f.body(x))
        with pytest.raises(LawBroken, match=f"^`{name}` is a map of the category"):
            laws.symmetric_monoidal(SLICE, *chain, tolerance=1e-12)


def test_a_composite_that_is_none_of_the_category_is_found():
    with jax.enable_x64(True):
        astray = replace(SLICE, then=lambda f, g: lambda x: g(f(x)) + 1)
        with pytest.raises(LawBroken, match=r"^`f >> g` is a map of the category"):
            laws.symmetric_monoidal(astray, *slices(), tolerance=1e-12)
