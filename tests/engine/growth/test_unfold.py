"""`unfold` is `ana` at every seed: the same trees node by node, drawn with the same keys, and the same gradients."""

from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import close
from any_coalgebra import any_coalgebra, numbers, quickly, seeds_of
from hlo import copies_in_loops
from programs import primitives
from random_signatures import random_signature

from cdl import (
    ana,
    Base,
    choose,
    Cons,
    Fork,
    Leaf,
    Many,
    Nil,
    Node,
    pack,
    to_list,
    TreeF,
    unfold,
)
from cdl.errors import TreeTooLarge
from cdl.functors import Branch, LabelledTreeF, StreamF, Tip


X = TypeVar("X", covariant=True)


class Term:
    """Every kind of place."""


class Stop(Base[Term, Never]):
    f0: float
    f1: int


class Both(Base[Term, X], Generic[X]):
    f0: X
    f1: float
    f2: X


class Some(Base[Term, X], Generic[X]):
    f0: X | None
    f1: Many[X]


class Row(Base[Term, X], Generic[X]):
    f0: tuple[X, ...]
    f1: tuple[X, X]


KINDS: dict[type[Any], tuple[str, ...]] = {
    Stop: ("float", "int"),
    Both: ("one", "float", "one"),
    Some: ("optional", "many"),
    Row: ("tuple", "pair"),
}
for kind, fields in KINDS.items():
    kind.__kinds__ = {f"f{i}": field for i, field in enumerate(fields)}
TermF = Union[Stop, Both[X], Some[X], Row[X]]

NODES = 40


def agrees(coalg: Any, seeds: Any, key: Any, tolerance: float, lanes: int) -> int:
    """Compares trees, and gradients of a random linear function of payloads and chances; gives the number of nodes."""
    weight = np.random.default_rng(0).normal(size=(9, len(seeds[0]), NODES))  # the last for the chances

    def compiled(inputs: Any) -> Any:
        grown = unfold(*inputs, NODES, key=key, lanes=lanes)
        columns = [*grown.payload, *[jnp.zeros(())] * (8 - len(grown.payload)), grown.log_prob]
        floats = [(w, x) for w, x in zip(weight, columns, strict=True) if is_float(x)]
        return sum(jnp.sum(w.astype(x.dtype) * x) for w, x in floats), grown

    value = eqx.filter_value_and_grad
    (total, grown), slope = eqx.filter_jit(value(compiled, has_aux=True))((coalg, seeds))
    assert not grown.cut.any()
    keys = [None if key is None else jr.fold_in(key, t) for t in range(len(grown))]
    for t, tree in enumerate(grown.trees()):
        close(tree, jax.tree.map(jnp.asarray, ana(quickly(coalg), key=keys[t])(row(seeds, t))), tolerance)

    def defined(inputs: Any) -> Any:
        coalg, seeds = inputs
        total = jnp.zeros(())
        for t in range(len(grown)):
            choices, log_probs, payloads = numbers(coalg, row(seeds, t), keys[t])
            assert choices == grown.choice[t, : len(choices)].tolist()
            for i, (choice, log_prob, payload) in enumerate(zip(choices, log_probs, payloads, strict=True)):
                terms = [*zip(grown.candidates[choice].columns, payload, strict=True), (8, log_prob)]
                total = total + sum(float(weight[c, t, i]) * x for c, x in terms if is_float(x))
        return total

    close((total, slope), value(defined)((coalg, seeds)), tolerance)
    return int(grown.count.sum())


def is_float(x: Any) -> bool:
    return bool(jnp.issubdtype(x.dtype, jnp.inexact))


def row(seeds: Any, t: int) -> Any:
    return jax.tree.map(lambda x: x[t], seeds)


def test_unfolding_every_kind_of_place_agrees_with_the_definition():
    with jax.enable_x64(True):
        coalg = any_coalgebra(TermF, jr.key(6), jnp.float64)
        assert agrees(coalg, seeds_of(5, jr.key(1), jnp.float64), jr.key(7), 1e-10, lanes=2) > 50


@pytest.mark.parametrize("seed", [*(pytest.param(s, marks=pytest.mark.slow) for s in range(300, 330))])
def test_unfolding_a_random_signature_agrees_with_the_definition(seed):
    signature, _ = random_signature(seed)
    x64 = seed % 4 < 3
    with jax.enable_x64(x64):
        dtype = jnp.float64 if x64 else jnp.float32
        coalg = any_coalgebra(signature, jr.key(seed), dtype, slope=2.0)
        key = jr.key(seed) if seed % 3 else None
        agrees(coalg, seeds_of(4, jr.key(seed), dtype), key, 1e-10 if x64 else 1e-4, lanes=3)


def fork(seed: jax.Array) -> TreeF[jax.Array, jax.Array]:
    """A tree that is as deep as its seed says."""
    return choose(jnp.stack([0.5 - seed, seed - 0.5]), Leaf(seed), Fork(seed - 1, seed - 1))


def test_a_tree_that_is_cut_is_told_and_not_passed_off_as_whole():
    grown = unfold(fork, jnp.array([1.0, 3.0, 0.0]), 6)
    assert grown.count.tolist() == [3, 6, 1]
    assert grown.waiting.tolist() == [0, 7, 0]
    assert grown.cut.tolist() == [False, True, False]
    one, two, three = grown.results()
    assert pack(TreeF, [one.unwrap(), three.unwrap()]).size == 4
    assert one.unwrap() == ana(fork)(jnp.array(1.0))
    assert three.unwrap() == Leaf(0.0)
    assert isinstance(two.failure(), TreeTooLarge)
    assert "7 of its places" in str(two.failure())


def test_a_tree_that_is_cut_has_the_first_nodes_breadth_first():
    key, lanes = jr.key(5), 3
    coalg, seeds = any_coalgebra(TermF, jr.key(6), jnp.float32), seeds_of(6, jr.key(1), jnp.float32)
    keys = [jr.fold_in(key, t) for t in range(6)]
    whole = [numbers(coalg, row(seeds, t), keys[t]) for t in range(6)]
    sizes = [len(choices) for choices, _, _ in whole]
    nodes = 5
    assert min(sizes) < nodes < max(sizes)
    grown = unfold(coalg, seeds, nodes, key=key, lanes=lanes)
    assert grown.count.tolist() == [min(n, nodes) for n in sizes]
    for t, (choices, log_probs, _) in enumerate(whole):
        there = min(sizes[t], nodes)
        assert grown.choice[t, :there].tolist() == choices[:there]
        np.testing.assert_allclose(grown.log_prob[t, :there], log_probs[:there], rtol=1e-4, atol=1e-5)
        places = sum(grown.candidates[c].arity for c in choices[:there])
        assert grown.waiting[t] == places - (there - 1)
        children = grown.child[t, :there]
        assert children[children >= 0].tolist() == list(range(1, there))


def test_all_trees_together_are_cut_level_by_level():
    seeds = jnp.array([2.0, 0.0, 3.0, 1.0])  # 2.0 has 1, 2 and 4 nodes a level
    levels = [[1, 1, 1, 1], [2, 0, 2, 2], [4, 0, 4, 0], [0, 0, 8, 0]]
    for total in (3, 12):
        left, wanted = total, [0, 0, 0, 0]
        for level in levels:
            for t, n in enumerate(level):
                wanted[t] += min(n, left)
                left -= min(n, left)
        assert unfold(fork, seeds, 15, total=total, lanes=2).count.tolist() == wanted


def test_a_layer_that_is_not_chosen_is_not_computed():
    def halves(seed: jax.Array) -> TreeF[jax.Array, jax.Array]:
        return choose(jnp.stack([1.0 - seed, seed - 1.0]), Leaf(jnp.sqrt(1.0 - seed)), Fork(seed - 2.0, seed - 3.0))

    def total(seeds: jax.Array) -> jax.Array:
        return unfold(halves, seeds, 7).payload[0].sum()

    def by_hand(seeds: jax.Array) -> jax.Array:  # of 2.0 and 0.5
        return jnp.sqrt(3.0 - seeds[0]) + jnp.sqrt(4.0 - seeds[0]) + jnp.sqrt(1.0 - seeds[1])

    seeds = jnp.array([2.0, 0.5])
    close(jax.value_and_grad(total)(seeds), jax.value_and_grad(by_hand)(seeds), 1e-6)


def test_unfold_of_cut_trees_has_the_gradient_of_what_is_there():
    def grow(weight: jax.Array) -> Any:
        def layer(seed: jax.Array) -> LabelledTreeF[jax.Array, jax.Array]:
            h = jnp.tanh(weight @ seed)
            return choose(jnp.array([0.0, 1.0]), Tip(), Branch(h * h, h, jnp.sin(weight @ h)))

        return layer

    def total(weight: jax.Array, seeds: jax.Array) -> jax.Array:
        return unfold(grow(weight), seeds, 2).payload[0].sum()

    def by_hand(weight: jax.Array, seeds: jax.Array) -> jax.Array:  # the root and its left child
        h = jnp.tanh(seeds @ weight.T)
        return jnp.sum(h * h) + jnp.sum(jnp.tanh(h @ weight.T) ** 2)

    given = jr.normal(jr.key(0), (3, 3)), jr.normal(jr.key(1), (4, 3))
    close(jax.value_and_grad(total, (0, 1))(*given), jax.value_and_grad(by_hand, (0, 1))(*given), 1e-5)


def test_unfold_counts_waiting_seeds_that_had_no_room():
    def many(seed: jax.Array) -> Any:
        return choose(jnp.stack([seed, -seed]), Node(seed, Many([seed] * 9)), Node(seed, Many()))

    grown = unfold(many, jnp.array([1.0]), 3)
    assert (grown.count.tolist(), grown.waiting.tolist()) == ([3], [25])
    assert grown.child[0, :, :3].tolist() == [[1, 2, -1], [-1, -1, -1], [-1, -1, -1]]


def test_a_budget_for_all_trees_together():
    seeds = jnp.array([1.0, 0.0, 2.0, 1.0, 0.0, 1.0])
    slope = jax.grad(lambda s: unfold(fork, s, 7, total=9, lanes=4).payload[0].sum())(seeds)
    assert slope.tolist() == [2, 1, 0, 0, 1, 0]


def test_frequencies_are_those_of_the_scores():
    weights = jnp.log(jnp.array([0.5, 0.3, 0.2]))

    def draw(seed: jax.Array) -> Any:
        return choose(weights, Leaf(seed), Leaf(seed + 1), Leaf(seed + 2))

    grown = unfold(draw, jnp.zeros(20_000), 1, key=jr.key(0))
    np.testing.assert_allclose(np.bincount(grown.choice[:, 0]) / 20_000, [0.5, 0.3, 0.2], atol=0.015)
    np.testing.assert_allclose(grown.log_prob[:, 0], weights[grown.choice[:, 0]], rtol=1e-5)


def test_a_coalgebra_that_takes_a_key_gets_that_of_the_definition():
    def noisy(seed: jax.Array, key: Any = None) -> TreeF[jax.Array, jax.Array]:
        return choose(jnp.stack([-seed, seed]), Leaf(jr.normal(key)), Fork(seed - 1, seed - 1))

    grown = unfold(noisy, jnp.array([1.0, 2.0]), 7, key=jr.key(3))
    for t, (tree, seed) in enumerate(zip(grown.results(), (1.0, 2.0), strict=True)):
        if not grown.cut[t]:
            close(tree.unwrap(), ana(noisy, key=jr.fold_in(jr.key(3), t))(jnp.array(seed)), 1e-6)


def test_streams_and_lists_are_unfolded_as_such():
    count = lambda n: StreamF(n, lambda: n + 1)
    assert unfold(count, jnp.array([1, 5]), 3).tolist() == [[1, 2, 3], [5, 6, 7]]
    assert unfold(Leaf, jnp.array([1.0, 2.0]), 3).trees() == [Leaf(1.0), Leaf(2.0)]
    down = lambda n: choose(jnp.stack([0.5 - n, n - 0.5]), Nil(), Cons(n, n - 1))
    assert unfold(down, jnp.array([2.0, 0.0]), 4).trees() == [to_list([2.0, 1.0]), Nil()]


def test_the_program_does_not_grow_with_the_budget():
    program = lambda nodes: primitives(jax.make_jaxpr(lambda s: unfold(fork, s, nodes).choice)(jnp.zeros(3)))
    assert program(1000) == program(100)


def test_no_loop_copies_a_table():
    coalg, seeds = any_coalgebra(TermF, jr.key(6), jnp.float32), seeds_of(5, jr.key(1), jnp.float32)

    def total(inputs: Any) -> Any:
        coalg, (h, depth) = inputs
        grown = unfold(coalg, (h, depth), 37, lanes=24)
        return grown.log_prob.sum() + sum(x.sum() for x in grown.payload if jnp.issubdtype(x.dtype, jnp.inexact))

    arrays, rest = eqx.partition((coalg, seeds), eqx.is_inexact_array)
    compiled = jax.jit(jax.grad(lambda a: total(eqx.combine(a, rest)))).lower(arrays).compile()
    assert copies_in_loops(compiled.as_text(), {5 * 37, 5 * 37 + 24}) == []


def test_lists_are_trees_one_by_one_where_some_are_cut():
    countdown = lambda s: choose(jnp.stack([0.5 - s, 0.0]), Nil(), Cons(s, s - 1.0))
    found = unfold(countdown, jnp.array([1.0, 5.0]), nodes=3)
    assert (len(found), found.cut.tolist(), found.elements.lengths.tolist()) == (2, [False, True], [1, 3])
    assert repr(found) == "Grown lists: 2, with 4 elements, at most 3 nodes each; 1 unfinished"
    done, more = found.results()
    assert done.unwrap() == to_list([1.0])
    assert isinstance(more.failure(), TreeTooLarge)
