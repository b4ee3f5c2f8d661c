"""Optics, lenses and parametrised optics: their laws, over sets and over smooth maps, and what they cost."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close
from hypothesis import given, settings, strategies as st
from programs import primitives

from cdl import laws, Lens, Optic, Para, ParaOptic, reverse, to_optic
from cdl.errors import LawBroken
from cdl.optics import to_lens
from cdl.para import identity


# Optics of sets: the values are integers, the changes strings, and the way back reads what the way forward kept.
def of_sets(salt: int) -> Optic[int, int, str, str]:
    return Optic.of(lambda n: (salt * n + 1, n % 5), lambda kept, change: f"{change}{salt}:{kept};")


def squashed(seed: int) -> Para[Any, Any, Any]:
    w, b = jr.normal(jr.key(seed), (3, 3)), jr.normal(jr.key(seed + 50), (3,))
    return Para((w, b), lambda p, x: jnp.tanh(p[0] @ x + p[1]))


def counted(calls: list[int]) -> Lens[Any, Any, Any, Any]:
    def get(x: Any) -> Any:
        calls.append(1)
        return jnp.sin(x)

    return Lens(get, lambda x, dy: dy * jnp.cos(x))


def dots(f: Any, *arguments: Any) -> int:
    """How many products of matrices the program of `f` has, its inner programs with it."""
    return primitives(jax.make_jaxpr(f)(*arguments))["dot_general"]


@settings(max_examples=10)
@given(st.integers(-99, 99), st.text("ab", max_size=3))
def test_optics_of_sets_are_a_symmetric_monoidal_category(x, dy):
    laws.optics(of_sets(2), of_sets(3), of_sets(5), of_sets(7), x, dy)
    laws.sliding(lambda n: (n + 1, n), lambda n: n % 3, lambda kept, dy: dy * kept, x, dy)


def test_optics_of_smooth_maps_are_one_too():
    f, g, h, k = (reverse(squashed(i)) for i in range(4))
    laws.optics(f, g, h, k, jnp.array([0.3, -1.0, 0.7]), jnp.array([1.0, 2.0, -1.0]), tolerance=1e-5)


@pytest.mark.parametrize(
    ("kind", "maps", "x"),
    [
        ("sets", [Para(w, lambda p, x: x + p) for w in ("a", "b", "c", "d")], "x"),
        ("sets of numbers", [Para(n, lambda p, x: p * x + p) for n in (2, 3, 5, 7)], 4),
        ("smooth", [squashed(i) for i in range(4)], jnp.array([0.3, -1.0, 0.7])),
        ("optics of smooth maps", [ParaOptic.of(squashed(i)) for i in range(4)], jnp.array([0.3, -1.0, 0.7])),
        (
            "optics of sets",
            [
                ParaOptic(n, Optic.of(lambda px: (px[0] * px[1] + 1, px), lambda px, dy: (dy - px[0], dy * px[1])))
                for n in (2, 3, 5, 7)
            ],
            4,
        ),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_para_is_a_bicategory_over_sets_smooth_maps_and_optics(kind, maps, x):
    tolerance = 1e-6 if "smooth" in kind else 0.0
    laws.bicategory(*maps, x, tolerance=tolerance)
    if kind == "sets":
        r, s = (lambda p: p + "!", lambda dp: dp), (lambda p: p.upper(), lambda dp: dp)
    else:
        r = (lambda p: jax.tree.map(lambda a: a * 2, p), lambda p: jax.tree.map(lambda a: a * 2, p))
        s = (lambda p: jax.tree.map(lambda a: a + 1, p), lambda p: p)
    laws.reparametrisation(maps[0], maps[1], r, s, x, tolerance=tolerance)


def test_backpropagation_is_a_functor_on_maps_and_lifts_to_parametric_ones():
    f, g = squashed(0), squashed(1)
    x, dz = jnp.array([0.3, -1.0, 0.7]), jnp.array([1.0, 2.0, -1.0])
    laws.reverse_functor(f, g, x, dz, tolerance=1e-6)
    whole, parts = ParaOptic.of(f >> g), ParaOptic.of(f) >> ParaOptic.of(g)
    at = (whole.params, x)
    close(whole(x), parts(x), 1e-6)
    close(whole.optic.put(at, dz), parts.optic.put(at, dz), 1e-5)
    close(whole.optic.put(at, dz), jax.vjp(lambda px: (f >> g).fn(*px), at)[1](dz)[0], 1e-6)
    beside, pair = ParaOptic.of(f @ g), ParaOptic.of(f) @ ParaOptic.of(g)
    close(beside.optic.put((beside.params, (x, -x)), (dz, x)), pair.optic.put((pair.params, (x, -x)), (dz, x)), 1e-6)
    nothing, same = ParaOptic.of(identity()), ParaOptic.identity()
    assert (nothing.params, nothing(x) is x) == (same.params, same(x) is x) == ((), True)
    close(nothing.optic.put(((), x), dz), same.optic.put(((), x), dz), 0.0)


@pytest.mark.parametrize(("n", "again"), [(1, 0), (2, 1), (8, 28), (32, 496)])
def test_a_chain_of_optics_goes_forward_once_and_one_of_lenses_does_not(n, again):
    assert again == n * (n - 1) // 2
    calls: list[int] = []
    to_the_left = to_the_right = counted(calls)
    for _ in range(n - 1):
        to_the_left, to_the_right = to_the_left >> counted(calls), counted(calls) >> to_the_right
    for lens, count in [(to_the_left, again), (to_the_right, n - 1)]:
        calls.clear()
        lens.put(0.5, 1.0)
        assert len(calls) == count
    to_the_left = to_the_right = to_optic(counted(calls))
    for _ in range(n - 1):
        to_the_left, to_the_right = to_the_left >> to_optic(counted(calls)), to_optic(counted(calls)) >> to_the_right
    for optic in (to_the_left, to_the_right):
        calls.clear()
        optic.put(0.5, 1.0)
        assert len(calls) == n


@pytest.mark.parametrize("n", [2, 8, 16])
def test_a_chain_of_linear_maps_has_two_products_for_each_and_three_with_parameters(n):
    w = jr.normal(jr.key(0), (4, 4))
    x = jnp.ones(4)
    plain = reverse(lambda x: w @ x)
    layer = ParaOptic.of(Para(w, lambda w, x: w @ x))
    for start, per_map in [(plain, 2), (layer, 3)]:
        to_the_left = to_the_right = start
        for _ in range(n - 1):
            to_the_left, to_the_right = to_the_left >> start, start >> to_the_right
        for chain in (to_the_left, to_the_right):
            optic, at = (chain, x) if per_map == 2 else (chain.optic, (chain.params, x))
            assert dots(optic.put, at, x) == per_map * n
    lens = to_lens(plain)
    naive = lens
    for _ in range(n - 1):
        naive = naive >> lens
    assert dots(naive.put, x, x) == {2: 5, 8: 44, 16: 152}[n]


def test_batches_are_the_lift_of_a_power_by_its_strength():
    """The definition goes row by row and adds the changes of the parameters; a layer is differentiated as a whole."""
    f, g = ParaOptic.of(squashed(0)), ParaOptic.of(squashed(1))
    cell = reverse(lambda pq: jax.tree.map(lambda a: 2 * a, pq))
    model = (f >> g).reparametrise(cell, at=(f.params, g.params))
    by_rows = ParaOptic(model.params, Optic.of(model.optic.forward, model.optic.backward))
    xs, change = jr.normal(jr.key(3), (5, 3)), jr.normal(jr.key(4), (5, 3))
    fast, slow = model.batched(), by_rows.batched()
    close(fast(xs), slow(xs), 1e-6)
    close(fast(xs), jax.vmap(model)(xs), 1e-6)
    close(fast.optic.put((model.params, xs), change), slow.optic.put((model.params, xs), change), 1e-5)
    both = (f @ g).batched()
    close(both((xs, change)), (f.batched()(xs), g.batched()(change)), 1e-6)


def test_the_ports_can_be_exchanged():
    f = ParaOptic.of(squashed(0))
    x, dy = jnp.array([0.3, -1.0, 0.7]), jnp.ones(3)
    dreaming = f.exchange(x)
    assert dreaming.params is x
    close(dreaming(f.params), f(x), 1e-6)
    close(dreaming.optic.put((x, f.params), dy), f.optic.put((f.params, x), dy)[::-1], 1e-6)


def test_data_has_no_change_and_labels_have_none():
    classify = Para(jnp.eye(3), lambda w, data: (w @ data[0])[data[1]])
    x, label = jnp.array([0.3, -1.0, 0.7]), jnp.array(2)
    dp, (dx, dlabel) = ParaOptic.of(classify).optic.put((classify.params, (x, label)), jnp.array(1.0))
    close(dx, jnp.array([0.0, 0.0, 1.0]), 1e-6)
    assert dlabel is None
    same, nothing = ParaOptic.of(classify, inputs=False).optic.put((classify.params, (x, label)), jnp.array(1.0))
    close(same, dp, 1e-6)
    assert nothing == ()


def test_a_map_of_parameters_is_a_2_cell_where_it_is_and_not_elsewhere():
    affine = lambda p, x: p[0] * x + p[1]
    scaling = Para(3, lambda p, x: p * x)
    whole, at = Para((3, 0), affine), lambda p: (p, 0)
    laws.two_cell(whole, scaling, (at, lambda dp: dp[0]), 5)
    with pytest.raises(LawBroken, match=r"`g = f ∘ \(r × id\)`, parameters: the left side gives `1` where .* `0`"):
        laws.two_cell(whole, scaling, (lambda p: (p, 1), lambda dp: dp[0]), 5)
    with pytest.raises(LawBroken, match=r"`g = f ∘ \(r × id\)`: the left side gives `16` where the right gives `15`"):
        laws.two_cell(Para((3, 1), affine), scaling, (lambda p: (p, 1), lambda dp: dp[0]), 5)
    of_numbers = Para((3.0, 0.0), affine), Para(3.0, lambda p, x: p * x)
    back_and_forth = (lambda p: (p, 0.0), lambda dp: dp[0])
    laws.two_cell(*map(ParaOptic.of, of_numbers), back_and_forth, 5.0)
    with pytest.raises(LawBroken, match=r"the left side gives `.*5\..*` where the right gives `Array\(25"):
        laws.two_cell(*map(ParaOptic.of, of_numbers), (back_and_forth[0], lambda dp: dp[1]), 5.0)  # back the wrong way
