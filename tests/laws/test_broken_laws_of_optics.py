"""Every law of optics fails where one composite has one mistake, and it alone, in `get` and in `put`."""

from typing import Any

import pytest
from planted import breaks
from planted_optics import Planted

import cdl.laws._optics
from cdl import laws, Optic, to_optic


SIDES = ["get", "put"]


def optics(name: str = "", side: str = "") -> None:
    """The laws at optics of numbers, whose changes are words, with a mistake in this composite."""
    with pytest.MonkeyPatch.context() as patch:
        for kind, sign in {"identity": "id", "swap": "σ", "iso": "α"}.items():
            make = getattr(Optic, kind)
            plant = lambda *maps, make=make, sign=sign, **how: Planted(make(*maps, **how), sign, (name, side))
            patch.setattr(Optic, kind, staticmethod(plant))
        atom = lambda n: Optic.of(lambda x: (n * x + 1, x % 5), lambda kept, change: f"{change}{n}:{kept};")
        f, g, h, k = (Planted(atom(n), letter, (name, side)) for n, letter in zip((2, 3, 5, 7), "fghk", strict=True))
        laws.optics(f, g, h, k, 4, "dy")


COMPOSITES = {
    "`(f >> g) >> h = f >> (g >> h)`": ["((f >> g) >> h)", "(f >> (g >> h))"],
    "`id >> f = f`": ["(id >> f)"],
    "`f >> id = f`": ["(f >> id)"],
    "`(f @ g) >> (h @ k) = (f >> h) @ (g >> k)`": ["((f @ g) >> (h @ k))", "((f >> h) @ (g >> k))"],
    "`id @ id = id`": ["(id @ id)"],
    "`(f @ g) >> σ = σ >> (g @ f)`": ["((f @ g) >> σ)", "(σ >> (g @ f))"],
    "`σ >> σ = id`": ["(σ >> σ)"],
    "associativity is natural": ["(((f @ g) @ h) >> α)", "(α >> (f @ (g @ h)))"],
    "the hexagon": ["((α >> σ) >> α)", "(((σ @ id) >> α) >> (id @ σ))"],
    "`to_lens (f >> g) = to_lens f >> to_lens g`": ["(f >> g)"],
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("law", "composite"), [(law, name) for law, names in COMPOSITES.items() for name in names])
def test_a_mistake_in_one_composite_breaks_one_law_and_no_other(law, composite, side):
    breaks(f"{law}, {side}", lambda: optics(composite, side))


@pytest.mark.parametrize("side", SIDES)
def test_an_optic_of_a_lens_that_is_another_breaks_the_round_trip_alone(side, monkeypatch):
    another = lambda lens: Planted(to_optic(lens), "", ("", side))
    monkeypatch.setattr(cdl.laws._optics, "to_optic", another)
    breaks(f"`to_optic ∘ to_lens = id`, {side}", optics)


def test_the_same_without_a_mistake_breaks_none():
    optics()


# Of what keeps its residual in lower precision, and of what shows it.
ROUNDED = lambda ahead, back: Optic.of(lambda x: (ahead(x)[0], ahead(x)[1] // 10 * 10), back)
SHOWN = lambda ahead, back: Optic.of(lambda x: (ahead(x), ahead(x)[1]), back)


@pytest.mark.parametrize(("side", "by"), [("put", ROUNDED), ("get", SHOWN)])
def test_an_optic_that_looks_at_its_residual_does_not_slide(side, by):
    def check(**how: Any) -> None:
        laws.sliding(lambda n: (n + 1, n), lambda n: n + 1, lambda kept, dy: dy * kept, 19, "a", **how)

    check()
    breaks(f"`((1 × m) ∘ f, b) = (f, b ∘ (m × 1))`, {side}", lambda: check(by=by))


# Maps `X → Y → Z` of terms, and ways back that do nothing: a functor, but for the map at which a mistake is planted.
TERM = ("x", "y")
MAPS = {
    "`R[f >> g] = R[f] >> R[g]`": ("g", ("f", TERM)),
    "`R[f × g] = R[f] @ R[g]`": (("f", "x"), ("g", "y")),
    "`R[id] = id`": TERM,
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("law", MAPS)
def test_a_reverse_derivative_with_one_mistake_breaks_one_law_of_a_functor_and_no_other(law, side):
    def by(h: Any) -> Any:
        optic = Optic.of(lambda x: (h(x), ()), lambda _, dy: dy)
        return Planted(optic, "", ("", side)) if h(TERM) == MAPS[law] else optic

    breaks(f"{law}, {side}", lambda: laws.reverse_functor(lambda x: ("f", x), lambda x: ("g", x), TERM, "dz", by=by))
