"""What a case reads from outside: the compiled forms see it as it is at each call, as their definitions do."""

import copy
import functools
import pathlib
import types
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reader import reader, TREE

import cdl
from cdl import (
    Algebra,
    algebra,
    cata,
    CdlError,
    fold,
    Leaf,
    pack,
    TreeF,
)
from cdl._engine.code._outside import LIBRARIES


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


def test_what_is_of_cdl_is_of_a_library_wherever_it_is_installed():
    folders = {path.parent for path in pathlib.Path(cdl.__file__).parent.rglob("*.py")}
    assert len(folders) > 20
    assert [str(folder) for folder in folders if not f"{folder}/file.py".startswith(LIBRARIES)] == []
