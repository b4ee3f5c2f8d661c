"""What a case reads from outside: the compiled forms see it as it is at each call, as their definitions do."""

import copy
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
    algebra,
    annotate,
    cata,
    CdlError,
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
from cdl._engine._surroundings import Surroundings


SETTINGS = types.SimpleNamespace(scale=2.0, deep={"table": [1.0, np.array([2.0])]})
GLOBAL = 1.0


class Config:
    scale = 1.0


def helper(x: Any) -> Any:
    return x * GLOBAL + SETTINGS.scale + SETTINGS.deep["table"][1][0] + Config.scale


def change_global() -> None:
    global GLOBAL
    GLOBAL += 1.0


CHANGES: dict[str, Callable[[], None]] = {
    "a global": change_global,
    "an attribute": lambda: setattr(SETTINGS, "scale", SETTINGS.scale + 1),
    "an array inside": lambda: SETTINGS.deep["table"][1].__iadd__(1.0),
    "an attribute of a class": lambda: setattr(Config, "scale", Config.scale + 1),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_function_that_is_called_reads_may_change(what):
    alg, _ = reader(lambda label: helper(label))
    forest = pack(TreeF, [TREE])
    before = float(fold(alg, forest)[0])
    CHANGES[what]()
    assert float(fold(alg, forest)[0]) == cata(alg)(TREE) != before


@pytest.mark.parametrize("wrapped", [lambda x: x, lambda x: [x], lambda x: {"key": (x,)}])
def test_what_is_closed_over_may_be_changed_in_place_or_bound_anew(wrapped):
    table = np.array([2.0, 0.5])
    held = wrapped(table)
    (array,) = jax.tree.leaves(held)
    alg, _ = reader(lambda label: label * jax.tree.leaves(held)[0][0])
    forest = pack(TreeF, [TREE])
    assert fold(alg, forest)[0] == cata(alg)(TREE)
    array[0] = 7.0
    assert fold(alg, forest)[0] == cata(alg)(TREE)


TABLES: dict[str, Callable[[], Any]] = {
    "16 bits": lambda: np.array([1.0, 2.0], jnp.bfloat16),
    "large": lambda: np.ones(10_000, np.float32),
    "every other": lambda: np.ones((3, 4))[:, ::2],
    "objects": lambda: np.array([1.0, 2.0], object),
    "masked": lambda: np.ma.masked_array([1.0, 2.0], [False, False]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_numpy_array_of_any_kind_may_be_changed_in_place(kind):
    table = TABLES[kind]()
    alg, traced = reader(lambda label: label * float(table.sum()))
    forest = pack(TreeF, [TREE])
    before = float(fold(alg, forest)[0])
    once = len(traced)
    assert float(fold(alg, forest)[0]) == before
    assert len(traced) == once  # `cata` is called last: it would count, which a case that counts reads
    table[-1:] = np.ma.masked if kind == "masked" else 8
    assert float(fold(alg, forest)[0]) == cata(alg)(TREE) != before


@pytest.mark.parametrize("made", [np.asarray, jnp.asarray])
def test_a_list_that_a_module_holds_may_be_read_by_its_function_too(made):
    class Both(Algebra[TreeF[float, Any], Any]):
        table: list[Any]
        act: Callable[[Any], Any]

        def __call__(self, layer: TreeF[float, Any]) -> Any:
            return self.act(layer.label) if isinstance(layer, Leaf) else layer.left - layer.right

    table = [made(2.0)]
    alg, forest = Both(table, lambda x: x * table[0]), pack(TreeF, [TREE])
    for factor in (2.0, 5.0):
        table[0] = made(factor)
        assert fold(alg, forest)[0] == cata(alg)(TREE) == 2 * factor


LINEAR, OTHER = (eqx.nn.Linear(1, 1, key=jax.random.key(i)) for i in range(2))
LARGE: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {  # read, and changed in place
    "a list": ([0.5] * 3000, lambda x: x[2999], lambda x: x.__setitem__(2999, -1.5)),
    "whole numbers": ([-1] * 3000, lambda x: x[0], lambda x: x.__setitem__(0, -2)),
    "a dictionary": (dict.fromkeys(map(str, range(3000)), 2.0), lambda x: x["7"], lambda x: x.update({"7": 0.25})),
    "lists in a list": ([[0.5] for _ in range(3000)], lambda x: x[1][0], lambda x: x[1].append(x[1].pop() + 1)),
    "JAX arrays": ([jnp.ones(1)] * 1500, lambda x: x[9][0], lambda x: x.__setitem__(9, jnp.zeros(1))),
    "modules": ([LINEAR] * 1500, lambda x: x[9].weight[0, 0], lambda x: x.__setitem__(9, OTHER)),
    "types": ([np.zeros(1, np.int32)] * 1500, lambda x: x[9].dtype.itemsize, lambda x: x.__setitem__(9, np.zeros(1))),
    "arrays": ([np.ones(1) for _ in range(1500)], lambda x: x[9][0], lambda x: x[9].__iadd__(1.0)),
    "objects": (np.array([[0.5]] * 3000, object), lambda x: x[5, 0], lambda x: x.__setitem__((5, 0), 4.0)),
}


@pytest.mark.parametrize("what", LARGE)
def test_what_is_large_may_change_too(what):
    held, read, change = LARGE[what]
    held = copy.deepcopy(held)
    alg, _ = reader(lambda label: label * jnp.asarray(read(held), jnp.float32))
    forest = pack(TreeF, [TREE])
    before = float(fold(alg, forest)[0])
    change(held)
    assert float(fold(alg, forest)[0]) == cata(alg)(TREE) != before


def first(table: Any, layer: TreeF[float, Any]) -> Any:
    return layer.label * table[0] if isinstance(layer, Leaf) else layer.left - layer.right


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_arrays_of_numpy_are_read_as_they_are_whatever_jax_remembers_of_them(dtype):
    table = np.ones(2, dtype)
    alg, _ = reader(lambda label: label * jnp.asarray(table)[0].astype(jnp.float32))
    forest = pack(TreeF, [TREE])
    before = float(fold(alg, forest)[0])
    table += 1
    assert float(fold(alg, forest)[0]) == 2 * before
    assert float(cata(alg)(TREE)) == 2 * before


@pytest.mark.parametrize("held", [[jnp.asarray(1.0)], [1.0], {0: jnp.asarray(1.0)}], ids=str)
@pytest.mark.parametrize("bind", [lambda x: functools.partial(first, x), lambda x: functools.partial(last, table=x)])
def test_what_a_partial_function_is_bound_to_may_change_in_place(held, bind):
    held = copy.copy(held)
    alg, forest = bind(held), pack(TreeF, [TREE])
    before = float(fold(alg, forest)[0])
    held[0] = 3 * held[0]
    assert float(fold(alg, forest)[0]) == float(cata(alg)(TREE)) == 3 * before


def last(layer: TreeF[float, Any], *, table: Any) -> Any:
    return first(table, layer)


def test_what_a_function_has_as_an_attribute_may_change():
    def scaled(layer: TreeF[float, Any]) -> Any:
        return first([scaled.by], layer)  # type: ignore[attr-defined]

    forest = pack(TreeF, [TREE])
    scaled.by = jnp.asarray(1.0)  # type: ignore[attr-defined]
    before = float(fold(algebra(scaled), forest)[0])
    scaled.by = jnp.asarray(5.0)  # type: ignore[attr-defined]
    assert float(fold(algebra(scaled), forest)[0]) == 5 * before


def test_more_than_can_be_compared_at_each_call_is_refused():
    held = [types.SimpleNamespace(by=1.0) for _ in range(30_000)]
    alg, _ = reader(lambda label: label * held[0].by)
    with pytest.raises(CdlError, match=r"read more than 20,000 things from outside.*SimpleNamespace"):
        fold(alg, pack(TreeF, [TREE]))


def test_an_array_of_real_numbers_is_an_input_and_nothing_is_traced_again():
    weight, shift = jnp.asarray(2.0), {"by": [jnp.asarray(0.5)]}
    partly = functools.partial(lambda shift, label: label + shift["by"][0], shift)
    alg, traced = reader(lambda label: weight * partly(label))
    forest = pack(TreeF, [TREE])
    fold(alg, forest)
    once = len(traced)
    for factor in (3.0, -1.0):
        weight, shift["by"][0] = jnp.asarray(factor), jnp.asarray(factor / 4)
        assert float(fold(alg, forest)[0]) == pytest.approx(factor * (1 + factor / 4) - factor * (2 - 3))
        assert len(traced) == once


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
    for change in (lambda: None, lambda: table.__setitem__(0, 5.0), CHANGES["an attribute"]):
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
        CHANGES["an attribute"],
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
