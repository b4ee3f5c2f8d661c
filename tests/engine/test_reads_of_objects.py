"""What a case reads of objects, methods, classes and nodes of pytrees: seen as it is at each call."""

import functools
import importlib
import itertools
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reader import reader, TREE

from cdl import (
    Algebra,
    annotate,
    cata,
    fmap,
    fold,
    Fork,
    inherit,
    Leaf,
    MealyF,
    pack,
    run,
    TreeF,
    unfold,
)
from cdl._engine.code._surroundings import Surroundings


SETTINGS = types.SimpleNamespace(scale=2.0)


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins with the same."""
    monkeypatch.setattr(SETTINGS, "scale", 2.0)


def change_an_attribute() -> None:
    SETTINGS.scale += 1


class Net(Algebra[TreeF[float, Any], Any]):
    """An algebra whose method reads a global, by another method."""

    act: Callable[[Any], Any]

    def __call__(self, layer: TreeF[float, Any]) -> Any:
        match layer:
            case Leaf(label):
                return self.act(self.moved(label))
            case Fork(left, right):
                return left - right

    def moved(self, label: Any) -> Any:
        return label + SETTINGS.scale


def test_methods_and_the_functions_that_a_module_holds_are_looked_into():
    table = [1.0]
    net, forest = Net(lambda x: x * table[0]), pack(TreeF, [TREE])
    for change in (lambda: None, lambda: table.__setitem__(0, 5.0), change_an_attribute):
        change()
        assert fold(net, forest)[0] == cata(net)(TREE) == annotate(net, forest)[0]


def test_every_compiled_form_sees_what_has_changed():
    table = [1.0]
    forest = pack(TreeF, [TREE])
    forms = {
        "inherit": lambda: inherit(lambda x, layer: fmap(lambda _: x + table[0], layer), forest, jnp.zeros(1))[1],
        "run": lambda: run(lambda s: MealyF(lambda i: (s * table[0], s + table[0])), jnp.zeros(()), jnp.zeros(2))[1],
        "unfold": lambda: unfold(lambda s: Leaf(s * table[0]), jnp.ones(1), 1).trees()[0].label,
    }
    found = {name: float(form()) for name, form in forms.items()}
    table[0] = 3.0
    again = {name: float(form()) for name, form in forms.items()}
    assert found == {"inherit": 1, "run": 2, "unfold": 1}
    assert again == {"inherit": 3, "run": 6, "unfold": 3}


class Table:
    """An ordinary object: a method, a property, and slots."""

    __slots__ = ("held", "times")

    def __init__(self) -> None:
        self.held, self.times = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": [5.0]}, 1.0

    def total(self, x: Any) -> Any:
        return x * self.times + sum(v for v in self.held.values() if isinstance(v, float)) + self.last

    @property
    def last(self) -> float:
        return self.held["e"][0]  # type: ignore[index]


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.held.update(c=30.0),
        lambda table: table.held.update(d=40.0),
        lambda table: setattr(table, "times", 7.0),
        lambda table: table.held["e"].__setitem__(0, 9.0),
    ],
)
def test_objects_are_looked_into_with_their_methods_properties_and_slots(change):
    table = Table()
    alg, _ = reader(lambda label: table.total(label))
    forest = pack(TreeF, [TREE])
    before = float(fold(alg, forest)[0])
    change(table)
    assert float(fold(alg, forest)[0]) == cata(alg)(TREE) != before


def test_what_is_seen_again_is_not_traced_again_for_any_of_two_instances(monkeypatch):
    states = importlib.import_module("cdl._engine.folds._states")
    traced, read = [], states.read
    monkeypatch.setattr(states, "read", lambda reading: traced.append(0) or read(reading))

    class Scaled(Algebra[TreeF[float, Any], Any]):
        by: float = eqx.field(static=True)

        def __call__(self, layer: TreeF[float, Any]) -> Any:
            return self.by * layer.label * table[0] if isinstance(layer, Leaf) else layer.left - layer.right

    table = [1.0]
    two, forest = (Scaled(2.0), Scaled(3.0)), pack(TreeF, [TREE])
    for factor in (1.0, 5.0):
        table[0] = factor
        for alg in two:
            assert fold(alg, forest)[0] == alg.by * factor * 2
    assert len(traced) == 4
    for factor in (1.0, 5.0, 1.0):
        table[0] = factor
        for alg in two:
            assert fold(alg, forest)[0] == alg.by * factor * 2
    assert len(traced) == 4


def test_threads_see_what_has_changed():
    def work(number: int) -> list[bool]:
        table = [float(number)]
        alg, _ = reader(lambda label: label * table[0])
        forest = pack(TreeF, [TREE])
        found = []
        for factor in (1.0, 2.0, 3.0):
            table[0] = factor * number
            found.append(float(fold(alg, forest)[0]) == 2 * factor * number)
        return found

    with ThreadPoolExecutor(4) as pool:
        assert all(itertools.chain(*pool.map(work, range(1, 5))))


def test_keys_partials_cycles_and_counters_are_what_they_were():
    weight, key = jnp.asarray(2.0), jax.random.key(0)
    loop: list[Any] = [weight]
    loop.append(loop)
    count = 0
    partly = jax.tree_util.Partial(lambda w, x: w * x, weight)

    def read(label: Any) -> Any:
        nonlocal count
        count += 1
        return partly(label) + loop[0] + jax.random.uniform(key) * 0

    alg, _ = reader(read)
    assert fold(alg, pack(TreeF, [TREE]))[0] == pytest.approx(float(cata(alg)(TREE)))
    assert count > 3


def test_functions_that_are_put_in_the_place_of_others_are_seen():
    functions = {"f": lambda x: 2 * x, "g": [functools.partial(lambda k, x: k * x, 3.0), lambda x: x]}
    alg, _ = reader(lambda label: functions["f"](label) + functions["g"][0](label) + functions["g"][1](label))
    forest = pack(TreeF, [TREE])
    for change in (
        lambda: None,
        lambda: functions.update(f=lambda x: 10 * x),
        lambda: functions["g"].__setitem__(0, functools.partial(lambda k, x: k * x, 30.0)),
        lambda: functions["g"].__setitem__(1, lambda x: 5 * x),
    ):
        change()
        assert fold(alg, forest)[0] == cata(alg)(TREE)


def test_methods_of_parents_and_attributes_of_classes_are_seen():
    class Parent(Algebra[TreeF[float, Any], Any]):
        def __call__(self, layer: TreeF[float, Any]) -> Any:
            return self.leaf(layer.label) if isinstance(layer, Leaf) else layer.left - layer.right

        def leaf(self, x: Any) -> Any:
            return x * SETTINGS.scale * type(self).times  # type: ignore[attr-defined]

    class Child(Parent):
        times = staticmethod(float)  # not a field

        def leaf(self, x: Any) -> Any:
            return super().leaf(x) + 1

    Child.times = 2.0  # type: ignore[assignment]
    alg, forest = Child(), pack(TreeF, [TREE])
    for change in (
        lambda: None,
        change_an_attribute,
        lambda: setattr(Child, "times", 7.0),
        lambda: setattr(Child, "leaf", lambda self, x: 3 * x),
    ):
        change()
        assert fold(alg, forest)[0] == cata(alg)(TREE)


def test_what_is_read_is_told_in_a_form_that_can_be_compared():
    def looked(x: Any) -> Any:
        return Surroundings(lambda: x).seen

    loop: list[Any] = []
    loop.append(loop)
    module = eqx.nn.Linear(2, 2, key=jax.random.key(0))
    for x in (loop, module, {1, 2}, "text", None, np.float32(1), [module] * 2, object(), jax.jit(abs), range(3)):
        f = lambda x=x: x
        assert Surroundings(f).seen == Surroundings(f).seen
    assert looked(np.zeros(2)) != looked(np.zeros(3))
    assert looked([1]) != looked([True])
    assert looked(0.0) != looked(-0.0)


@jax.tree_util.register_pytree_node_class
class Scaled:
    """A node of a pytree, as users register their own: weights, and a number that is static."""

    def __init__(self, weight: Any, times: float) -> None:
        self.weight, self.times = weight, times

    def tree_flatten(self) -> Any:
        return (self.weight,), self.times

    @classmethod
    def tree_unflatten(cls, times: Any, children: Any) -> "Scaled":
        return cls(*children, times)


class OfScaled(Algebra[Any, Any]):
    by: Any
    shape: Any = eqx.field(static=True)

    def __call__(self, layer: Any) -> Any:
        match layer:
            case Leaf(x):
                return self.by.weight * x * self.by.times
            case Fork(left, right):
                return left - right


def test_other_weights_in_a_node_of_a_users_pytree_run_in_the_same_program():
    forest, traces = pack(TreeF, [TREE]), []
    for weight, times in ((1.0, 2.0), (3.0, 2.0), (3.0, 5.0)):
        alg = OfScaled(Scaled(jnp.asarray(weight), times), jax.ShapeDtypeStruct((2,), jnp.float32))
        traces.append(Surroundings((alg,)).seen)
        assert fold(alg, forest)[0] == cata(alg)(TREE)
    assert traces[0] == traces[1] != traces[2]
