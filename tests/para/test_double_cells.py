"""Squares of parametric maps over maps: they compose both ways, the two interchange, and borders have to meet."""

import re
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close
from hypothesis import given, settings, strategies as st
from planted import breaks

import cdl._para._double_cell
from cdl import Cons, laws, Nil, Para
from cdl.errors import LawBroken
from cdl.para import DoubleCell, square
from cdl.para.two_cells import delta, same


Cell = DoubleCell[Any, Any, Any, Any, Any, Any]
numbers = st.integers(-9, 9)
signs = st.sampled_from([1, -1])


def line(p: Any, x: int) -> int:
    return p[0] * x + p[1]


class Move(eqx.Module):
    """A change of scale and of origin; of an input only the sign of the scale is free, so that it can be undone."""

    scale: int
    shift: int

    def __call__(self, x: int) -> int:
        return self.scale * x + self.shift


class Carry(eqx.Module):
    """The line that does after a move what another one does before it: `v(p₀ x + p₁) = q₀ u(x) + q₁`."""

    u: Move
    v: Move

    def __call__(self, p: Any) -> Any:
        slope = self.v.scale * p[0] * self.u.scale
        return slope, self.v.scale * p[1] + self.v.shift - slope * self.u.shift


def carried(p: Any, u: Move, v: Move) -> Cell:
    """A line through the parameters `p`, and the same line where inputs and outputs have moved."""
    cell = Carry(u, v)
    return DoubleCell(Para(p, line), Para(cell(p), line), u, v, cell)


@st.composite
def four_squares(draw: Any) -> tuple[Cell, Cell, Cell, Cell]:
    """Two by two, all of whose borders meet: nine corners, with moves down and lines across."""
    move = lambda: Move(draw(signs), draw(numbers))
    (u, v, w), (u2, v2, w2) = [[move() for _ in range(3)] for _ in range(2)]
    p, q = draw(st.tuples(numbers, numbers)), draw(st.tuples(numbers, numbers))
    a, b = carried(p, u, v), carried(q, v, w)
    return a, b, carried(a.bottom.params, u2, v2), carried(b.bottom.params, v2, w2)


@settings(max_examples=10)
@given(four_squares(), numbers)
def test_squares_are_a_double_category(squares, x):
    a, _, c, _ = squares
    laws.double_cell(a, x)
    laws.double_category(*squares, x)
    laws.stacked_squares(a, c, DoubleCell.still(c.bottom), x)


@settings(max_examples=15)
@given(four_squares(), numbers)
def test_the_four_are_what_they_are_by_hand(squares, x):
    a, b, c, d = squares
    whole = (a >> b).above(c >> d)
    p, q = a.top.params, b.top.params
    assert whole.top.params == (p, q)
    assert whole.cell((p, q)) == (c.cell(a.cell(p)), d.cell(b.cell(q)))
    assert whole.left(x) == c.left(a.left(x))
    assert whole.over(x) == d.right(b.right(line(q, line(p, x))))
    assert whole.under(x) == line(d.cell(b.cell(q)), line(c.cell(a.cell(p)), c.left(a.left(x))))
    assert whole.over(x) == whole.under(x)


class Permuted(eqx.Module):
    """The units of a layer in another order."""

    order: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, x: Any) -> Any:
        return x[jnp.array(self.order)]


def weights(outputs: Permuted, inputs: Permuted) -> Callable[[Any], Any]:
    return lambda p: p[jnp.array(outputs.order)][:, jnp.array(inputs.order)]


def test_the_symmetry_of_hidden_units_is_a_square_and_a_network_is_a_row_of_them():
    """A layer whose units are in another order is the layer with rows and columns of its matrix in that order."""
    u, v, w = map(Permuted, [(0, 1, 2), (1, 2, 0), (0, 1, 2)])
    layer = lambda p, x: jnp.tanh(p @ x)
    f, g = (Para(jr.normal(jr.key(i), (3, 3)), layer) for i in range(2))
    both = DoubleCell(f, f, u, v, weights(v, u)) >> DoubleCell(g, g, v, w, weights(w, v))
    x = jnp.array([0.3, -1.0, 0.7])
    laws.double_cell(both, x, tolerance=1e-6)
    hidden, _ = both.cell((f.params, g.params))
    assert not jnp.allclose(hidden, f.params)  # inputs and outputs are where they were, the units between are not
    slope = lambda way: jax.grad(lambda p: jnp.sum(jnp.sin(way.fn(p, x))))(both.top.params)
    close(slope(both.over), slope(both.under), 1e-5)
    with pytest.raises(LawBroken, match="v ∘ f = f' ∘"):
        laws.double_cell(DoubleCell(f, f, u, v, same), x, tolerance=1e-6)


def test_the_square_of_an_algebra_is_one_with_identities_for_sides():
    total = Para(3, lambda p, layer: 0 if isinstance(layer, Nil) else layer.head + p * layer.tail)
    found = square(total)
    above: Cell = DoubleCell.of(found)
    below: Cell = DoubleCell(found.through, found.through, same, same, same)
    tree = Cons(1, Cons(2, Nil()))
    laws.double_cell(above, tree)
    assert above.above(below).cell(3) == delta(2)(3)
    assert above.over(tree) == 1 + 3 * 2
    laws.stacked_squares(above, below, below, tree)


def test_squares_are_compiled_and_differentiated_as_modules():
    """Borders are compared where they are built, under `jit` too: nothing looks at the values of parameters."""

    @jax.jit
    def whole(p, x):
        double = DoubleCell(Para(p, scaled), Para(2 * p, scaled), twice, twice_squared, twice)
        beside = DoubleCell(Para(p, scaled), Para(2 * p, scaled), twice_squared, four_times_squared, twice)
        return (double >> beside).under(x)

    scaled = lambda p, x: p * x
    twice, twice_squared, four_times_squared = (lambda x: 2 * x), (lambda x: 4 * x), (lambda x: 8 * x)
    close(whole(jnp.array(3.0), jnp.array(5.0)), jnp.array(8.0 * 3 * 3 * 5), 1e-6)


class Scale(eqx.Module):
    """A side with numbers in it."""

    by: Any

    def __call__(self, x: Any) -> Any:
        return self.by * x


def test_sides_that_are_modules_meet_where_their_arrays_are_equal_and_known():
    f = Para((), lambda p, x: x)
    across = lambda left, right: DoubleCell(f, f, left, right, same)
    two, again = Scale(jnp.array([2.0])), Scale(jnp.array([2.0]))
    close((across(two, two) >> across(again, again)).over(jnp.array([5.0])), jnp.array([10.0]), 0.0)
    shared = lambda two: (across(two, two) >> across(two, two)).over(jnp.array([5.0]))
    close(jax.jit(shared)(two), jnp.array([10.0]), 0.0)


class Planted(DoubleCell[Any, Any, Any, Any, Any, Any]):
    """A square that knows how it is composed, and makes a mistake along the top where that is as told."""

    name: str = eqx.field(static=True, default="")
    mistake: str = eqx.field(static=True, default="")

    @property
    def over(self) -> Any:
        right = super().over
        return Para(right.params, lambda p, x: ("a mistake", right.fn(p, x))) if self.name == self.mistake else right

    def __rshift__(self, other: Any) -> Any:
        return plant(super().__rshift__(other), f"({self.name} >> {other.name})", self.mistake)

    def above(self, other: Any) -> Any:
        return plant(super().above(other), f"({self.name} / {other.name})", self.mistake)


def plant(a: Cell, name: str, mistake: str) -> Planted:
    return Planted(a.top, a.bottom, a.left, a.right, a.cell, name, mistake)


FOUR = [carried((2, 1), Move(1, 3), Move(-1, 1)), carried((3, -1), Move(-1, 1), Move(-1, 4))]
FOUR += [
    carried(FOUR[0].bottom.params, Move(-1, 2), Move(1, 5)),
    carried(FOUR[1].bottom.params, Move(1, 5), Move(1, 7)),
]


@pytest.mark.parametrize(
    ("law", "composite"),
    [
        ("`v ∘ f = f' ∘ (r × u)` of `a >> b`", "(a >> b)"),
        ("`v ∘ f = f' ∘ (r × u)` of `a.above(c)`", "(a / c)"),
        ("`(a >> b).above(c >> d) = a.above(c) >> b.above(d)`", "((a / c) >> (b / d))"),
        ("`still(f).above(a) = a`", "(still / a)"),
        ("`a.above(still(f')) = a`", "(a / still)"),
        ("`on(u) >> a = a`", "(on >> a)"),
        ("`a >> on(v) = a`", "(a >> on)"),
    ],
)
def test_a_mistake_in_one_composite_breaks_one_law_and_no_other(law, composite, monkeypatch):
    for identity in ("still", "on"):
        make = getattr(DoubleCell, identity)
        given = lambda f, make=make, identity=identity: plant(make(f), identity, composite)
        monkeypatch.setattr(DoubleCell, identity, staticmethod(given))
    squares = [plant(a, name, composite) for a, name in zip(FOUR, "abcd", strict=True)]
    breaks(law, lambda: laws.double_category(*squares, 5))


def test_a_mistake_in_one_bracketing_breaks_associativity():
    three = [FOUR[0], FOUR[2], DoubleCell.still(FOUR[2].bottom)]
    squares = [plant(a, name, "((a / b) / c)") for a, name in zip(three, "abc", strict=True)]
    breaks("`(a.above(b)).above(c) = a.above(b.above(c))`", lambda: laws.stacked_squares(*squares, 5))


def test_a_composite_that_fills_squares_in_another_order_is_caught(monkeypatch):
    module = cdl._para._double_cell
    monkeypatch.setattr(module, "horizontal", lambda r, s: lambda pair: (r(pair[0]), r(pair[1])))
    with pytest.raises(LawBroken, match=re.escape("`v ∘ f = f' ∘ (r × u)` of `a >> b`")):
        laws.double_category(*FOUR, 5)
    monkeypatch.undo()
    usual = module.then
    monkeypatch.setattr(module, "then", lambda f, g: usual(g, f) if isinstance(f, Carry) else usual(f, g))
    with pytest.raises(LawBroken, match=re.escape("`v ∘ f = f' ∘ (r × u)` of `a.above(c)`")):
        laws.double_category(*FOUR, 5)
