"""Coalgebras and machines, untied: a copy of the parameters for each node grown and each state met, and tied again."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close
from hypothesis import given, settings, strategies as st

from cdl import (
    ana,
    choose,
    Cons,
    Fork,
    Leaf,
    ListF,
    MealyF,
    MooreF,
    Nil,
    Para,
    run,
    to_list,
    TreeF,
    unfold,
)
from cdl.errors import ForeignLayer
from cdl.functors import StreamF, take
from cdl.machines import respond
from cdl.monads import Pure
from cdl.para import Place, unroll_coalgebra, unroll_machine
from cdl_arch.mealy import FullRNN
from cdl_arch.moore import Recogniser
from cdl_arch.unfolding import Decoder, generator


WIDTH = 3
numbers = st.integers(-9, 9)


def countdown(p: Any, n: int) -> ListF[int, int]:
    return Nil() if n <= 0 else Cons(p * n, n - 1)


@settings(max_examples=15)
@given(numbers, st.integers(0, 6), st.integers(0, 8))
def test_a_list_is_grown_to_its_end_or_to_the_depth(p, n, depth):
    untied = unroll_coalgebra(Para(p, countdown), n, depth)
    grown = [p * (n - i) for i in range(min(n, depth))]
    end: Any = Nil() if depth > n else Pure(n - depth)
    for element in reversed(grown):
        end = Cons(element, end)
    assert untied() == end
    assert len(untied.params) == min(n + 1, depth)
    if depth > n:
        assert untied() == ana(lambda n: countdown(p, n))(n)
        along = unroll_coalgebra(Para(p, countdown), n, to_list([0] * n))
        assert (along(), along.places) == (untied(), untied.places)


@settings(max_examples=15)
@given(st.lists(numbers, min_size=5, max_size=5), numbers)
def test_each_node_has_its_copy_in_pre_order(copies, p):
    """`γ` at the root, `F γ` below, `F F γ` below that: by hand, with all copies apart."""

    halves = lambda p, n: Leaf(p * n) if n < 2 else Fork(n // 2, n - n // 2)
    untied = unroll_coalgebra(Para(p, halves), 3, 9)
    assert untied() == Fork(Leaf(p), Fork(Leaf(p), Leaf(p)))
    _, b, _, d, e = copies
    assert untied.at(tuple(copies)) == Fork(Leaf(b), Fork(Leaf(d), Leaf(e)))
    assert untied.places == (
        Place(0, 0, 2, Fork),
        Place(1, 1, 0, Leaf),
        Place(2, 1, 1, Fork),
        Place(3, 2, 0, Leaf),
        Place(4, 2, 0, Leaf),
    )
    by_level = untied.tied(lambda place: place.depth)
    assert by_level.fn(tuple(copies[:3]), ()) == untied.at((copies[0], copies[1], copies[1], copies[2], copies[2]))
    cut = unroll_coalgebra(Para(p, halves), 3, 1)
    assert cut() == Fork(Pure(1), Pure(2))
    assert unroll_coalgebra(Para(p, halves), 5, cut())() == Fork(Pure(2), Pure(3))


class Sprout(eqx.Module):
    """Trees of numbers out of vectors, by weights: each seed chooses to be a leaf or to go on."""

    scores: eqx.nn.Linear
    left: eqx.nn.Linear
    right: eqx.nn.Linear
    read: eqx.nn.Linear

    def __init__(self, key: Any) -> None:
        a, b, c, d = jr.split(key, 4)
        linear = lambda out, key: eqx.nn.Linear(WIDTH, out, dtype=jnp.float64, key=key)
        self.scores, self.left, self.right, self.read = (
            linear(2, a),
            linear(WIDTH, b),
            linear(WIDTH, c),
            linear("scalar", d),
        )

    def below(self, seed: Any) -> Any:
        return jnp.tanh(self.left(seed)), jnp.tanh(self.right(seed))

    def __call__(self, seed: Any) -> TreeF[Any, Any]:
        return choose(self.scores(seed), Leaf(self.read(seed)), Fork(*self.below(seed)))


def total(value: Any) -> Any:
    return sum(jnp.sum(jnp.sin(x)) for x in jax.tree.leaves(value))


def summed(untied: Any) -> Any:
    """The sum of the gradients of the copies, none of which is zero everywhere."""
    each = eqx.filter_grad(lambda params: total(untied.at(params)))(untied.params)
    assert all(any(bool(jnp.any(x != 0)) for x in jax.tree.leaves(copy)) for copy in each)
    return jax.tree.map(lambda *xs: sum(xs), *each)


def ties(untied: Any, net: Any, *wholes: Any) -> None:
    """The tied network has the value of each whole, and the sum of the copies' gradients is its gradient."""
    slope, tied = summed(untied), untied.tied()
    close(eqx.filter_grad(lambda params: total(tied.fn(params, ())))(tied.params)[0], slope, 1e-9)
    for whole in wholes:
        value, gradient = eqx.filter_value_and_grad(lambda net, whole=whole: total(whole(net)))(net)
        close(whole(net), untied(), 1e-10)
        close(value, total(untied()), 1e-10)
        close(eqx.filter(gradient, eqx.is_inexact_array), slope, 1e-9)


def test_the_gradient_of_what_grows_a_tree_is_the_sum_over_its_nodes():
    with jax.enable_x64(True):
        net, seed = Sprout(jr.key(0)), jr.normal(jr.key(1), (WIDTH,), jnp.float64)
        tree = Fork(Leaf(0.0), Fork(Fork(Leaf(0.0), Leaf(0.0)), Leaf(0.0)))

        def grown(net: Any, seed: Any, tree: Any) -> Any:
            if isinstance(tree, Leaf):
                return Leaf(net.read(seed))
            a, b = net.below(seed)
            return Fork(grown(net, a, tree.left), grown(net, b, tree.right))

        untied = unroll_coalgebra(Para.of(net), seed, tree)
        ties(untied, net, lambda net: grown(net, seed, tree))
        traced = eqx.filter_jit(lambda net, seed: unroll_coalgebra(Para.of(net), seed, tree)())
        close(traced(net, seed), untied(), 1e-10)


def test_the_best_is_grown_and_stays_what_is_grown_at_other_parameters():
    with jax.enable_x64(True):
        net, seed = Sprout(jr.key(0)), jr.normal(jr.key(1), (WIDTH,), jnp.float64)
        bias = lambda b: eqx.tree_at(lambda net: net.scores.bias, net, jnp.array(b, jnp.float64))
        forks, leaf = bias([-9.0, 9.0]), bias([9.0, -9.0])
        two = lambda net, seed: Fork(*map(Pure, net.below(seed)))
        twice = lambda net: Fork(*(two(net, below) for below in net.below(seed)))
        grown = unroll_coalgebra(Para.of(forks), seed, 2)
        ties(grown, forks, twice)
        assert isinstance(unroll_coalgebra(Para.of(leaf), seed, 2)(), Leaf)
        close(grown.at((Para.of(leaf).params,) * 3), twice(leaf), 1e-12)


def letters(tree: Any) -> list[int]:
    return [int(tree.head), *letters(tree.tail)] if isinstance(tree, Cons) else []


def test_a_decoder_that_proposes_one_constructor_twice_grows_the_one_that_it_chose():
    net, other = Decoder(3, WIDTH, key=jr.key(0)), Decoder(3, WIDTH, key=jr.key(1))
    seed = (3 * jr.normal(jr.key(0), (WIDTH,)), jnp.int32(3))
    untied = unroll_coalgebra(Para.of(net), seed, 4)
    compiled = unfold(net, jax.tree.map(lambda x: x[None], seed), 4).elements.values[0].tolist()
    assert letters(untied()) == compiled == [1, 1, 0, 0]
    assert letters(unroll_coalgebra(Para.of(other), seed, 4)()) == [2, 2, 2, 2]
    assert letters(untied.at((Para.of(other).params,) * 4)) == [1, 1, 0, 0]
    with pytest.raises(ForeignLayer, match="3 are such"):
        unroll_coalgebra(Para.of(net), seed, to_list([0]))


def double(net: Any) -> Any:
    return jax.tree.map(lambda x: x.astype(jnp.float64) if eqx.is_inexact_array(x) else x, net)


WORD = [jnp.int32(i) for i in (1, 0, 1)]
MACHINES = {
    "mealy": (lambda key: FullRNN(2, WIDTH, 2, key=key), list(jnp.eye(4, 2)), MealyF),
    "moore": (lambda key: Recogniser(2, WIDTH, key=key), WORD, MooreF),
    "stream": (lambda key: generator(WIDTH, key=key), 4, StreamF),
}


@pytest.mark.parametrize("name", MACHINES)
def test_unroll_machine_sums_the_gradients_of_its_copies(name):
    """Of a Moore machine in all its states, one more than it reads."""
    make, word, kind = MACHINES[name]
    with jax.enable_x64(True):
        net, state = double(make(jr.key(0))), jr.normal(jr.key(2), (WIDTH,), jnp.float64)
        word = jax.tree.map(double, word)
        untied = unroll_machine(Para.of(net), state, word)
        if name == "stream":
            defined = lambda net: take(4, ana(net)(state))
            compiled = lambda net: list(unfold(net, state[None], 4)[0])
        else:
            defined = lambda net: respond(ana(net)(state), word)
            compiled = lambda net: list(run(net, state, jnp.stack(word))[0])
        ties(untied, net, defined, compiled)
        assert untied.places == tuple(Place(t, t, 3 - t, kind) for t in range(4))


def counter(p: int, n: int) -> MealyF[int, int, int]:
    return MealyF(lambda i: (p * n + i, n + p))


def lamp(p: int, n: int) -> MooreF[int, int, int]:
    return MooreF(p * n, lambda i: n + p * i)


def sequence(p: int, n: int) -> StreamF[int, int]:
    return StreamF(p * n, lambda: n + p)


@settings(max_examples=15)
@given(numbers, numbers, st.lists(numbers, max_size=4), st.data())
def test_each_state_of_a_machine_has_its_copy_in_time(p, state, word, data):
    for machine in (counter, lamp):
        untied = unroll_machine(Para(p, machine), state, word)
        assert untied() == respond(ana(lambda n, machine=machine: machine(p, n))(state), word)
    stream = unroll_machine(Para(p, sequence), state, len(word))
    assert stream() == (take(len(word), ana(lambda n: sequence(p, n))(state)) if word else [])
    copies = data.draw(st.lists(numbers, min_size=len(word) + 1, max_size=len(word) + 1))
    moore, outputs, now = unroll_machine(Para(p, lamp), state, word), [], state
    for copy, i in zip(copies, [*word, 0], strict=True):
        outputs.append(copy * now)
        now = now + copy * i
    assert moore.at(tuple(copies)) == outputs
    mealy, outputs, now = unroll_machine(Para(p, counter), state, word), [], state
    for copy, i in zip(copies, word, strict=False):
        outputs.append(copy * now + i)
        now = now + copy
    assert mealy.at(tuple(copies[:-1])) == outputs
    in_turn = moore.tied(lambda place: place.index % 2)
    kept = [copies[t % 2] for t in range(len(copies))]
    assert in_turn.fn(tuple(copies[:2]), ()) == moore.at(tuple(kept))
