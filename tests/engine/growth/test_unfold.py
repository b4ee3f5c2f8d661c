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
from few import few
from hlo import copies_in_loops
from programs import primitives
from random_signatures import random_signature

from cdl import (
    ana,
    Base,
    CdlError,
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


@pytest.mark.parametrize("seed", [3, *(pytest.param(s, marks=pytest.mark.slow) for s in range(300, 330))])
def test_unfolding_a_random_signature_agrees_with_the_definition(seed):
    signature, _ = random_signature(seed)
    x64 = seed % 4 < 3
    with jax.enable_x64(x64):
        dtype = jnp.float64 if x64 else jnp.float32
        coalg = any_coalgebra(signature, jr.key(seed), dtype, slope=2.0)
        key = jr.key(seed) if seed % 3 else None
        agrees(coalg, seeds_of(4, jr.key(seed), dtype), key, 1e-10 if x64 else 1e-4, lanes=3)


def test_the_trees_do_not_depend_on_the_number_of_lanes():
    seeds = jnp.array([1.0, 0.0, 3.0, 2.0, 0.0, 1.0, 3.0])
    once, again = (unfold(fork, seeds, NODES, key=jr.key(1), lanes=lanes) for lanes in (1, 4))
    assert np.array_equal(once.choice, again.choice)
    assert np.array_equal(once.child, again.child)
    close(once.payload, again.payload, 1e-5)


def fork(seed: jax.Array) -> TreeF[jax.Array, jax.Array]:
    """A tree that is as deep as its seed says."""
    return choose(jnp.stack([0.5 - seed, seed - 0.5]), Leaf(seed), Fork(seed - 1, seed - 1))


def test_a_tree_that_is_cut_is_told_and_not_passed_off_as_whole():
    grown = unfold(fork, jnp.array([1.0, 3.0, 0.0]), 6)
    assert grown.count.tolist() == [3, 6, 1]
    assert grown.waiting.tolist() == [0, 7, 0]
    assert grown.cut.tolist() == [False, True, False]
    words = r"1 of 3 trees are not finished within `nodes=6`: 7 places.*7 of them in tree 1"
    with pytest.raises(TreeTooLarge, match=words):
        grown.trees()
    one, two, three = grown.results()
    assert one.unwrap() == ana(fork)(jnp.array(1.0))
    assert three.unwrap() == Leaf(0.0)
    with pytest.raises(TreeTooLarge, match=r"not finished within `nodes=6`: 7 of its places"):
        raise two.failure()


@pytest.mark.parametrize(("lanes", "number"), few([(1, None), (3, 5), (100, None)], 1))
def test_a_tree_that_is_cut_has_the_first_nodes_breadth_first(lanes, number):
    key = None if number is None else jr.key(number)
    coalg, seeds = any_coalgebra(TermF, jr.key(6), jnp.float32), seeds_of(6, jr.key(1), jnp.float32)
    keys = [None if key is None else jr.fold_in(key, t) for t in range(6)]
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
    for total in (1, 3, 8, 12, 25):
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


def test_what_a_cut_tree_has_is_differentiated_also_where_its_children_are_missing():
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


def test_a_tree_that_is_cut_by_the_total_is_told_so():
    grown = unfold(fork, jnp.array([3.0, 3.0, 3.0]), 20, total=12, lanes=2)
    count, waiting = grown.count.tolist(), grown.waiting.tolist()
    assert sum(waiting) > 0
    assert all(w == 0 or n < 20 for n, w in zip(count, waiting, strict=True))
    with pytest.raises(TreeTooLarge, match=r"not finished within the `total`: .* Unfold with a larger `total`"):
        grown.trees()
    with pytest.raises(TreeTooLarge, match=r"the tree is not finished within the `total`: .* a larger `total`"):
        raise grown.results()[waiting.index(max(waiting))].failure()


def test_the_seeds_that_wait_are_counted_even_where_there_was_no_room_for_them():
    def many(seed: jax.Array) -> Any:
        return choose(jnp.stack([seed, -seed]), Node(seed, Many([seed] * 9)), Node(seed, Many()))

    grown = unfold(many, jnp.array([1.0]), 3)
    assert (grown.count.tolist(), grown.waiting.tolist()) == ([3], [25])
    assert grown.child[0, :, :3].tolist() == [[1, 2, -1], [-1, -1, -1], [-1, -1, -1]]


def test_what_a_coalgebra_draws_does_not_depend_on_the_layer_that_is_drawn():
    def drawing(seed, *, key):
        coin = jr.categorical(key, jnp.zeros(2)).astype(jnp.float32)  # with the scores that the layer is drawn by
        return choose(jnp.zeros(2), Leaf(coin), Fork(seed, seed))

    key = jr.key(0)
    grown = unfold(drawing, jnp.zeros(400), 1, key=key)
    labels = grown.payload[0][~grown.cut, 0]
    assert 150 < len(labels) < 250
    assert 0.35 < labels.mean() < 0.65
    ends = [t for t in range(20) if not grown.cut[t]]
    assert [ana(drawing, key=jr.fold_in(key, t))(0.0).label for t in ends] == [grown.payload[0][t, 0] for t in ends]


def test_a_budget_for_all_trees_together():
    seeds = jnp.array([1.0, 0.0, 2.0, 1.0, 0.0, 1.0])
    whole = unfold(fork, seeds, 7, lanes=2)
    assert whole.count.tolist() == [3, 1, 7, 3, 1, 3]
    assert jax.tree.all(jax.tree.map(np.array_equal, unfold(fork, seeds, 7, total=18, lanes=2), whole))
    cut = unfold(fork, seeds, 7, total=9, lanes=4)
    assert cut.count.tolist() == [3, 1, 2, 1, 1, 1]
    assert cut.waiting.tolist() == [0, 0, 3, 2, 0, 2]
    slope = jax.grad(lambda s: unfold(fork, s, 7, total=9, lanes=4).payload[0].sum())(seeds)
    assert slope.tolist() == [2, 1, 0, 0, 1, 0]
    few = unfold(fork, seeds, 7, total=2)
    assert (few.count.tolist(), few.waiting.tolist()) == ([1, 1, 0, 0, 0, 0], [2, 0, 1, 1, 1, 1])


def test_grown_trees_are_packed():
    grown = unfold(fork, jnp.array([2.0, 1.0]), 7)
    forest = pack(TreeF, grown.trees())
    assert (forest.size, forest.depth) == (10, 3)


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


def test_no_seeds_give_no_trees():
    grown = unfold(fork, jnp.zeros(0), 5)
    assert (len(grown), grown.trees(), grown.choice.shape) == (0, [], (0, 5))


def test_a_coalgebra_without_choice_grows_what_its_shapes_say():
    def twice(seed: jax.Array) -> Any:
        return Leaf(seed)

    assert unfold(twice, jnp.array([1.0, 2.0]), 3).trees() == [Leaf(1.0), Leaf(2.0)]


def test_streams_and_lists_are_unfolded_as_such():
    count = lambda n: StreamF(n, lambda: n + 1)
    assert unfold(count, jnp.array([1, 5]), 3).tolist() == [[1, 2, 3], [5, 6, 7]]
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
    assert len(found) == 2
    assert repr(found) == "Grown lists: 2, with 4 elements, at most 3 nodes each; 1 unfinished"
    done, more = found.results()
    assert done.unwrap() == to_list([1.0])
    assert "does not end within 3 nodes: give more" in str(more.failure())
    with pytest.raises(TreeTooLarge, match="1 of 2 lists do not end within 3 nodes: 1"):
        found.trees()


LISTS = lambda s: choose(jnp.stack([0.5 - s, 0.0]), Nil(), Cons(s, s - 1.0))
FORKS = lambda s: choose(jnp.stack([0.5 - s, 0.0]), Leaf(s), Fork(s - 1.0, s - 1.0))


@pytest.mark.parametrize("coalg", [LISTS, FORKS])
@pytest.mark.parametrize("what", ["trees", "results", "__len__"])
def test_what_was_grown_is_taken_one_at_a_time(coalg, what):
    grown = unfold(coalg, jnp.array([1.0, 2.0]), nodes=8)
    stacked = jax.tree.map(lambda x: jnp.stack([x, x, x]), grown)
    assert "several, stacked, (3,)" in repr(stacked)
    with pytest.raises(CdlError, match=r"one .*, and this is several, stacked along axes of shape \(3,\)"):
        getattr(stacked, what)()
    assert "some of its arrays" in repr(jax.tree.map(lambda x: None, grown))
    if what != "__len__":
        with pytest.raises(CdlError, match=r"on the host, and these are traced: call it outside of `jit`"):
            jax.eval_shape(lambda g: getattr(g, what)() and 0, grown)
