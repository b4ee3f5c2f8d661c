"""`run` is the behaviour of a machine, by definition, in value and in gradient; and so is one step at a time."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import close, differentiated
from programs import primitives

from cdl import ana, MealyF, MooreF, run, Seq
from cdl.machines import respond, start


WIDTH, READS, SHOWS = 3, 2, 2


class Cell(eqx.Module):
    """A cell on pairs of vectors that does not commute with itself; as a Mealy or as a Moore machine."""

    read: jax.Array
    turn: jax.Array
    show: jax.Array
    moore: bool = eqx.field(static=True)

    def __init__(self, moore: bool, key: Any) -> None:
        shapes = (WIDTH, READS), (WIDTH, WIDTH), (SHOWS, WIDTH)
        self.read, self.turn, self.show = (jr.normal(jr.fold_in(key, i), s) for i, s in enumerate(shapes))
        self.moore = moore

    def __call__(self, state: Any) -> Any:
        slow, fast = state

        def after(i: Any) -> Any:
            new = jnp.tanh(self.turn @ fast + self.read @ i["x"] * i["scale"] + slow)
            return 0.5 * slow + self.turn @ new, new

        if self.moore:
            return MooreF(self.show @ (fast * slow), after)
        return MealyF(lambda i: (self.show @ (fast + after(i)[1] * i["scale"]), after(i)))


def case(moore: bool, key: Any, shape: tuple[int, ...]) -> Any:
    """A machine, states and inputs with leading axes."""
    keys = iter(jr.split(key, 5))
    state = jr.normal(next(keys), (*shape[:-1], WIDTH)), jr.normal(next(keys), (*shape[:-1], WIDTH))
    inputs = {"x": jr.normal(next(keys), (*shape, READS)), "scale": jr.normal(next(keys), shape)}
    return Cell(moore, next(keys)), state, inputs


def by_definition(machine: Any, state: Any, inputs: Any, length: int) -> Any:
    """The outputs, the last state and every state, one step at a time."""
    each = [jax.tree.map(lambda x: x[t], inputs) for t in range(length)]  # noqa: B023
    states = [state]
    for i in each:
        after = machine(states[-1]).step(i)
        states.append(after if machine.moore else after[1])
    stacked = lambda rows: jax.tree.map(lambda *xs: jnp.stack(xs), *rows)
    outputs = respond(ana(machine)(state), each)
    return stacked(outputs) if outputs else jnp.zeros((0, SHOWS)), states[-1], stacked(states)


def same(f: Any, g: Any, *inputs: Any) -> None:
    """Two functions agree in value, and in the gradient of a random linear function of it."""
    found, wanted = (eqx.filter_jit(differentiated(h))(*inputs) for h in (f, g))
    close(found, wanted, 1e-10)


@pytest.mark.parametrize("moore", [False, True])
def test_run_is_the_behaviour_in_value_and_gradient(moore, getkey):
    with jax.enable_x64(True):
        machine, state, inputs = case(moore, getkey(), (3,))
        outputs, last, _ = run(machine, state, inputs, states=True)
        assert len(outputs) == 3 + moore
        close(run(machine, state, inputs), (outputs, last), 1e-10)
        same(lambda *x: run(*x, states=True), lambda *x: by_definition(*x, 3), machine, state, inputs)


LENGTHS = [2, 0, 3]


@pytest.mark.parametrize("moore", [False, True])
def test_run_on_many_sequences_is_run_on_each(moore, getkey):
    with jax.enable_x64(True):
        machine, state, inputs = case(moore, getkey(), (3, 4))
        past = np.arange(4) >= np.array(LENGTHS)[:, None]
        spoilt = jax.tree.map(lambda x: jnp.where(past.reshape(3, 4, *[1] * (x.ndim - 2)), jnp.nan, x), inputs)

        def fast(m: Any, s: Any, i: Any) -> Any:
            outputs, last, states = run(m, s, Seq(i, LENGTHS), states=True)
            return outputs.values, last, states.values, outputs.lengths, states.lengths

        def slow(m: Any, s: Any, i: Any) -> Any:
            rows = []
            for b, n in enumerate(LENGTHS):
                one = jax.tree.map(lambda x: x[b], (s, jax.tree.map(jnp.nan_to_num, i)))  # noqa: B023
                outputs, last, states = by_definition(m, *one, n)
                rows.append((padded(outputs, 4 + moore), last, jax.tree.map(lambda x: padded(x, 5), states)))
            lengths = jnp.array(LENGTHS, jnp.int32)
            return (
                *jax.tree.map(lambda *xs: jnp.stack(xs), *rows),
                lengths + int(moore),
                lengths + 1,
            )

        same(fast, slow, machine, state, spoilt)


def padded(rows: Any, count: int) -> Any:
    return jnp.zeros((count, *rows.shape[1:])).at[: len(rows)].set(rows)


def test_padding_on_which_a_step_is_infinite_changes_no_gradient():
    inverse = Weighted(jnp.array(2.0))  # 1 / 0, at the zeros that a batch is padded with
    batch = Seq.of([np.array([1.0, 2.0], np.float32), np.array([], np.float32)], time=3)
    total = lambda machine: run(machine, jnp.zeros(2), batch)[0].values.sum()
    value, grad = eqx.filter_value_and_grad(total)(inverse)
    assert value == 2 / 1 + (2 / 1 + 2 / 2)
    assert grad.weight == 1 + 1.5


class Weighted(eqx.Module):
    weight: jax.Array

    def __call__(self, state: Any) -> Any:
        return MealyF(lambda i: (state + self.weight / i,) * 2)


def noisy(state: Any, *, key: Any = None) -> Any:
    drawn = 0 if key is None else jr.randint(key, (), 0, 1000)
    return MealyF(lambda i: (drawn, state + i))


def noisy_moore(state: Any, *, key: Any = None) -> Any:
    return MooreF(state if key is None else jr.randint(key, (), 0, 1000), lambda i: state + i)


@pytest.mark.parametrize("machine", [noisy, noisy_moore])
def test_a_machine_is_given_the_keys_of_its_definition(machine, getkey):
    key, inputs = getkey(), jnp.arange(4)
    wanted = [int(o) for o in respond(ana(machine, key=key)(0), inputs)]
    assert len(set(wanted)) > 2
    assert run(machine, 0, inputs, key=key)[0].tolist() == wanted
    many = run(machine, jnp.zeros(2, jnp.int32), Seq(jnp.stack([inputs, inputs]), [4, 2]), key=key)[0]
    for b, n in enumerate(many.lengths.tolist()):
        alone = respond(ana(machine, key=jr.fold_in(key, b))(0), inputs[: [4, 2][b]])
        assert many.values[b, :n].tolist() == [int(o) for o in alone]
    now, fed = start(machine, 0, key=key), []
    for i in inputs:
        out, now = now.step(i)
        fed.append(int(out))
    assert fed == wanted[-4:]


def test_run_gives_a_python_number_the_type_of_later_states(getkey):
    total = lambda s: MealyF(lambda i: (s + i, s + i))
    outputs, last = run(total, 0, jnp.array([0.5, 1.0, 2.0]))
    assert outputs.tolist() == [0.5, 1.5, 3.5]
    assert last == 3.5
    assert last.dtype == jnp.float32
    parity = lambda odd: MooreF(odd, lambda i: odd ^ (i % 2 == 1))
    assert run(parity, False, jnp.array([3, 4, 5]))[0].tolist() == [False, True, True, False]


def test_no_input_is_no_step(getkey):
    machine, state, inputs = case(True, getkey(), (0,))
    outputs, last = run(machine, state, inputs)
    close(outputs, machine(state).out[None], 1e-6)
    close(last, state, 1e-6)
    outputs, last, states = run(Cell(False, getkey()), state, inputs, states=True)
    assert outputs.shape == (0, SHOWS)
    close(states, jax.tree.map(lambda x: x[None], state), 1e-6)


def test_what_a_machine_closes_over_has_a_gradient():
    def loss(weight: Any) -> Any:
        return run(lambda s: MealyF(lambda i: (s * weight, s * weight + i)), jnp.array(1.0), jnp.ones(3))[0].sum()

    w = jnp.array(2.0)  # 2, then 3 · 2, then 7 · 2: w + (w + 1) w + ((w + 1) w + 1) w
    assert loss(w) == 2 + 6 + 14
    assert jax.grad(loss)(w) == 1 + (2 * w + 1) + (3 * w**2 + 2 * w + 1)


def test_the_program_does_not_grow_with_the_sequence(getkey):
    def program(length: int) -> Any:
        machine, state, inputs = case(True, jr.key(0), (length,))
        return primitives(jax.make_jaxpr(lambda s, i: run(machine, s, i))(state, inputs))

    assert program(5) == program(50)


@pytest.mark.parametrize("moore", [False, True])
def test_one_step_at_a_time_gives_the_numbers_of_the_whole(moore, getkey):
    machine, state, inputs = case(moore, getkey(), (6,))
    outputs, last, states = run(machine, state, inputs, states=True)
    now = start(machine, state)
    if moore:
        close(now.out, outputs[0], 1e-6)
    for t in range(6):
        answer, now = now.step(jax.tree.map(lambda x: x[t], inputs))  # noqa: B023
        close(answer, outputs[t + moore], 1e-6)
        close(now.state, jax.tree.map(lambda x: x[t + 1], states), 1e-6)  # noqa: B023
    close(now.state, last, 1e-6)
    assert int(now.time) == 6


def test_a_batch_of_the_same_shapes_does_not_compile_again():
    traced = []

    def total(s: Any) -> Any:
        traced.append(s)
        return MealyF(lambda i: (s + i, s + i))

    run(total, jnp.zeros(2), Seq(jnp.ones((2, 3)), [3, 1]))
    count = len(traced)
    run(total, jnp.ones(2), Seq(jnp.zeros((2, 3)), [0, 2]))
    assert len(traced) == count
