"""A machine that is fed one input at a time: each step sees what the machine reads as it is, and does no more work than
it has to."""

import contextvars
import copy
import functools
import gc
import pickle
import types
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl import MealyF, MooreF, run
from cdl._engine.code._surroundings import Surroundings
from cdl.machines import start


GLOBAL = 2.0
SETTINGS = types.SimpleNamespace(scale=2.0, deep={"table": [1.0, [3.0]]})


class Scales(eqx.Module):
    """A machine that holds arrays in a list, and multiplies by what a function gives."""

    held: list[Any]
    by: Callable[[], Any]

    def __call__(self, state: Any) -> Any:
        after = lambda i: self.by() * (state + i) + self.held[0] + self.moved(i)
        return MealyF(lambda i: (after(i) + 1, after(i)))

    def moved(self, i: Any) -> Any:
        return i


def change_global() -> None:
    global GLOBAL
    GLOBAL += 1.0


def deep() -> Any:
    return SETTINGS.deep["table"][1][0] * SETTINGS.scale


table, left, right, entries = [2.0], [2.0, 3.0], [5.0], {"a": 2.0, "b": 3.0}
numbers, arrays = np.array([2.0, 3.0], np.float32), [jnp.array(2.0)]
held_in = contextvars.ContextVar("held_in", default=2.0)
bound = functools.partial(lambda x, by: x[0] * by, table, by=1.0)


def rebind_closure() -> Any:
    by = 2.0

    def read() -> Any:
        return by

    def change() -> None:
        nonlocal by
        by += 1.0

    return read, change


READ, REBIND = rebind_closure()


def swap() -> None:
    entries["a"], entries["b"] = entries["b"], entries["a"]


def scale_default(by: Any = 2.0, *, more: Any = 1.0) -> Any:
    return by * more


CHANGES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "a global": (lambda: GLOBAL, change_global),
    "a closure": (READ, REBIND),
    "a list": (lambda: table[0], lambda: table.__setitem__(0, table[0] + 1)),
    "an array": (lambda: arrays[0], lambda: arrays.__setitem__(0, arrays[0] + 1)),
    "what is in two lists": (
        lambda: 10.0 * len(left) + sum([*left, *right]),
        lambda: right.insert(0, left.pop()),
    ),
    "a dictionary": (lambda: entries["a"], swap),
    "an attribute": (
        lambda: SETTINGS.scale,
        lambda: setattr(SETTINGS, "scale", SETTINGS.scale + 1),
    ),
    "defaults": (lambda: scale_default(), lambda: setattr(scale_default, "__defaults__", (5.0,))),
    "code": (
        lambda: scale_default(),
        lambda: setattr(scale_default, "__code__", (lambda by, *, more: 9.0).__code__),
    ),
    "a partial function": (
        lambda: bound(),
        lambda: bound.keywords.update(by=bound.keywords["by"] + 1),
    ),
    "an array of NumPy": (lambda: numbers[0], lambda: numbers.__iadd__(1)),
    "a context variable": (lambda: held_in.get(), lambda: held_in.set(held_in.get() + 1)),
    "a name that was a builtin's": (
        lambda: 2.0 * abs(1.0),
        lambda: globals().__setitem__("abs", lambda x: 7.0),
    ),
}


def value(machine: Any, state: Any, i: Any) -> list[float]:
    return [float(x) for x in machine(state).step(i)]


@pytest.mark.parametrize("what", CHANGES)
def test_step_sees_what_has_changed_since_the_step_before(what):
    read, change = CHANGES[what]
    machine, state = Scales([jnp.array(0.5)], read), jnp.float32(0.0)
    now = start(machine, state)
    for k in range(8):
        if k in (3, 6):  # after a step at which nothing was traced
            before = value(machine, state, 1.5)
            change()
            assert k == 6 or value(machine, state, 1.5) != before
        answer, state = map(jnp.float32, value(machine, state, 1.5))
        found, now = now.step(jnp.float32(1.5))
        assert (float(found), float(now.state)) == (float(answer), float(state))


def test_a_step_sees_a_machine_that_changes_itself():
    class Changing(Scales):
        pass

    machine = Changing([jnp.array(0.5)], lambda: 2.0)
    now = start(machine, jnp.float32(0.0))
    for change in (
        lambda: None,
        lambda: machine.held.__setitem__(0, jnp.array(4.0)),
        lambda: machine.held.append(jnp.array(4.0)),
        lambda: setattr(Changing, "moved", lambda self, i: 3 * i),
        lambda: object.__setattr__(machine, "by", lambda: 8.0),
    ):
        change()
        for _ in range(3):
            answer, after = value(machine, now.state, 1.0)
            found, now = now.step(jnp.float32(1.0))
            assert (float(found), float(now.state)) == (answer, after)


@pytest.fixture
def looks(monkeypatch):
    """A list that grows with each look at everything."""
    found: list[Any] = []
    first = Surroundings.__init__

    def counted(self: Any, value: Any, data: Any = None) -> None:
        found.append(value)
        first(self, value, data)

    monkeypatch.setattr(Surroundings, "__init__", counted)
    return found


def cell(kind: Any, width: int) -> Any:
    class Answering(eqx.Module):
        cell: Any

        def __call__(self, state: Any) -> Any:
            after = lambda x: self.cell(x, state)
            return MealyF(lambda x: (jax.tree.leaves(after(x))[0], after(x)))

    return Answering(kind(width, width, key=jr.key(0)))


READERS = {
    "a cell": lambda: cell(eqx.nn.GRUCell, 3),
    "a closure": lambda: (lambda w: lambda s: MealyF(lambda i: (w * (s + i),) * 2))(jnp.ones(3)),
    "lists and objects": lambda: Scales([jnp.ones(3)], deep),
    "a partial function": lambda: Scales([jnp.ones(3)], bound),
}


@pytest.mark.parametrize("what", READERS)
def test_where_nothing_has_changed_nothing_is_looked_at_again(what, looks):
    now = start(READERS[what](), jnp.zeros(3))
    for _ in range(3):
        _, now = now.step(jnp.ones(3))
    count = len(looks)
    for _ in range(3):
        _, now = now.step(jnp.ones(3))
    assert len(looks) == count


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
        del now
        gc.collect(1)  # what is young: going through all that other tests have left takes seconds
    assert counts[0] == counts[1] == counts[2] > 0


def test_a_stepper_is_a_pytree_that_stays_as_it_is():
    machine = Scales([jnp.array(0.5)], lambda: 2.0)
    now = start(machine, jnp.array(1.0))
    _, now = now.step(jnp.array(1.0))
    leaves, structure = jax.tree.flatten(now)
    assert [x.shape for x in leaves if eqx.is_array(x)] == [(), (), ()]
    assert jax.tree.structure(jax.tree.unflatten(structure, [object()] * len(leaves))) == structure
    other = eqx.tree_at(lambda s: s.state, now, jnp.array(0.0))
    assert float(other.step(jnp.array(1.0))[0]) == 2 * 1 + 0.5 + 1 + 1
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
    with pytest.raises(eqx.EquinoxRuntimeError, match="a sum is above two"):
        now.step(jnp.float32(5.0))
    assert float(now.step(jnp.float32(0.5))[0]) == 1.5


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_step_on_other_shapes_is_another_program(shape):
    machine = lambda s: MooreF(s.sum(), lambda i: s + i.sum().astype(jnp.float32))
    now = start(machine, jnp.float32(0.0))
    for x in (jnp.ones(2), jnp.ones(shape), jnp.ones(2, jnp.int32)):
        before = float(now.state)
        out, now = now.step(x)
        assert float(out) == float(now.state) == before + x.size
