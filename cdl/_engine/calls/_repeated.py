"""`repeated`: a function under `jit` that is called again and again with the same first argument.

As `compiled`, which takes the first argument apart at each call, and looks at all that its functions read. That takes
longer than a small program. Here both are done at the first call, and again only where `Watched` finds a change.
"""

import functools
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any

import equinox as eqx
import jax

from ..._schemes.algebras import name_of
from ..code._put import Put
from ..code._surroundings import Surroundings
from ..code._watched import Watched
from ..jaxprs._jaxprs import calls_back
from ..numbers._kinds import expect_no_kinds
from ._compiled import known, remember, would_leak
from ._traced import without_leaks


# whether it holds still, parts, arrays of both kinds, and the structure of the other arguments
Held = tuple[Callable[[], bool], "Parts", list[Any], list[Any], Any]


class Parts:
    """What is not an array in a value, and what its functions read. There is one object for all that are equal."""

    def __init__(self, structure: Any, fixed: tuple[Any, ...], seen: Hashable) -> None:
        self.structure, self.fixed, self.seen = structure, fixed, seen
        self.run: Any = None  # the program, where it is known which one it is

    def whole(self, leaves: list[Any]) -> Any:
        """The value with these arrays."""
        each = iter(leaves)
        return jax.tree.unflatten(self.structure, [next(each) if x is None else x for x in self.fixed])


class Traces(threading.local):
    """How often something was traced in this thread."""

    count = 0


_traces = Traces()


def repeated(fn: Callable[..., Any]) -> Callable[[Any], "Repeated"]:
    """From a first argument to the compiled function of the others, which are arrays."""

    def program(parts: Parts, leaves: list[Any], arrays: list[Any], *rest: Any) -> Any:
        _traces.count += 1
        around = Surroundings(parts.whole(leaves))
        expect_no_kinds(around.functions)
        return fn(Put(around, arrays).value, *rest)

    known_parts: weakref.WeakValueDictionary[Any, Parts] = weakref.WeakValueDictionary()
    quick, careful = jax.jit(program, static_argnums=0), eqx.filter_jit(program)
    return lambda first: Repeated(quick, careful, known_parts, first)


class Repeated:
    """A compiled function of all arguments but the first.

    `quick` and `careful` are one program under `jax.jit` and under `eqx.filter_jit`, which takes longer. It waits for
    the program's end, so that an error of `eqx.error_if` is raised at this call, in its own words.
    """

    __slots__ = "_careful", "_first", "_held", "_looks", "_parts", "_quick"

    def __init__(self, quick: Any, careful: Callable[..., Any], parts: Any, first: Any) -> None:
        self._quick, self._careful, self._parts, self._first = quick, careful, parts, first
        self._looks: type[Surroundings] = Watched
        self._held: Any = None

    def __call__(self, *rest: Any) -> Any:
        held = self._held
        if held is None or not held[0]() or held[4] != jax.tree.structure(rest):
            held = self._look(rest)
        _, parts, leaves, arrays, _ = held
        traces = _traces.count
        try:
            found = (parts.run or self._chosen(parts, leaves, arrays, *rest))(parts, leaves, arrays, *rest)
        except jax.errors.UnexpectedTracerError:
            with without_leaks(name_of(self._first)):
                raise
        if _traces.count != traces:
            remember(Surroundings(self._first, rest).seen, parts.seen)
            self._held = None
        return found

    def _look(self, rest: Any) -> Held:
        """Whether a look would find the same, the parts of the first argument, its arrays, and those that are read."""
        around = self._looks(self._first, rest)
        leaves, structure = jax.tree.flatten(self._first)
        fixed = tuple(None if eqx.is_array(x) else x for x in leaves)
        key = structure, fixed, known(around.seen)
        parts = self._parts.get(key)
        if parts is None:
            self._parts[key] = parts = Parts(*key)
            if would_leak(around, key[-1]):  # which the cache of `jit` would keep for longer than their trace
                parts.run = _alone(self._quick.__wrapped__, parts)
        same: Callable[[], bool] = _never
        if isinstance(around, Watched) and around.noted:
            same = around.same()
        else:
            self._looks = Surroundings  # notes take time, and do not help
        own = [x for x in leaves if eqx.is_array(x)]
        self._held = same, parts, own, around.arrays, jax.tree.structure(rest)
        return self._held

    def _chosen(self, parts: Parts, *given: Any) -> Callable[..., Any]:
        """The program that these parts take."""
        parts.run = self._careful if calls_back(self._quick.trace(parts, *given).jaxpr.jaxpr) else self._quick
        return parts.run


def _alone(program: Callable[..., Any], parts: Parts) -> Callable[..., Any]:
    """The program of these parts, kept by them alone."""
    run = jax.jit(functools.partial(program, parts))
    return lambda _, *given: run(*given)


def _never() -> bool:
    return False
