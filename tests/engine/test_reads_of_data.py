"""What a case reads of its data by plain Python: of a layer's class, or of a state's, without a mention of it.

A compiled form sees it as it is at each call, as its definition does.
"""

import dataclasses
import types
from collections.abc import Callable
from typing import Any, Never

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

import cdl
from cdl import Base
from cdl.functors import ListF


HELD = types.SimpleNamespace(value=1.0)
GLOBAL = 1.0


class Tag:
    """A signature of one constructor."""


class Above:
    """A class that the constructor extends."""

    inherited: Any

    @property
    def above(self) -> Any:
        return self.value * HELD.value  # type: ignore[attr-defined]


class Kind(type):
    """The class of the constructor."""

    @property
    def of_kind(cls) -> float:
        return HELD.value


class One(Base[Tag, Never], Above, metaclass=Kind):
    value: float

    @property
    def shown(self) -> Any:
        return self.value * type(self).extra

    @classmethod
    def times(cls, x: Any) -> Any:
        return x * cls.extra

    @staticmethod
    def scaled(x: Any) -> Any:
        return x * HELD.value

    def total(self) -> Any:
        return self.value + self.more()

    def more(self) -> Any:
        return GLOBAL

    def __neg__(self) -> Any:
        return self.value * type(self).extra

    def __getattr__(self, name: str) -> Any:
        if name == "made":
            return HELD.value
        raise AttributeError(name)


def change(name: str) -> None:
    """Gives what is read another value."""
    if name == "a global":
        globals()["GLOBAL"] += 1
    elif name == "an object":
        HELD.value += 1
    else:
        owner, attribute = (One, name) if name == "extra" else (Above, name)
        setattr(owner, attribute, getattr(owner, attribute, 0.0) + 1)


READS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "its type": (lambda layer: layer.value * type(layer).extra, "extra"),
    "its class": (lambda layer: layer.value * layer.__class__.extra, "extra"),
    "itself": (lambda layer: layer.value * layer.extra, "extra"),
    "a name that is made": (lambda layer: layer.value * getattr(layer, "ex" + "tra"), "extra"),
    "a class above": (lambda layer: layer.value * layer.inherited, "inherited"),
    "the class of its class": (lambda layer: layer.value * type(layer).of_kind, "an object"),
    "a property": (lambda layer: layer.shown, "extra"),
    "a property from above": (lambda layer: layer.above, "an object"),
    "a class method": (lambda layer: layer.times(layer.value), "extra"),
    "a static method": (lambda layer: layer.scaled(layer.value), "an object"),
    "a method of a method": (lambda layer: layer.total(), "a global"),
    "an operator": (lambda layer: -layer, "extra"),
    "`__getattr__`": (lambda layer: layer.value * layer.made, "an object"),
}


@pytest.mark.parametrize("form", ["fold", "annotate"])
@pytest.mark.parametrize("of", READS)
def test_what_a_case_reads_of_its_layer_may_change(of, form):
    read, what = READS[of]
    One.extra, Above.inherited = 1.0, 1.0  # type: ignore[attr-defined]
    alg, forest = cdl.algebra(lambda layer: jnp.asarray(read(layer))), cdl.pack(One, [One(2.0)])
    run = getattr(cdl, form)
    before = float(run(alg, forest)[0])
    change(what)
    assert float(run(alg, forest)[0]) == cdl.cata(alg)(One(2.0)) != before


class State(eqx.Module):
    """A state, a seed, an element: a pytree of a user."""

    held: jax.Array
    act: Any = eqx.field(static=True, default=None)

    def out(self) -> Any:
        return self.held * type(self).scale * (1.0 if self.act is None else self.act(1.0))  # type: ignore[attr-defined]


def state(*shape: int, act: Any = None) -> State:
    return State(jnp.ones(shape), act)


def growing(seed: State) -> Any:
    return cdl.Leaf(seed.out())


def answering(s: State) -> Any:
    return cdl.MealyF(lambda x: (s.out() + x, s))


def handing(s: State, layer: Any) -> Any:
    return cdl.fmap(lambda _: State(s.out()), layer)


@cdl.algebra
def summing(layer: ListF[State, jax.Array]) -> jax.Array:
    return jnp.zeros(()) if isinstance(layer, cdl.Nil) else layer.head.out() + layer.tail


LABEL = cdl.algebra(lambda layer: layer.label)
FOREST = cdl.pack(cdl.TreeF, [cdl.Fork(cdl.Leaf(1.0), cdl.Leaf(2.0))])
STEPPED = cdl.machines.start(answering, state())

FORMS: dict[str, Callable[[], Any]] = {
    "inherit": lambda: cdl.inherit(handing, FOREST, state(1)).held[1],
    "unfold": lambda: cdl.unfold(growing, state(1), 1).payload[0][0, 0],
    "refold": lambda: cdl.refold(LABEL, growing, state(1), 1)[0][0],
    "refold by shapes": lambda: cdl.refold(LABEL, growing, state(1))[0],
    "run": lambda: cdl.run(answering, state(), jnp.zeros(3))[0][2],
    "a step": lambda: STEPPED.step(jnp.float32(0.0))[0],
    "fold of a sequence": lambda: cdl.fold(summing, cdl.Seq(state(1, 2), jnp.array([1])))[0],
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_read_of_the_class_of_a_value_may_change(form):
    for scale in (1.0, 3.0):
        State.scale = scale  # type: ignore[attr-defined]
        assert float(FORMS[form]()) == scale


def test_a_function_that_is_fixed_in_a_seed_may_read_what_changes():
    State.scale = 1.0  # type: ignore[attr-defined]
    act = lambda x: x * HELD.value
    for value in (2.0, 5.0):
        HELD.value = value
        assert float(cdl.unfold(growing, state(1, act=act), 1).payload[0][0, 0]) == value


@dataclasses.dataclass(frozen=True)
class Setting:
    """What is fixed in a state: one that is equal is the same."""

    by: float

    def __call__(self, x: Any) -> Any:
        return x * self.by


def test_what_is_fixed_in_a_state_and_equal_is_not_traced_again():
    State.scale = 1.0  # type: ignore[attr-defined]
    traced: list[None] = []

    def counted(s: State) -> Any:
        traced.append(None)
        return answering(s)

    machine = cdl.machines.start(counted, state(act=Setting(2.0)))
    run = lambda: cdl.run(counted, state(act=Setting(2.0)), jnp.zeros(3))[0]
    assert run()[0] == 2 == machine.step(jnp.float32(0.0))[0]
    count = len(traced)
    assert run()[0] == 2
    assert machine.step(jnp.float32(0.0))[1].step(jnp.float32(0.0))[0] == 2
    assert len(traced) == count


def test_a_state_of_another_class_is_looked_at_at_the_next_step():
    class Other(State):
        """A state with a scale of its own."""

    for scale in (1.0, 3.0):
        Other.scale = State.scale = scale  # type: ignore[attr-defined]
        for begin in (state(), Other(jnp.ones(()))):
            machine = cdl.machines.start(answering, begin)
            assert float(machine.step(jnp.float32(0.0))[1].step(jnp.float32(0.0))[0]) == scale
