"""Questions that have one answer for a Python number and another for the traced array in its place.

| in a case                                | for a number of Python | for an array | write                       |
| ---------------------------------------- | ---------------------- | ------------ | --------------------------- |
| `v is True`, `case Flag(True)`           | which one it is        | no           | `jnp.where(v, a, b)`        |
| `isinstance(v, int)`, `case Num(int(n))` | of which kind it is    | no           | a constructor for each kind |
| `isinstance(v, jax.Array)`               | no                     | yes          | the same for both           |
| `np.isscalar(v)`                         | yes                    | no           | the same for both           |

JAX never hears of them, so they are looked for in the bytecode of the user's functions. They are refused of a field
of a layer: one that a pattern names, an attribute of an argument other than `self`, or what is computed from these.
What a question names is looked up when it is asked, so that `num = int, float` is known by another name too.
"""

import builtins
import dis
import functools
import numbers
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np

from ...errors import CdlError
from ..code._bytecode import last, line, matches, named, NOTHING, reads, stored
from ..code._outside import outside
from ._texts import Compared, compared, Layers, layers_in, value_of


NUMBERS = numbers.Number, np.generic, np.ndarray, jax.Array
EACH = bool, int, float, complex, np.ndarray, jax.Array
OF_ARRAYS = np.isscalar, eqx.is_array, eqx.is_inexact_array
COMPARES = "IS_OP", "COMPARE_OP", "CONTAINS_OP"


@dataclass(frozen=True)
class Asked:
    """What may be a question: its line, the function that asks, and the classes or names that it asks for.

    `words`: the question itself, where it is one whatever the names stand for.
    """

    line: int
    by: str = "isinstance"
    of: tuple[str, ...] = ()
    words: str = ""

    def asks(self, names: Mapping[str, Any], hints: Mapping[str, Any]) -> tuple[str, str]:
        """The question in words, and what to write instead, where these names make it one; otherwise `""`."""
        return self.question(names), "write `jnp.where(v, a, b)`, or give each kind a constructor"

    def question(self, names: Mapping[str, Any]) -> str:
        """The question in words, where these names make it one; otherwise `""`."""
        by = value_of(self.by, names)
        if by is isinstance or by is issubclass:
            found = [name for name in self.of if _tells(value_of(name, names))]
            return f"whether a number is of the kind `{found[0]}`" if found else self.words
        if any(by is x for x in OF_ARRAYS) or (by is hasattr and len({hasattr(x, *self.of) for x in EACH}) > 1):
            return f"whether a number is an array, by `{self.by}`"
        registry = getattr(by, "registry", None)  # of `functools.singledispatch`
        if isinstance(registry, Mapping) and any(map(_tells, registry)):
            return f"of which kind a number is, by `{self.by}`"
        return ""


def expect_no_kinds(functions: Iterable[types.FunctionType]) -> None:
    """**Raises:** `CdlError` where one of them asks of data of which kind it is, or which truth value of Python's."""
    for fn in functions:
        if not (every := _asked(fn.__code__)):
            continue
        held = {fn.__code__.co_freevars[i]: x for kind, i, x in outside(fn) if kind == "closure"}
        names = {**vars(builtins), **fn.__globals__, **held}
        for asked in every:
            question, advice = asked.asks(names, fn.__annotations__)
            if question:
                raise CdlError(
                    f"`{fn.__qualname__}` asks {question}, at line {asked.line} of {fn.__code__.co_filename}. In a "
                    f"compiled form every number is an array, and the answer is always the same: {advice}."
                )


def _tells(kinds: Any) -> bool:
    """Whether a class, or one of several, has Python's numbers, arrays of NumPy or arrays of JAX, but not all."""
    if isinstance(kinds, tuple | list | set | frozenset):
        return any(_tells(x) for x in kinds if isinstance(x, type | tuple | types.UnionType))
    if args := typing.get_args(kinds):
        return any(map(_tells, args))
    try:
        return issubclass(kinds, NUMBERS) or len({issubclass(x, kinds) for x in EACH}) > 1
    except TypeError:  # not a class, or one that does not say
        return False


@functools.lru_cache(maxsize=4096)
def _asked(
    code: types.CodeType, outer: frozenset[str] = frozenset(), around: Layers = frozenset()
) -> tuple[Asked | Compared, ...]:
    """The questions in a function's code, and in those inside it. `outer` and `around`: the fields and layers there."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in NOTHING]
    given = code.co_varnames[_is_method(code) : code.co_argcount]
    fields, local = stored(steps, outer | {f"{x}." for x in given if x != "self"})
    layers = around | layers_in(steps, local)
    found: list[Asked | Compared] = []
    for i, s in enumerate(steps):
        found += _questions(steps, i, fields, local)
        if s.opname in COMPARES:
            found += compared(steps, i, local, layers)
    for i, s in enumerate(steps):
        if isinstance(s.argval, types.CodeType):
            over = next((j for j in range(i, len(steps)) if steps[j].opname == "GET_ITER"), i)
            each = {".0"} if reads(steps[i:over], fields) else set[str]()  # what a comprehension goes over
            inner = frozenset(x for x in fields if x.rstrip(".") in s.argval.co_freevars) | each
            found += _asked(s.argval, inner, frozenset(x for x in layers if x[0] in s.argval.co_freevars))
    return tuple(found)


def _is_method(code: types.CodeType) -> bool:
    """Whether a function is written in a class, so that its first argument is the object."""
    return code.co_qualname.rpartition(".")[0].rpartition(".")[2] not in ("", "<locals>")


def _questions(
    steps: list[dis.Instruction], i: int, fields: frozenset[str], local: dict[str, tuple[str, ...]]
) -> Iterator[Asked]:
    """What one instruction may ask of a field."""
    step, before = steps[i], steps[:i]
    if step.opname == "IS_OP" and before[-1].opname == "LOAD_CONST" and isinstance(before[-1].argval, bool):
        in_pattern = before[-2].opname in ("UNPACK_SEQUENCE", "POP_TOP", "SWAP") and matches(steps, i, fields)
        if in_pattern or reads(last(before[:-1], 1), fields):
            yield Asked(line(step), words=f"whether a number is `{before[-1].argval}` itself")
    elif step.opname == "MATCH_CLASS":
        if matches(steps, i, fields) and (found := asked_at(steps, i, local)):
            yield found
    elif step.opname in COMPARES:
        both, right = last(before, 2), last(before, 1)
        left = both[: len(both) - len(right)]
        for value, kinds in ((left, right), (right, left)):
            if reads(value, fields) and not any(s.opname.startswith("CALL") for s in kinds):
                yield Asked(line(step), of=named(kinds, local))
    elif step.opname == "CALL":
        whole, end = last(before, (step.arg or 0) + 2), last(before, 1)
        given = whole if step.arg == 1 else whole[: len(whole) - len(end)]
        if reads(given, fields) and (found := asked_at(steps, i, local)):
            yield found


def asked_at(steps: list[dis.Instruction], i: int, local: dict[str, tuple[str, ...]]) -> Asked | None:
    """The question that a pattern or a call may be, whatever it is asked of."""
    step, before = steps[i], steps[:i]
    if step.opname == "MATCH_CLASS":
        return Asked(line(step), of=named(last(before[:-1], 1), local))
    if step.opname == "CALL" and (by := named(last(before, (step.arg or 0) + 2), {})[:1]):
        end = last(before, 1)
        return Asked(line(step), by[0], (str(end[-1].argval),) if by == ("hasattr",) else named(end, local))
    return None
