"""Finite polynomials: every operation beside its meaning as a functor, every map counted."""

import itertools
import random
from typing import Any

import numpy as np
import pytest

import cdl
from cdl.system import curry, DependentLens, hom, lenses, of_automaton, Polynomial, to_automaton, uncurry


def some(draw: random.Random, positions: int = 2, directions: int = 2) -> Polynomial:
    """A polynomial of at most this size; often with a position that has no directions, sometimes without a position."""
    return Polynomial(
        {i: [f"d{d}" for d in range(draw.randint(0, directions))] for i in range(draw.randint(0, positions))}
    )


SEEDS = pytest.mark.parametrize("seed", range(25))
THREE = Polynomial({"a": "xyz", "b": "u", "c": ""})


@SEEDS
def test_the_operations_are_those_of_the_functors(seed):
    draw = random.Random(seed)
    p, q, x = some(draw), some(draw), range(3)
    n = lambda p, size=3: sum(size ** len(d) for d in p.directions.values())
    assert len(p.at(x)) == n(p)
    assert len((p + q).at(x)) == n(p) + n(q)
    assert len((p * q).at(x)) == n(p) * n(q)
    assert len(p.then(q).at(x)) == n(p, n(q))
    assert len((p @ q).positions) == len(p.positions) * len(q.positions)
    assert sorted(map(len, (p @ q).directions.values())) == sorted(
        len(a) * len(b) for a, b in itertools.product(p.directions.values(), q.directions.values())
    )


@SEEDS
def test_there_are_as_many_lenses_as_the_formula_says_and_no_two_are_alike(seed):
    draw = random.Random(seed)
    p, q = some(draw, 2, 3), some(draw, 2, 3)
    every = list(lenses(p, q))
    assert len(every) == len(set(every)) == p.count(q) == len(hom(p, q).positions)
    for f, each in hom(p, q).directions.items():
        assert isinstance(f, DependentLens)
        assert len(each) == sum(len(q.directions[j]) for j, _ in f.sent.values())


@SEEDS
def test_a_lens_is_natural_and_lenses_are_a_monoidal_category(seed):
    draw = random.Random(seed)
    p, q, r = (some(draw, 2, 2) + Polynomial({"end": ""}) for _ in range(3))
    f, g = (draw.choice(list(lenses(a, b))) for a, b in ((p, q), (q, r)))
    for element in p.at("uv"):
        i, values = element
        renamed: Any = f.at((i, tuple(v.upper() for v in values)))
        assert renamed == (f.at(element)[0], tuple(v.upper() for v in f.at(element)[1]))
        assert (f >> g).at(element) == g.at(f.at(element))
    assert DependentLens.identity(p) >> f == f == f >> DependentLens.identity(q)
    assert (f >> g) @ (g >> DependentLens.identity(r)) == (f @ g) >> (g @ DependentLens.identity(r))


def test_systems_that_wire_are_systems_beside_what_they_wire():
    draw = random.Random(0)
    for _ in range(12):
        r, p, q = some(draw, 2, 1), some(draw, 2, 2), some(draw, 2, 1)
        wired = hom(p, q)
        assert (r @ p).count(q) == r.count(wired)
        for f in itertools.islice(lenses(r @ p, q), 40):
            assert uncurry(curry(f, r, p), p, q) == f
        for g in itertools.islice(lenses(r, wired), 40):
            assert curry(uncurry(g, p, q), r, p) == g


def test_lenses_from_states_are_the_moore_machines():
    states, interface = range(2), Polynomial.monomial([False, True], range(2))
    every = list(lenses(Polynomial.monomial(states, states), interface))
    assert len(every) == (2 * 2**2) ** 2
    word = [0, 1, 1, 0, 1]
    for lens in every:
        machine = to_automaton(lens, 0)
        now, shown = 0, []
        for letter in word:
            shown.append(lens.sent[now][0])
            now = lens.back(now, letter)
        outputs, _ = cdl.run(machine, 0, np.array(word))
        assert outputs.tolist() == [*shown, lens.sent[now][0]]
        again = of_automaton(machine)
        assert {s: again.sent[s] for s in states} == {s: lens.sent[s] for s in states}


def test_polynomials_are_compared_and_written_as_in_the_books():
    assert str(THREE) == "y³ + y + 1"
    assert str(THREE + THREE) == "2y³ + 2y + 2"
    assert str(Polynomial({})) == "0"
    assert Polynomial({0: "ab", 1: ""}) == Polynomial({1: "", 0: "ab"}) != Polynomial({0: "ba", 1: ""})
