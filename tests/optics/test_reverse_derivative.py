"""Reverse derivative categories: the seven axioms, over the reals and over `Z₂`, and where boolean functions fail."""

from itertools import product
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import close
from hypothesis import given, settings, strategies as st
from polynomial_maps import Wrapped

from cdl import laws, reverse
from cdl.errors import LawBroken
from cdl.optics import D, R, SmoothMap, to_lens, z2, Z2Map


def smooth(seed: int, n: int, m: int) -> SmoothMap:
    w, v = np.random.default_rng(seed).normal(size=(2, m, n))
    return SmoothMap(n, m, lambda x: jnp.sin(w @ x) + jnp.asarray(v) @ (x * x) / 2)


@st.composite
def polynomial_maps(draw, n: int, m: int):
    monomials = st.tuples(*[st.integers(0, 2)] * n)
    return Z2Map(n, tuple(draw(st.frozensets(monomials, max_size=3)) for _ in range(m)))


@st.composite
def three_maps(draw):
    n, m, k = (draw(st.integers(1, 3)) for _ in range(3))
    return draw(polynomial_maps(n, m)), draw(polynomial_maps(n, m)), draw(polynomial_maps(m, k))


@settings(max_examples=8)
@given(three_maps())
def test_polynomials_over_the_field_of_two_elements_have_all_seven_exactly(maps):
    laws.reverse_derivative(*maps)
    laws.left_additive(*maps)


def test_smooth_maps_have_all_seven():
    n, m, k = 2, 3, 1
    with jax.enable_x64(True):
        f, g, h = smooth(0, n, m), smooth(1, n, m), smooth(2, m, k)
        laws.reverse_derivative(f, g, h, tolerance=1e-9)
        laws.left_additive(f, g, h, tolerance=1e-9)


def test_the_derivative_made_of_reverse_derivatives_is_that_of_jvp():
    with jax.enable_x64(True):
        f = smooth(0, 3, 2)
        a, v = jnp.array([0.3, -1.0, 0.7]), jnp.array([1.0, 2.0, -1.0])
        close(D(f)(jnp.concatenate([a, v])), jax.jvp(f, (a,), (v,))[1], 1e-12)
        close(R(f)(jnp.concatenate([a, v[:2]])), jax.vjp(f, a)[1](v[:2])[0], 1e-12)


class BooleanFunction(Wrapped):
    """A polynomial map taken as a function: `x² = x`, after everything that is done."""

    @classmethod
    def of(cls, map: Z2Map, *how: Any) -> Self:
        bits = [[tuple(min(e, 1) for e in monomial) for monomial in row] for row in map.rows]
        odd = tuple(frozenset(m for m in row if row.count(m) % 2) for row in bits)
        return cls(Z2Map(map.source, odd))


def test_boolean_functions_have_no_chain_rule():
    """`x ↦ (x, x) ↦ x·x` is `x ↦ x` as a function, whose derivative is 1; by the chain rule it is `x + x = 0`."""
    x, y = z2.variables(2)
    copy, conjunction = BooleanFunction.pick(1, (0, 0)), BooleanFunction.of(x * y)
    with pytest.raises(LawBroken, match=r"RD\.5, `R\[f >> h\]`"):
        laws.reverse_derivative(copy, copy, conjunction)
    (t,) = z2.variables(1)
    assert (copy >> conjunction).map == BooleanFunction.of(t * t).map == t
    assert t * t != t
    assert R(t * t) == Z2Map.zero(2, 1)
    assert R(t) == Z2Map.pick(2, (1,))
    laws.reverse_derivative(Z2Map.pick(1, (0, 0)), Z2Map.pick(1, (0, 0)), x * y)


def words(bits: Any) -> Any:
    """All the inputs of so many variables, one in each bit."""
    columns = zip(*bits, strict=True)
    return jnp.array([sum(bit << k for k, bit in enumerate(column)) for column in columns], jnp.uint32)


@pytest.mark.parametrize("table", range(16))
def test_each_gate_is_its_polynomial_and_its_derivative_is_the_boolean_difference(table):
    """All sixteen gates of two inputs: the truth table, and `∂f/∂xᵢ = f(x ⊕ eᵢ) ⊕ f(x)`, since each is multilinear."""
    inputs = list(product((0, 1), repeat=2))
    x, y = z2.variables(2)
    gate = Z2Map.zero(2, 1)
    for k, (a, b) in enumerate(inputs):
        if table >> k & 1:
            gate = gate + (x if a else x + z2.one(2)) * (y if b else y + z2.one(2))
    at = lambda a, b: table >> inputs.index((a, b)) & 1
    packed = words(inputs)
    (value,) = gate(packed)
    assert [int(value) >> k & 1 for k in range(4)] == [at(a, b) for a, b in inputs]
    back = R(gate)(jnp.concatenate([packed, jnp.array([15], jnp.uint32)]))
    for k, (a, b) in enumerate(inputs):
        assert [int(word) >> k & 1 for word in back] == [at(1 - a, b) ^ at(a, b), at(a, 1 - b) ^ at(a, b)]
    on_words = gate.lens()
    assert (on_words.put(packed, jnp.array([15], jnp.uint32)) & 15).tolist() == (back & 15).tolist()


def test_gates_as_optics_polynomials_and_numbers_mod_2_agree():
    """Three ways to run `R`: gates on packed words, formal polynomials, and `jax.vjp` on numbers mod 2."""
    x, y = z2.variables(2)
    cases = [
        (z2.XOR, x + y, lambda v: v[0] + v[1]),
        (z2.AND, x * y, lambda v: v[0] * v[1]),
        (z2.OR, x * y + x + y, lambda v: v[0] * v[1] + v[0] + v[1]),
        ((z2.NOT @ z2.NOT) >> z2.AND >> z2.NOT, x * y + x + y, lambda v: 1 + (1 + v[0]) * (1 + v[1])),
    ]
    inputs = list(product((0, 1), repeat=2))
    packed, ones = words(inputs), jnp.array(15, jnp.uint32)
    for gate, polynomial, number in cases:
        dx = [int(word) & 15 for word in gate.put(tuple(packed), ones)]
        assert dx == [int(word) & 15 for word in R(polynomial)(jnp.append(packed, ones))]
        assert int(gate.get(tuple(packed))) & 15 == int(polynomial(packed)[0]) & 15
        for k, bits in enumerate(inputs):
            by_vjp = z2.reverse(number).put(tuple(map(float, bits)), 1.0)
            assert [int(v) for v in by_vjp] == [word >> k & 1 for word in dx]


def test_circuits_are_optics_and_obey_their_laws():
    a, b = jnp.array(0b1100, jnp.uint32), jnp.array(0b1010, jnp.uint32)
    f = z2.COPY >> (z2.COPY @ z2.NOT) >> (z2.AND @ z2.NOT) >> z2.XOR
    g = z2.COPY >> z2.AND
    laws.optics(f, g, g >> f, z2.NOT, a, b)
    assert z2.DISCARD.put(a, ()) == 0


def test_maps_to_their_lenses_is_a_functor_on_both_categories():
    x, y = z2.variables(2)
    f, g = (x * y + x) & (y * y + z2.one(2)), x * y + y
    at, change = jnp.array([0b1100, 0b1010], jnp.uint32), jnp.array([0b1111], jnp.uint32)
    composed, apart = (f >> g).lens(), f.lens() >> g.lens()
    assert composed.get(at).tolist() == apart.get(at).tolist()
    assert composed.put(at, change).tolist() == apart.put(at, change).tolist()
    assert Z2Map.identity(2).lens().put(at, at).tolist() == at.tolist()
    pair, both = (f @ g).lens(), jnp.concatenate([at, at[::-1]])
    changes = jnp.concatenate([at, change])
    by_parts = [*f.lens().put(at, at).tolist(), *g.lens().put(at[::-1], change).tolist()]
    assert pair.get(both).tolist() == [*f(at).tolist(), *g(at[::-1]).tolist()]
    assert pair.put(both, changes).tolist() == by_parts
    with jax.enable_x64(True):
        p, q = smooth(0, 2, 3), smooth(1, 3, 2)
        x, dz = jnp.array([0.3, -1.0]), jnp.array([1.0, 2.0])
        close((p >> q).lens().put(x, dz), (p.lens() >> q.lens()).put(x, dz), 1e-12)
        close((p >> q).lens().put(x, dz), to_lens(reverse(p) >> reverse(q)).put(x, dz), 1e-12)
