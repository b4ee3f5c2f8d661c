"""A machine that is fed one input at a time gives what `run` gives, in one program."""

import copy
import pickle
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest

from cdl import MealyF, MooreF, run
from cdl.machines import start


class Scales(eqx.Module):
    """A machine that doubles its state, and adds the input and an array of its own."""

    held: jax.Array

    def __call__(self, state: Any) -> Any:
        after = lambda i: 2.0 * (state + i) + self.held
        return MealyF(lambda i: (after(i) + i, after(i)))


def cell(kind: Any, width: int) -> Any:
    class Answering(eqx.Module):
        cell: Any

        def __call__(self, state: Any) -> Any:
            after = lambda x: self.cell(x, state)
            return MealyF(lambda x: (jax.tree.leaves(after(x))[0], after(x)))

    return Answering(kind(width, width, key=jr.key(0)))


@pytest.mark.parametrize("length", [0, 1, 4])
@pytest.mark.parametrize("kind", [eqx.nn.GRUCell, eqx.nn.LSTMCell])
def test_steps_are_the_run(kind, length):
    machine = cell(kind, 3)
    state = jnp.ones(3) if kind is eqx.nn.GRUCell else (jnp.ones(3), jnp.zeros(3))
    inputs = jr.normal(jr.key(length), (length, 3))
    outputs, last = run(machine, state, inputs)
    now = start(machine, state)
    for x, wanted in zip(inputs, outputs, strict=True):
        found, now = now.step(x)
        assert jnp.allclose(found, wanted, atol=1e-6)
    assert all(map(jnp.allclose, jax.tree.leaves(now.state), jax.tree.leaves(last)))
    assert int(now.time) == length


def test_machines_that_are_equal_have_one_program():
    traced = []

    class Counted(eqx.Module):
        w: jax.Array

        def __call__(self, state: Any) -> Any:
            traced.append(0) if isinstance(self.w, jax.core.Tracer) else None
            return MealyF(lambda i: (state * self.w, state * self.w + i))

    counts = []
    for by in (2.0, 3.0, 2.0):
        _, now = start(Counted(jnp.float32(by)), jnp.float32(1.0)).step(jnp.float32(4.0))
        assert float(now.step(jnp.float32(0.0))[0]) == by * (by + 4)
        counts.append(len(traced))
    assert counts[0] == counts[1] == counts[2] > 0


def test_a_stepper_is_a_pytree_that_stays_as_it_is():
    now = start(Scales(jnp.array(0.5)), jnp.array(1.0))
    _, now = now.step(jnp.array(1.0))
    leaves, structure = jax.tree.flatten(now)
    assert [x.shape for x in leaves if eqx.is_array(x)] == [(), (), ()]
    assert jax.tree.structure(jax.tree.unflatten(structure, [object()] * len(leaves))) == structure
    other = eqx.tree_at(lambda s: s.state, now, jnp.array(0.0))
    assert float(other.step(jnp.array(1.0))[0]) == 2 * 1 + 0.5 + 1
    assert int(other.time) == 1
    assert "Stepper(machine=Scales(" in repr(now)
    assert float(copy.deepcopy(now).step(1.0)[0]) == float(now.step(1.0)[0])
    assert float(pickle.loads(pickle.dumps(start(total, jnp.array(1.0)))).step(2.0)[0]) == 3.0
    with pytest.raises(AttributeError):
        now.state = jnp.array(0.0)  # type: ignore[misc]


def total(state: Any) -> Any:
    return MealyF(lambda i: (state + i, state + i))


def fed(machine: Any, xs: Any) -> Any:
    now: Any = start(machine, jnp.float32(1.0))
    outputs = []
    for x in xs:
        out, now = now.step(x)
        outputs.append(out)
    return jnp.stack(outputs)


def test_a_stepper_goes_through_the_transformations():
    xs, w = jnp.arange(3.0), jnp.float32(2.0)
    machine = lambda w: lambda s: MealyF(lambda i: (s * w + i,) * 2)
    by, whole = lambda w: fed(machine(w), xs), lambda w: run(machine(w), jnp.float32(1.0), xs)[0]
    assert jnp.array_equal(by(w), whole(w))
    assert jnp.array_equal(jax.jit(by)(w), whole(w))
    assert jnp.array_equal(jax.jacrev(by)(w), jax.jacrev(whole)(w))
    assert jnp.array_equal(jax.jvp(by, (w,), (w,))[1], jax.jvp(whole, (w,), (w,))[1])
    assert jnp.array_equal(jax.vmap(by)(jnp.array([w, 3.0]))[0], whole(w))


def test_stepper_goes_through_equinox_s_transformations_and_scan():
    step = eqx.filter_jit(lambda now, x: now.step(x))
    first, now = step(start(total, 0), 5)
    second, now = step(now, 7)
    assert (int(first), int(second), int(now.time)) == (5, 12, 2)
    many = eqx.filter_vmap(lambda s, x: start(total, s).step(x)[0])(jnp.arange(3), jnp.array([1, 2, 3]))
    assert many.tolist() == [1, 3, 5]
    machine, xs = cell(eqx.nn.LSTMCell, 3), jnp.ones((3, 3))
    begin = jnp.ones(3), jnp.zeros(3)
    now, outputs = jax.lax.scan(lambda now, x: now.step(x)[::-1], start(machine, begin), xs)
    assert jnp.allclose(outputs, run(machine, begin, xs)[0], atol=1e-6)
    assert int(now.time) == 3


def test_an_error_of_a_program_is_raised_at_its_step():
    below = lambda s: MealyF(lambda i: (eqx.error_if(s + i, s + i > 2, "a sum is above two"),) * 2)
    _, now = start(below, jnp.float32(0.0)).step(jnp.float32(1.0))
    with pytest.raises(Exception, match="a sum is above two"):
        jax.block_until_ready(now.step(jnp.float32(5.0)))
    assert float(now.step(jnp.float32(0.5))[0]) == 1.5


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_step_on_other_shapes_is_another_program(shape):
    machine = lambda s: MooreF(s.sum(), lambda i: s + i.sum().astype(jnp.float32))
    now = start(machine, jnp.float32(0.0))
    for x in (jnp.ones(2), jnp.ones(shape), jnp.ones(2, jnp.int32)):
        before = float(now.state)
        out, now = now.step(x)
        assert float(out) == float(now.state) == before + x.size
