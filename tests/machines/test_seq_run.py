"""Folds of sequences: what they refuse, what they keep for the reverse pass, and JAX's transformations of them."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import close
from cells import D, Elman, FromStart, net
from few import few
from programs import primitives

import cdl
from benchmarks._launches import launches
from cdl._engine.jaxprs._passes import Passes
from cdl._engine.lists._scan_case import read
from cdl.compiled import Scan


Layer = Any


@pytest.fixture
def seq():
    rng = np.random.default_rng(0)
    return cdl.Seq.of([rng.normal(size=(n, 3)).astype(np.float32) for n in (2, 3)])


@pytest.mark.parametrize(("name", "kept"), [("elman", 0), ("gru", 4), ("lstm", 4)])
def test_no_more_is_kept_than_has_to_be(name, kept, seq):
    """Besides the states: nothing of an Elman cell, and as many numbers as there are gates of a GRU and of an LSTM."""
    alg = FromStart(net(name, jr.key(0), jnp.float32))
    case = read(alg, False, jax.ShapeDtypeStruct((3,), jnp.float32), None)
    passes = Passes(case.step, case.elements, [True] * len(case.weights), range(len(case.states)))
    assert sum(x.size for x in passes.kept) == kept * 4
    assert primitives(passes.again)["dot_general"] == 0
    assert primitives(passes.back)["dot_general"] == 1  # the one through the state


def test_second_derivatives_and_forward_mode(seq):
    alg = FromStart(net("elman", jr.key(0), jnp.float32))

    def total(scale: Any, **how: Any) -> Any:
        return jnp.sum(
            cdl.fold(
                eqx.tree_at(lambda a: a.net.cell.across, alg, scale * alg.net.cell.across),
                seq,
                **how,
            )
        )

    one = jnp.array(1.0)
    twice = lambda **how: jax.jvp(jax.grad(lambda s: total(s, **how)), (one,), (one,))
    close(twice(), twice(how=Scan(bulk=False)), 1e-4)
    close(
        jax.jvp(lambda s: total(s, how=Scan(forward=True)), (one,), (one,))[1],
        jax.grad(total)(one),
        1e-4,
    )


@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize(("run", "more"), few([("annotate", 1), ("fold", 2)], 0))
def test_a_step_has_few_operations_more_than_a_scan_by_hand(run, more, forward):
    """Masks that keep XLA from fusing a cell's arithmetic would show here."""
    lists, steps, around = 3, 24, 24  # `around`: what is done once, before and after
    alg = FromStart(net("lstm", jr.key(0), jnp.float32))
    seq = cdl.Seq(jr.normal(jr.key(1), (lists, steps, D)), np.full(lists, steps))

    def compiled(alg, seq):
        found = getattr(cdl, run)(alg, seq, how=Scan(forward=forward))
        return found[0] if run == "fold" else found.values[0]

    def scan(alg, seq):
        def step(state, x):
            state = jax.vmap(alg.net.cell)(x, state)
            return state, state[0] if run == "annotate" else None

        start = jax.tree.map(lambda x: jnp.broadcast_to(x, (lists, *x.shape)), alg.net.start)
        last, every = jax.lax.scan(step, start, jnp.swapaxes(seq.values, 0, 1))
        return last[0] if run == "fold" else jnp.swapaxes(every, 0, 1)

    def operations(f):
        jitted = eqx.filter_jit(f)
        return launches(lambda: jitted(alg, seq))["operations"]

    assert operations(compiled) <= operations(scan) + more * steps + around


def test_what_an_algebra_closes_over_has_its_gradient(seq):
    def total(scale: Any) -> Any:
        @cdl.algebra
        def weighted(layer: cdl.functors.SnocF[Any, Any]) -> Any:
            return jnp.zeros(3) if isinstance(layer, cdl.functors.Lin) else scale * layer.init + layer.last

        return jnp.sum(cdl.fold(weighted, seq))

    last = [seq.values[0, :2], seq.values[1]]
    wanted = jnp.sum(last[0][0]) + jnp.sum(last[1][1] + 2 * 0.5 * last[1][0])
    close(jax.grad(total)(jnp.array(0.5)), wanted, 1e-5)


def test_a_batch_of_other_lengths_does_not_compile_again(seq):
    calls = []

    class Counting(Elman):
        def __call__(self, x: Any, state: Any) -> Any:
            calls.append(0)
            return super().__call__(x, state)

    cell = net("elman", jr.key(0), jnp.float32)
    alg = FromStart(eqx.tree_at(lambda n: n.cell, cell, Counting(cell.cell.across, cell.cell.into, cell.cell.bias)))
    cdl.fold(alg, seq)
    before = len(calls)
    cdl.fold(alg, cdl.Seq(seq.values, [1, 0]))
    assert len(calls) == before > 0


def test_two_algebras_side_by_side_are_read_as_one(seq):
    @cdl.algebra
    def count(layer: cdl.functors.SnocF[Any, Any]) -> Any:
        return 0 if isinstance(layer, cdl.functors.Lin) else layer.init + 1

    alg = FromStart(net("elman", jr.key(0), jnp.float32))
    states, counts = cdl.fold(cdl.schemes.product(alg, count), seq)
    assert counts.tolist() == [2, 3]
    close(states, cdl.fold(alg, seq), 1e-5)
