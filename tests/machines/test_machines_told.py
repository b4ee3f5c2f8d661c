"""A newcomer's first mistakes with machines and coalgebras: each has a sentence that says what to write."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from cdl import CdlError, choose, follow, Fork, Leaf, MealyF, MooreF, pack, parallel, run, Seq, series, TreeF, unfold
from cdl.errors import CarrierMismatch
from cdl.machines import start


CELL = eqx.nn.GRUCell(2, 6, key=jax.random.key(0))
BATCH = Seq(jnp.zeros((4, 7, 2)), jnp.array([7, 3, 1, 0]))


def mealy(h: Any) -> MealyF[Any, Any, Any]:
    return MealyF(lambda x: (CELL(x, h), CELL(x, h)))


def add(s: Any) -> MealyF[Any, Any, Any]:
    return MealyF(lambda x: (s + x, s + x))


class Asking(eqx.Module):
    weight: jax.Array

    def __call__(self, s: Any) -> MealyF[Any, Any, Any]:
        return MealyF(lambda x: (x, s)) if self.weight > 0 else MealyF(lambda x: (-x, s))


def halves(s: Any) -> Any:
    return choose(jnp.stack([s[0], s[1]]), Leaf(s[0]), Fork(0.5 * s, 0.5 * s))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: run(mealy, jnp.zeros((4, 6)), BATCH.values),
            r"time is the leading axis.*give a `Seq\(values, lengths\)`",
        ),
        (
            lambda: run(CELL, jnp.zeros(6), jnp.zeros((7, 2))),
            r"a `GRUCell` takes two arguments.*`lambda h: MooreF\(h, ",
        ),
        (
            lambda: run(mealy, BATCH, jnp.zeros((4, 6))),
            r"as the state: it comes first, `run\(machine, state, inputs\)`",
        ),
        (lambda: run(mealy, jnp.zeros(6), BATCH), r"`jnp.broadcast_to\(state, \(4, \*state.shape\)\)`"),
        (lambda: run(mealy, jnp.zeros(6), {"x": [1.0, 2.0]}), r"a list is not an array: write `jnp.array\(\[…\]\)`"),
        (lambda: start(mealy, jnp.zeros(6)).step([1.0, 2.0]), r"a list is not an array: write `jnp.array\(\[…\]\)`"),
        (
            lambda: unfold(lambda s: Leaf(jnp.tanh(s)), [jnp.zeros(4)] * 4, 9),
            r"a seed of \[f32.*`jnp.stack\(\[…\]\)` of arrays",
        ),
        (
            lambda: follow(halves, jnp.zeros((1, 4)), pack(TreeF, [Leaf(1.0)])),  # type: ignore[call-overload]
            r"the forest comes before `seeds`, `follow\(coalg, forest, seeds\)`",
        ),
        (
            lambda: run(add, 0.0, jnp.ones((2, 3))),
            r"as f32\[\] and comes out as f32\[3\].*time is the leading axis.*give a `Seq\(values, lengths\)`",
        ),
        (lambda: run(series(add, lambda x: 2 * x), (0.0, ()), jnp.ones(3)), r"or give `stateless\(f\)` of a function"),
        (lambda: run(series(add, jnp.tanh), (0.0, ()), jnp.ones(3)), r"fails for the state `\(\)`.*`stateless\(f\)`"),
        (lambda: run(parallel(add, lambda x: x.real), (0.0, ()), (jnp.ones(3),) * 2), r"as `stateless\(f\)`"),
        (
            lambda: run(series(add, Asking(jnp.array(1.0))), (0.0, ()), jnp.ones(3)),
            "asks for the value of a number in its step",
        ),
        (lambda: choose([0.0, 1.0], Leaf(1.0), Fork(1.0, 1.0)), r"Of a list, `jnp.array\(\[…\]\)` is an array"),
    ],
)
def test_a_first_mistake_is_told_with_what_to_write(call: Callable[[], Any], words: str):
    with pytest.raises(CdlError, match=words):
        call()


def test_what_is_written_of_a_cell_runs():
    out, last = run(lambda h: MooreF(h, lambda x: CELL(x, h)), jnp.zeros(6), jnp.ones((3, 2)))
    state = jnp.zeros(6)
    for _ in range(3):
        state = CELL(jnp.ones(2), state)
    assert jnp.allclose(last, state, atol=1e-6)
    assert out.shape == (4, 6)


def test_what_is_written_of_one_state_runs():
    state = jnp.zeros(6)
    assert run(mealy, jnp.broadcast_to(state, (4, *state.shape)), BATCH)[1].shape == (4, 6)


@pytest.mark.parametrize("state", [0.0, jnp.zeros(())])
@pytest.mark.parametrize("x", [4.0, jnp.float32(4.0)])
@pytest.mark.parametrize("machine", [lambda s: MealyF(lambda x: (s + x, x > 3)), lambda s: MooreF(s, lambda x: x > 3)])
def test_a_step_refuses_the_machine_that_run_refuses(machine: Any, state: Any, x: Any):
    words = r"its state goes in as .*\[\] and comes out as bool\[\]\. Give back a state of"
    with pytest.raises(CarrierMismatch, match=words):
        run(machine, state, jnp.array([4.0, 1.0]))
    with pytest.raises(CarrierMismatch, match=words):
        start(machine, state).step(x)


def test_a_later_step_refuses_too_and_a_truth_value_that_is_written_is_a_number():
    machine = lambda s: MealyF(lambda x: (s, x))
    _, after = start(machine, 0.0).step(1.0)
    with pytest.raises(CarrierMismatch, match=r"as f32\[\] and comes out as bool\[\]"):
        after.step(True)
    assert start(lambda s: MealyF(lambda x: (s, True)), 0.0).step(1.0)[1].state == 1.0
