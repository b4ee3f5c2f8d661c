"""Streams and bounded lists, grown by a scan, are what `ana` grows, in value, in draws and in gradient."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import close, differentiated

from cdl import ana, choose, Cons, Nil, unfold
from cdl._engine.growth import _lists
from cdl._engine.growth._stream import unfold_stream
from cdl.functors import Lin, Snoc, StreamF, take


def unfold_list(coalg: Any, seeds: Any, nodes: int, **options: Any) -> Any:
    """The lists, of which `unfold` is told also whether a score was NaN."""
    return _lists.unfold_list(coalg, seeds, nodes, **options)[0]


class Turning(eqx.Module):
    """A vector that is turned; shown is a part of it."""

    turn: jax.Array

    def __call__(self, seed: Any) -> Any:
        return StreamF(seed[:2] * seed[2], lambda: jnp.tanh(self.turn @ seed))


def test_a_stream_is_that_of_ana_in_value_and_gradient(getkey):
    with jax.enable_x64(True):
        turning, seeds = Turning(jr.normal(getkey(), (3, 3))), jr.normal(getkey(), (2, 3))
        same(
            lambda t, s: unfold_stream(t, s, 3),
            lambda t, s: jnp.stack([jnp.stack(take(3, ana(t)(one))) for one in s]),
            turning,
            seeds,
        )


def same(f: Any, g: Any, *inputs: Any) -> None:
    """Two functions agree in value, and in the gradient of a random linear function of it."""
    found, wanted = (eqx.filter_jit(differentiated(h))(*inputs) for h in (f, g))
    close(found, wanted, 1e-9)


def test_streams_of_no_output_and_of_keys(getkey):
    drawn = lambda s, *, key=None: StreamF(0 if key is None else jr.randint(key, (), 0, 1000), lambda: s + 1)
    key = getkey()
    found = unfold_stream(drawn, np.arange(2), 3, key=key)
    assert found.tolist() == [[int(o) for o in take(3, ana(drawn, key=jr.fold_in(key, b))(b))] for b in range(2)]
    assert unfold_stream(drawn, np.arange(2), 0).shape == (2, 0)


class Writer(eqx.Module):
    """Goes on or ends by what its state says; with two ways of going on."""

    turn: jax.Array
    say: jax.Array
    snoc: bool = eqx.field(static=True, default=False)

    def __call__(self, seed: Any) -> Any:
        at, state = seed
        new, other = jnp.tanh(self.turn @ state), jnp.tanh(self.turn.T @ state)
        scores = self.say @ state - jnp.array([2.0, 0.0, 0.0]) + at * jnp.array([1.0, 0.0, 0.0])
        one, two = ({"x": new[0], "at": at}, (at + 1, new)), ({"x": other[1] * 2, "at": -at}, (at + 1, other))
        if self.snoc:
            return choose(scores, Lin(), Snoc(one[1], one[0]), Snoc(two[1], two[0]))
        return choose(scores, Nil(), Cons(*one), Cons(*two))


def writer(key: Any, snoc: bool = False) -> Any:
    made = Writer(jr.normal(jr.fold_in(key, 0), (3, 3)), 2 * jr.normal(jr.fold_in(key, 1), (3, 3)), snoc)
    return made, (jnp.zeros(5), jr.normal(jr.fold_in(key, 2), (5, 3)))


def each(seeds: Any) -> list[Any]:
    return [jax.tree.map(lambda x: x[b], seeds) for b in range(5)]  # noqa: B023


def elements(tree: Any) -> list[Any]:
    found = []
    while not isinstance(tree, Nil | Lin):
        found.append(tree.head if isinstance(tree, Cons) else tree.last)
        tree = tree.tail if isinstance(tree, Cons) else tree.init
    return found[::-1] if isinstance(tree, Lin) else found


@pytest.mark.parametrize(("snoc", "keyed"), [(False, True), (True, False)])
def test_a_list_is_that_of_ana_with_the_same_draws(snoc, keyed, getkey):
    grow, seeds = writer(getkey(), snoc)
    key = getkey() if keyed else None
    grown = unfold_list(grow, seeds, 12, key=key)
    keys = [None if key is None else jr.fold_in(key, b) for b in range(5)]
    wanted = [elements(ana(grow, key=k)(seed)) for k, seed in zip(keys, each(seeds), strict=True)]
    assert grown.elements.lengths.tolist() == [len(w) for w in wanted]
    assert len({len(w) for w in wanted}) > 1
    assert not grown.cut.any()
    for b, rows in enumerate(wanted):
        for t, row in enumerate(rows):
            np.testing.assert_allclose(grown.elements.values["x"][b, t], row["x"], rtol=1e-5, atol=1e-6)
            assert grown.elements.values["at"][b, t] == row["at"]
    assert [len(elements(t)) for t in grown.trees()] == [len(w) for w in wanted]


def test_a_list_and_its_chances_have_their_gradients(getkey):
    with jax.enable_x64(True):
        grow, seeds = writer(getkey())
        nodes = 12
        paths = [path(grow, seed) for seed in each(seeds)]
        assert [len(p) - 1 for p in paths] == unfold_list(grow, seeds, nodes).elements.lengths.tolist()

        def fast(grow: Any, seeds: Any) -> Any:
            grown = unfold_list(grow, seeds, nodes)
            return grown.elements.values["x"].sum(), grown.log_prob.sum()

        def slow(grow: Any, seeds: Any) -> Any:
            total, chances = jnp.zeros(()), jnp.zeros(())
            for seed, best_ones in zip(each(seeds), paths, strict=True):
                for best in best_ones:
                    given = grow(seed)
                    chances += jax.nn.log_softmax(given.scores)[best]
                    if best:
                        total, seed = total + given.layers[best].head["x"], given.layers[best].tail
            return total, chances

        same(fast, slow, grow, seeds)


def path(grow: Any, seed: Any) -> list[int]:
    """The numbers of the layers that are best, to the end of the list."""
    given = grow(seed)
    best = int(jnp.argmax(given.scores))
    return [best, *(path(grow, given.layers[best].tail) if best else [])]


@pytest.mark.parametrize(("element", "kinds"), [(jnp.log, (Nil, Cons)), (lambda s: 1 / s, (Lin, Snoc))])
def test_unfold_of_lists_ignores_elements_past_the_end(element, kinds):
    end, more = kinds
    layer = (lambda e, s: more(e, s)) if more is Cons else (lambda e, s: more(s, e))
    down = lambda s: choose(jnp.stack([0.5 - s, s - 0.5]), end(), layer(element(s), s - 1))
    seeds = jnp.array([3.0, 0.0, 1.0, 2.0])

    def total(seeds):
        found = unfold(down, seeds, 6).elements
        mask = jnp.arange(found.values.shape[1])[None] < jnp.asarray(found.lengths)[:, None]
        return jnp.where(mask, found.values, 0).sum()

    terms = lambda s: [s - i for i in range(int(s))]
    assert jnp.allclose(total(seeds), sum(element(x) for s in seeds for x in terms(s)), rtol=1e-6)
    expected = jnp.array([sum((jax.grad(element)(x) for x in terms(s)), jnp.zeros(())) for s in seeds])
    assert jnp.allclose(jax.grad(total)(seeds), expected, rtol=1e-6)


def test_a_seed_below_that_makes_no_sense_does_no_harm_either():
    down = lambda s: choose(jnp.stack([0.5 - s, s - 0.5]), Nil(), Cons(s, jnp.sqrt(s) * 0 + s - 1))
    found = jax.grad(lambda s: unfold(down, s, 6).elements.values.sum())(jnp.array([0.0, 3.0]))
    assert found.tolist() == [0.0, 3.0]
