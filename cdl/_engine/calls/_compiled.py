"""`compiled`: a function under `jit` whose first argument holds functions that read from outside.

A compiled form is traced once, and its definition reads its surroundings each time. So that both see the same numbers,
arrays that are read become inputs of the program, and the form is traced anew where anything else has changed
(`code._surroundings`). What a function changes itself while it is traced, such as a counter, does not make it trace
again.
"""

import contextlib
import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, cast, TypeVar

import equinox as eqx
import jax

from ..._schemes.algebras import name_of
from ...errors import CdlError
from ..code._put import Put
from ..code._surroundings import Surroundings
from ..numbers._kinds import expect_no_kinds
from ._traced import without_leaks, without_varying


F = TypeVar("F", bound=Callable[..., Any])

UNHASHABLE = (  # what JAX says where it compares or hashes what is fixed
    "Non-hashable static arguments",
    "static arguments should be comparable",
    "Exception raised while checking equality of metadata fields",
)
KEPT = 512  # traces that changed what they read; to forget one costs another trace
_lock = threading.Lock()
_before: OrderedDict[Any, Any] = OrderedDict()  # from what was seen after such a trace, to what was seen before it
_thread = threading.local()


def compiled(fn: F) -> F:
    """`eqx.filter_jit` of a function whose first argument is, or holds, functions that read from outside."""

    @eqx.filter_jit
    def traced(first: Any, rest: Any, arrays: list[Any], seen: Hashable) -> Any:
        del seen
        _thread.traced = True
        around = Surroundings(first)
        expect_no_kinds(around.functions)
        return fn(Put(around, arrays).value, *rest)

    @functools.wraps(fn)
    def call(first: Any, *rest: Any) -> Any:
        around = Surroundings(first, rest)
        seen = known(around.seen)
        _thread.traced = False
        name = name_of(first[0] if isinstance(first, tuple) else first)
        with without_leaks(name), without_varying(), _comparable(name):
            if would_leak(around, seen):
                expect_no_kinds(around.functions)
                whole = Put(around, around.arrays).value
                return _inside(lambda *rest: fn(whole, *rest), rest)
            found = traced(first, rest, around.arrays, _Static(seen))
        if _thread.traced:
            remember(Surroundings(first, rest).seen, seen)
        return found

    return cast(F, call)


@contextlib.contextmanager
def _comparable(name: str) -> Iterator[None]:
    """**Raises:** `CdlError` where JAX cannot tell whether what is fixed in a function is what it was."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith(UNHASHABLE):
            raise
        raise CdlError(
            f"`{name}` holds an array, or another thing that has no hash, in a static field or in an object that is no "
            "pytree, where JAX compares what is fixed. Hold arrays in fields that are not static, and settings as "
            "numbers, text or tuples of them."
        ) from error


def _inside(fn: Callable[..., Any], rest: Any) -> Any:
    """`fn(*rest)` under a `jit` by itself: `fn` reads tracers, which the cache of a longer one would keep after their
    trace has ended. It is traced again at each call."""
    arrays, static = eqx.partition(rest, eqx.is_array)
    fixed: list[Any] = []

    def run(arrays: Any) -> Any:
        found, others = eqx.partition(fn(*eqx.combine(arrays, static)), eqx.is_array)
        fixed.append(others)
        return found

    return eqx.combine(jax.jit(run)(arrays), fixed[-1])


class _Static:
    """A hashable value that is one leaf, which `filter_jit` compares."""

    def __init__(self, of: Any) -> None:
        self.of, self._hash = of, hash(of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Static) and self.of == other.of

    def __hash__(self) -> int:
        return self._hash


def known(seen: Hashable) -> Hashable:
    """What was seen before the trace that left what is seen now; what is seen now where no trace did."""
    with _lock:
        return _before.get(seen, seen)


def would_leak(around: Surroundings, before: Hashable) -> bool:
    """Whether the cache of a `jit` would keep tracers that functions read, where JAX checks that none are kept. Those
    that a trace has left are not read. `before`: what is `known` of what the functions read."""
    checked: bool = getattr(jax.config, "jax_check_tracer_leaks")  # noqa: B009
    return checked and around.traced and before is around.seen


def remember(after: Hashable, before: Hashable) -> None:
    """What is seen after a trace, for `known`."""
    if after == before:
        return
    with _lock:
        _before[after] = before
        while len(_before) > KEPT:
            _before.popitem(last=False)
