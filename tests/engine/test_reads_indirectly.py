"""What a case reads without its name, or inside the values of a library: it may change, too."""

import array
import contextlib
import functools
import operator
import os
import threading
import types
import weakref
from collections import ChainMap, Counter, defaultdict, deque, OrderedDict, UserDict, UserList
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reader import reader, TREE

from cdl import Algebra, cata, CdlError, fold, Fork, Leaf, MealyF, pack, run, TreeF
from cdl._engine.code._surroundings import Surroundings


GLOBAL = 1.0


def change_global() -> None:
    global GLOBAL
    GLOBAL += 1.0


class Reads:
    """A user's object, whose operators and methods read a global."""

    by = 1.0

    def __mul__(self, x: Any) -> Any:
        return x * GLOBAL

    def __getitem__(self, x: Any) -> Any:
        return x * GLOBAL

    def __getattr__(self, name: str) -> Any:
        if name == "missing":
            return GLOBAL
        raise AttributeError(name)

    def at_leaf(self, x: Any) -> Any:
        return x * GLOBAL

    def scaled(self, x: Any) -> Any:
        return x * GLOBAL

    @functools.singledispatchmethod
    def dispatched(self, x: Any) -> Any:
        return x * GLOBAL


class Descriptor:
    def __get__(self, _: Any, kind: Any = None) -> float:
        return GLOBAL


class Meta(type):
    @property
    def by(cls) -> float:
        return GLOBAL


class Described(metaclass=Meta):
    held = Descriptor()


class Made:
    def __init__(self) -> None:
        self.by = GLOBAL


class Scale(float):
    def of(self, x: Any) -> Any:
        return x * GLOBAL


class Pair(NamedTuple):
    by: float

    def of(self, x: Any) -> Any:
        return x * GLOBAL


@functools.cache
def remembered(_: str) -> float:
    return float(np.sum(GLOBAL))


def scaled_by(of: Any, x: Any) -> Any:
    return of.scaled(x)


WEIGHT = jnp.asarray(1.0)
READS, SCALE, PAIR, GET, KEY = Reads(), Scale(2), Pair(2), operator.attrgetter("by"), "by"
BATCHED = jax.vmap(lambda x: x * WEIGHT)


def change_weight() -> None:
    global WEIGHT
    WEIGHT = WEIGHT + 1.0


def change_class() -> None:
    Reads.by += 1.0


def change_cached() -> None:
    change_global()
    remembered.cache_clear()


INDIRECT: dict[str, tuple[Callable[[Any], Any], Callable[[], None]]] = {
    "getattr of a method": (lambda x: getattr(READS, "at_" + "LEAF".lower())(x), change_global),
    "getattr of a class": (lambda x: x * getattr(Reads, KEY), change_class),
    "a string": (lambda x: x * getattr(Reads, "by"), change_class),  # noqa: B009
    "vars": (lambda x: x * vars(Reads)[KEY], change_class),
    "globals": (lambda x: x * globals()["GLOBAL"], change_global),
    "attrgetter": (lambda x: x * operator.attrgetter("by")(Reads), change_class),
    "an attrgetter outside": (lambda x: x * GET(Reads), change_class),
    "a helper": (lambda x: scaled_by(READS, x), change_global),
    "an operator": (lambda x: READS * x, change_global),
    "an index": (lambda x: READS[x], change_global),
    "an attribute that is missing": (lambda x: x * READS.missing, change_global),
    "a descriptor": (lambda x: x * Described.held, change_global),
    "a property of a metaclass": (lambda x: x * Described.by, change_global),
    "a constructor": (lambda x: x * Made().by, change_global),
    "a dispatched method": (lambda x: READS.dispatched(x), change_global),
    "a method of a number": (lambda x: SCALE.of(x), change_global),
    "a method of a named tuple": (lambda x: PAIR.of(x), change_global),
    "a function that is cached": (lambda x: x * remembered(""), change_cached),
    "a function that is batched": (lambda x: BATCHED(jnp.reshape(x, 1))[0], change_weight),
}


@pytest.mark.parametrize("how", INDIRECT)
def test_what_is_read_without_its_name_may_change(how):
    read, change = INDIRECT[how]
    alg, _ = reader(read)
    forest = pack(TreeF, [TREE])
    assert Surroundings(alg).seen == Surroundings(alg).seen
    before = float(fold(alg, forest)[0])
    change()
    assert float(fold(alg, forest)[0]) == cata(alg)(TREE) != before


class Dispatched(Algebra[TreeF[float, Any], Any]):
    @functools.singledispatchmethod
    def __call__(self, layer: TreeF[float, Any]) -> Any:
        raise NotImplementedError

    @__call__.register
    def _(self, layer: Leaf) -> Any:
        return layer.label * GLOBAL

    @__call__.register
    def _(self, layer: Fork) -> Any:
        return layer.left - layer.right


def test_an_array_that_an_object_reads_too_is_not_put_in_the_place_of_another():
    held = {"by": jnp.asarray(1.0)}

    class Both:
        def of(self, x: Any) -> Any:
            return x * held["by"]

    both = Both()
    alg, _ = reader(lambda label: held["by"] + both.of(label))
    forest = pack(TreeF, [TREE])
    before = float(fold(alg, forest)[0])
    held["by"] = jnp.asarray(3.0)
    assert float(fold(alg, forest)[0]) == cata(alg)(TREE) != before


def test_an_algebra_that_dispatches_is_looked_into():
    forest = pack(TreeF, [TREE])
    before = float(fold(Dispatched(), forest)[0])
    change_global()
    assert float(fold(Dispatched(), forest)[0]) == cata(Dispatched())(TREE) != before


class Numbers(UserDict[str, float]):
    """A dictionary of a user's."""


VARIABLE: ContextVar[float] = ContextVar("VARIABLE", default=1.0)
LOCAL, REFERRED, SHARED = threading.local(), Made(), {"k": 1.0}
LOCAL.k = 1.0
IN_PLACE: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any, float], Any]]] = {  # read, and changed in place
    "a context variable": (VARIABLE, lambda v: v.get(), lambda v, k: v.set(k)),
    "a value of this thread": (LOCAL, lambda v: v.k, lambda v, k: setattr(v, "k", k)),
    "the environment": (os.environ, lambda v: float(v.get("CDL_K", "1")), lambda v, k: v.__setitem__("CDL_K", str(k))),
    "an array of Python": (array.array("d", [1.0]), lambda v: v[0], lambda v, k: v.__setitem__(0, k)),
    "bytes": (bytearray(b"\1"), lambda v: v[0], lambda v, k: v.__setitem__(0, int(k))),
    "a view": (memoryview(bytearray(b"\1")), lambda v: v[0], lambda v, k: v.__setitem__(0, int(k))),
    "a proxy of a dictionary": (types.MappingProxyType(SHARED), lambda v: v["k"], lambda _, k: SHARED.update(k=k)),
    "the values of a dictionary": (SHARED.values(), lambda v: max(v), lambda _, k: SHARED.update(k=k)),
    "a method of a dictionary": (SHARED.get, lambda v: v("k"), lambda _, k: SHARED.update(k=k)),
    "a chain": (ChainMap({}, SHARED), lambda v: v["k"], lambda _, k: SHARED.update(k=k)),
    "a user's dictionary": (Numbers(k=1.0), lambda v: v["k"], lambda v, k: v.update(k=k)),
    "a user's list": (UserList([1.0]), lambda v: v[0], lambda v, k: v.__setitem__(0, k)),
    "an ordered dictionary": (OrderedDict(k=1.0), lambda v: v["k"], lambda v, k: v.update(k=k)),
    "a default": (defaultdict(float, k=1.0), lambda v: v["k"], lambda v, k: v.update(k=k)),
    "a counter": (Counter(k=1), lambda v: v["k"], lambda v, k: v.update(k=int(k))),
    "a deque": (deque([1.0]), lambda v: v[0], lambda v, k: v.__setitem__(0, k)),
    "a weak reference": (weakref.ref(REFERRED), lambda v: v().by, lambda _, k: setattr(REFERRED, "by", k)),
    "a weak proxy": (weakref.proxy(REFERRED), lambda v: v.by, lambda _, k: setattr(REFERRED, "by", k)),
}


@pytest.mark.parametrize("what", IN_PLACE)
def test_a_value_of_a_library_may_change_in_place(what, monkeypatch):
    held, read, change = IN_PLACE[what]
    monkeypatch.setenv("CDL_K", "1")
    SHARED["k"] = REFERRED.by = 1.0
    alg, _ = reader(lambda label: label * read(held))
    forest = pack(TreeF, [TREE])
    assert Surroundings(alg).seen == Surroundings(alg).seen
    before = float(fold(alg, forest)[0])
    change(held, 3.0)
    assert float(fold(alg, forest)[0]) == cata(alg)(TREE) != before


def test_the_environment_may_be_read_by_a_function_of_a_library(monkeypatch):
    monkeypatch.setenv("CDL_K", "1")
    alg, _ = reader(lambda label: label * float(os.getenv("CDL_K", "1")))
    forest = pack(TreeF, [TREE])
    before = float(fold(alg, forest)[0])
    monkeypatch.setenv("CDL_K", "3")
    assert float(fold(alg, forest)[0]) == cata(alg)(TREE) != before


def test_a_method_that_no_code_calls_is_not_asked_what_it_does():
    class Asks(Reads):
        def __eq__(self, other: Any) -> bool:
            return isinstance(other.by, int)

        def train(self, batch: Any) -> Any:
            return isinstance(batch.size, int)

    asks = Asks()
    alg, _ = reader(lambda label: label * getattr(asks, KEY))
    assert fold(alg, pack(TreeF, [TREE]))[0] == cata(alg)(TREE)


MEMO: dict[str, Any] = {}


@functools.cache
def table_of(size: int) -> Any:
    return jnp.arange(float(size))


def in_memo(x: Any) -> Any:
    return x * MEMO.setdefault("k", jnp.ones(3))[0]


@pytest.mark.parametrize("read", [lambda x: x * table_of(3)[1], in_memo])
def test_an_array_that_a_case_keeps_from_its_trace_is_refused(read):
    table_of.cache_clear()
    MEMO.clear()
    says = r"keeps an array, float32\[3\], that was made while it was traced.*Make the array outside of the case"
    changed, _ = reader(read)
    forms = [
        lambda: fold(changed, pack(TreeF, [TREE])),
        lambda: fold(changed, pack(TreeF, [TREE, TREE])),
        lambda: run(lambda s: MealyF(lambda i: (read(s), s)), jnp.zeros(()), jnp.zeros(2)),
    ]
    with contextlib.suppress(CdlError):  # the program that makes it may use it
        fold(changed, pack(TreeF, [Leaf(1.0)]))
    for form, name in zip(forms, ("changed", "changed", "<lambda>"), strict=True):
        with pytest.raises(CdlError, match=f"^`{name}` {says}"):
            form()
