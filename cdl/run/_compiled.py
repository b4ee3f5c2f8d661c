"""`compiled`: a function under `jit` whose first arguments are functions, which read from outside.

A compiled form is traced once, and its definition reads its surroundings each time. So that both see the same numbers,
arrays that are read become inputs of the program, and the form is traced anew where anything else has changed
(`_reads`). What a function changes itself while it is traced, such as a counter, is no reason to trace it again.
"""

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, cast, TypeVar

import equinox as eqx

from ._reads import Given, Reads


F = TypeVar("F", bound=Callable[..., Any])

KEPT = 512  # how many sets of functions are remembered
_known: OrderedDict[Any, tuple[Any, int]] = OrderedDict()  # what each set of functions read last, and how often anew


def compiled(fn: F) -> F:
    """`eqx.filter_jit` of a function whose first argument is, or holds, functions that read from outside."""

    anew: list[bool] = []

    @eqx.filter_jit
    def traced(first: Any, rest: Any, arrays: list[Any], version: int) -> Any:
        del version
        anew.append(True)
        return fn(Given(Reads(first), arrays).value if arrays else first, *rest)

    @functools.wraps(fn)
    def call(first: Any, *rest: Any) -> Any:
        reads = Reads(first)
        key = tuple(reads.functions)
        version = _version(key, reads.print)
        found = traced(first, rest, reads.arrays, version)
        if anew:
            anew.clear()
            _remember(key, Reads(first).print, version)
        return found

    return cast(F, call)


def _version(key: Any, print: Any) -> int:
    """A number that is another one where what some functions read has changed since it was remembered."""
    known = _known.get(key)
    if known is not None and known[0] != print:
        return known[1] + 1
    return 0 if known is None else known[1]


def _remember(key: Any, print: Any, version: int) -> None:
    _known[key] = print, version
    _known.move_to_end(key)
    while len(_known) > KEPT:
        _known.popitem(last=False)
