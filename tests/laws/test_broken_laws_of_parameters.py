"""Every law of parametric maps, of the lifting and of lax algebras fails on an instance planted to break it, and it
alone."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from planted import breaks, wrong_at

import cdl
import cdl.laws._parametric
from cdl import fmap, Fork, laws, Para
from cdl.monads import ListMonad
from cdl.para import LaxAlgebra, two_cells
from cdl.para.two_cells import delta


class Planted(Para[Any, Any, Any]):
    """A parametric map that knows how it is composed, and makes a mistake where that is as told."""

    name: str
    mistake: str

    def __call__(self, x: Any) -> Any:
        return self.told(self.fn(self.params, x))

    def told(self, answer: Any) -> Any:
        return ("a mistake", answer) if self.name == self.mistake else answer

    def __rshift__(self, other: Any) -> Any:
        return self.of_both(super().__rshift__(other), f"({self.name} >> {other.name})")

    def __matmul__(self, other: Any) -> Any:
        return self.of_both(super().__matmul__(other), f"({self.name} @ {other.name})")

    def reparametrise(self, cell: Any, at: Any) -> Any:
        return self.of_both(super().reparametrise(cell, at), f"{self.name} along")

    def of_both(self, para: Para[Any, Any, Any], name: str) -> "Planted":
        return Planted(para.params, para.fn, name, self.mistake)


def atoms(mistake: str, fn: Callable[[Any, Any], Any]) -> list[Planted]:
    return [Planted(p, fn, name, mistake) for p, name in zip((2, 3, 5, 7), "fghk", strict=True)]


def bicategory(mistake: str = "", fn: Callable[[Any, Any], Any] = lambda p, x: p * x + p, **cells: Any) -> None:
    """The laws at maps of numbers, with a mistake in this composite and other answers of 2-cells."""
    with pytest.MonkeyPatch.context() as patch:
        module = cdl.laws._parametric
        patch.setattr(module, "identity", lambda: Planted((), lambda _, x: x, "id", mistake))
        for name, answers in cells.items():
            patch.setattr(module, name, wrong_at(getattr(two_cells, name), answers))
        laws.bicategory(*atoms(mistake, fn), 4)


COMPOSITES = {
    "`(f >> g) >> h ≅ f >> (g >> h)`": "((f >> g) >> h) along",
    "`f >> (g >> h) ≅ (f >> g) >> h`": "(f >> (g >> h)) along",
    "`id >> f ≅ f`": "(id >> f) along",
    "`f >> id ≅ f`": "(f >> id) along",
    "`(f @ g) >> (h @ k) ≅ (f >> h) @ (g >> k)`": "((f @ g) >> (h @ k)) along",
}


@pytest.mark.parametrize("law", COMPOSITES)
def test_a_mistake_in_one_composite_breaks_one_law_and_no_other(law):
    breaks(law, lambda: bicategory(COMPOSITES[law]))


# A 2-cell with another answer at these parameters, and what undoes it where the pentagon and the triangle ask, too.
CELLS = {
    "`(f >> g) >> h ≅ f >> (g >> h)`": {"associator": {(2, (3, 5)): ((3, 2), 5)}},
    "`f >> (g >> h) ≅ (f >> g) >> h`": {
        "associator_back": {((2, 3), 5): (2, (5, 3)), ((2, (5, 3)), 7): (2, ((3, 5), 7))}
    },
    "`id >> f ≅ f`": {"left_unitor": {2: ((), 1)}},
    "`f >> id ≅ f`": {"right_unitor": {2: (1, ())}, "associator": {(2, ((), 3)): ((1, ()), 3)}},
    "`(f @ g) >> (h @ k) ≅ (f >> h) @ (g >> k)`": {"middle_four": {((2, 5), (3, 7)): ((2, 5), (3, 7))}},
}


@pytest.mark.parametrize("law", CELLS)
def test_a_2_cell_between_other_parameters_breaks_one_law_and_no_other(law):
    """Of maps that do not look at their parameters, which are alike whatever these are."""
    breaks(f"{law}, parameters", lambda: bicategory(fn=lambda _, x: x + 1, **CELLS[law]))


def test_an_associator_that_is_not_coherent_breaks_the_pentagon_or_the_triangle_alone():
    breaks("the pentagon", lambda: bicategory(associator_back={(((2, 3), 5), 7): ((2, 3), (7, 5))}))
    breaks("the triangle", lambda: bicategory(associator={(2, ((), 3)): ((3, ()), 2)}))


REPARAMETRISED = {"`f` along `r`, along `s`": "f along along", "`f >> g` along `r × s`": "(f >> g) along"}


@pytest.mark.parametrize("law", REPARAMETRISED)
def test_a_mistake_in_one_reparametrisation_breaks_one_law_and_no_other(law):
    f, g, *_ = atoms(REPARAMETRISED[law], lambda p, x: p * x + p)
    r, s = (lambda p: 2 * p, lambda dp: dp), (lambda p: p + 1, lambda dp: dp)
    breaks(law, lambda: laws.reparametrisation(f, g, r, s, 4))


def test_what_is_no_2_cell_has_other_parameters_or_other_values():
    idle, times, square = Para((3, 1), lambda p, x: 3 * x), Para(3, lambda p, x: p * x), Para(3, lambda p, x: p * x * x)
    back = lambda dp: dp[0]
    breaks("`g = f ∘ (r × id)`, parameters", lambda: laws.two_cell(idle, times, (lambda p: (p, 2), back), 5), 2, 1)
    breaks("`g = f ∘ (r × id)`", lambda: laws.two_cell(idle, square, (lambda p: (p, 1), back), 5), 15, 75)


LIFTED = {
    "`F id = id`": "id",
    "`F (f >> g) = F f >> F g`": "(f >> g)",
    "`F (f ∘ (r × id)) = F f ∘ (r × id)`": "f along",
}


@pytest.mark.parametrize("law", LIFTED)
def test_a_lifting_with_one_mistake_breaks_one_law_and_no_other(law, monkeypatch):
    def lifting(mistake: str) -> None:
        f, g, *_ = atoms("", lambda p, x: p * x + p)
        by = lambda f: Para(f.params, lambda p, layer: f.name if f.name == mistake else fmap(partial(f.fn, p), layer))
        laws.lifting(f, g, lambda p: p + 1, Fork(1, 2), by=by)

    monkeypatch.setattr(cdl.laws._lifted, "identity", lambda: Planted((), lambda _, x: x, "id", ""))
    lifting("")
    breaks(law, lambda: lifting(LIFTED[law]))


def same_number(p: Any) -> Any:
    """A copy of `3` that gives `3.0` first: the same number, of which it makes something else."""
    return (3.0, 3) if type(p) is int else (0.0, 3.0)


# An action that has no use for its parameter, so that both squares commute along all 2-cells, or is wrong at one list.
LAX = {
    "`id = a ∘ η`, along `ε`": ({(3, (5,)): 0}, delta(2)),
    "`a ∘ T a = a ∘ μ`, along `δ`": ({(3, (1, 2, 3)): 0}, delta(2)),
    "`(ε × P) δ ≅ P`": ({}, lambda p: (p, 0)),
    "`(P × ε) δ ≅ P`": ({}, lambda p: (0, p)),
    "`(δ × P) δ ≅ (P × δ) δ`": ({}, same_number),
}


@pytest.mark.parametrize("law", LAX)
def test_a_lax_algebra_with_one_mistake_breaks_one_law_and_no_other(law):
    """With both counits a comultiplication of sets is the diagonal, which is coassociative: to break that law alone, it
    has to tell apart what the laws compare as equal."""
    answers, copy = LAX[law]
    action = Para(3, wrong_at(lambda p, xs: sum(xs), answers))
    breaks(law, lambda: laws.lax_algebra(LaxAlgebra(ListMonad(), action, lambda p: (), copy), 5, ((1, 2), (3,))))


def test_a_map_between_parameters_of_optics_needs_the_map_back():
    scaling = cdl.ParaOptic.of(Para(3.0, lambda p, x: p * x))
    laws.two_cell(Para(3.0, lambda p, x: p * x), Para(1.0, lambda q, x: (q + 2) * x), lambda q: q + 2, 5.0)
    with pytest.raises(cdl.CdlError, match=r"has a map back: give both, as `\(there, back\)`"):
        laws.two_cell(scaling, scaling, lambda p: p, 5.0)
    with pytest.raises(cdl.CdlError, match=r"has a map back: give both, as `\(there, back\)`"):
        laws.reparametrisation(scaling, scaling, lambda p: p, lambda p: p, 5.0)
