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
import contextlib
import dis
import functools
import numbers
import types
import typing
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

from .._errors import CdlError


NUMBERS = numbers.Number, np.generic, np.ndarray, jax.Array, Tracer
EACH = bool, int, float, complex, np.ndarray, jax.Array
OF_ARRAYS = np.isscalar, eqx.is_array, eqx.is_inexact_array
NOTHING = "COPY", "PRECALL", "NOP", "CACHE"
COMPARES = "IS_OP", "COMPARE_OP", "CONTAINS_OP"
NAMES = "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"
ATTRIBUTES = "LOAD_ATTR", "LOAD_METHOD"
STARTS = "STORE_", "POP_", "RETURN_", "FOR_ITER", "MATCH_", "UNPACK_"  # before what one instruction stores


@dataclass(frozen=True)
class Asked:
    """What may be a question: at which line, by which name, of which others; or in words, where it is one anyway."""

    line: int
    by: str = "isinstance"
    of: tuple[str, ...] = ()
    words: str = ""

    def question(self, names: Mapping[str, Any]) -> str:
        """It in words, where these names make it one."""
        by = _value(self.by, names)
        if by is isinstance or by is issubclass:
            found = [name for name in self.of if _tells(_value(name, names))]
            return f"whether a number is of the kind `{found[0]}`" if found else self.words
        if any(by is x for x in OF_ARRAYS) or (by is hasattr and len({hasattr(x, *self.of) for x in EACH}) > 1):
            return f"whether a number is an array, by `{self.by}`"
        return ""


def expect_no_kinds(functions: Iterable[types.FunctionType]) -> None:
    """**Raises:** `CdlError` where one of them asks of data of which kind it is, or which truth value of Python's."""
    for fn in functions:
        if not (every := _asked(fn.__code__)):
            continue
        held = {}
        for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # a name that has no value yet
                held[name] = cell.cell_contents
        names = ChainMap(held, fn.__globals__, vars(builtins))
        for asked in every:
            if question := asked.question(names):
                raise CdlError(
                    f"`{fn.__qualname__}` asks {question}, at line {asked.line} of {fn.__code__.co_filename}. In a "
                    "compiled form every number is an array, and the answer is always the same: write "
                    "`jnp.where(v, a, b)`, or give each kind a constructor."
                )


def _value(path: str, names: Mapping[str, Any]) -> Any:
    """What a name, or one with attributes, stands for; none where that is not known."""
    first, *rest = path.split(".")
    return functools.reduce(lambda x, name: getattr(x, name, None), rest, names.get(first))


def _tells(kinds: Any) -> bool:
    """Whether a class, or one of several, has Python's numbers, arrays of NumPy or arrays of JAX, but not all."""
    if isinstance(kinds, tuple | list | set | frozenset | dict):
        return any(map(_tells, kinds))
    if args := typing.get_args(kinds):
        return any(map(_tells, args))
    try:
        return issubclass(kinds, NUMBERS) or len({issubclass(x, kinds) for x in EACH}) > 1
    except TypeError:  # not a class, or one that does not say
        return False


@functools.lru_cache(maxsize=4096)
def _asked(code: types.CodeType, outer: frozenset[str] = frozenset()) -> tuple[Asked, ...]:
    """The questions in a function's code, and in those inside it. `outer`: the fields around it."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in NOTHING]
    fields, local = _stored(steps, outer | {f"{x}." for x in code.co_varnames[: code.co_argcount] if x != "self"})
    found = [asked for i in range(len(steps)) for asked in _questions(steps, i, fields, local)]
    for i, s in enumerate(steps):
        if isinstance(s.argval, types.CodeType):
            over = next((j for j in range(i, len(steps)) if steps[j].opname == "GET_ITER"), i)
            each = {".0"} if _reads(steps[i:over], fields) else set[str]()  # what a comprehension goes over
            found += _asked(s.argval, frozenset(x for x in fields if x.rstrip(".") in s.argval.co_freevars) | each)
    return tuple(found)


def _questions(
    steps: list[dis.Instruction], i: int, fields: frozenset[str], local: dict[str, tuple[str, ...]]
) -> Iterator[Asked]:
    """What one instruction may ask of a field."""
    step, before = steps[i], steps[:i]
    if step.opname == "IS_OP" and before[-1].opname == "LOAD_CONST" and isinstance(before[-1].argval, bool):
        if before[-2].opname in ("UNPACK_SEQUENCE", "POP_TOP", "SWAP") or _reads(_last(before[:-1], 1), fields):
            yield Asked(_line(step), words=f"whether a number is `{before[-1].argval}` itself")
    elif step.opname == "MATCH_CLASS":
        yield Asked(_line(step), of=_named(_last(before[:-1], 1), local))
    elif step.opname in COMPARES:
        both, right = _last(before, 2), _last(before, 1)
        left = both[: len(both) - len(right)]
        for value, kinds in ((left, right), (right, left)):
            if _reads(value, fields) and not any(s.opname.startswith("CALL") for s in kinds):
                yield Asked(_line(step), of=_named(kinds, local))
    elif step.opname == "CALL":
        whole, last = _last(before, step.arg + 2), _last(before, 1)
        by, given = _named(whole, {})[:1], whole if step.arg == 1 else whole[: len(whole) - len(last)]
        if by and _reads(given, fields):
            yield Asked(_line(step), by[0], (str(last[-1].argval),) if by == ("hasattr",) else _named(last, local))


def _last(steps: list[dis.Instruction], count: int) -> list[dis.Instruction]:
    """The instructions that leave the last values on the stack, so many as `count`."""
    i = len(steps)
    while i and count > 0:
        i -= 1
        s = steps[i]
        if s.opname == "CALL":
            count += (s.arg or 0) + 1
        elif not s.opname.startswith("STORE_"):  # in an expression, of a copy
            count -= dis.stack_effect(s.opcode, s.arg if s.opcode >= dis.HAVE_ARGUMENT else None, jump=False)
    return steps[i:]


def _stored(steps: list[dis.Instruction], fields: frozenset[str]) -> tuple[frozenset[str], dict[str, tuple[str, ...]]]:
    """The variables that hold a field, with those that may hold a layer and a dot; and what the others are named."""
    lines, local = {_line(s) for s in steps if s.opname == "MATCH_CLASS"}, dict[str, tuple[str, ...]]()
    for i, s in enumerate(steps):
        if not s.opname.startswith(("STORE_FAST", "STORE_DEREF")):
            continue
        names = _names(s)[:1] if s.opname == "STORE_FAST_LOAD_FAST" else _names(s)
        value = _given(steps[:i])
        if _line(s) in lines or _reads(value, fields):
            fields |= {*names}
        else:
            local |= dict.fromkeys(names, _named(value, local))
    return fields, local


def _given(steps: list[dis.Instruction]) -> list[dis.Instruction]:
    """What may be read for the value that is stored next."""
    end = len(steps)
    while end and steps[end - 1].opname.startswith(("STORE_", "UNPACK_")):  # one of several, of the same value
        end -= 1
    if end and steps[end - 1].opname == "FOR_ITER":
        end = next((j for j in range(end - 1, -1, -1) if steps[j].opname == "GET_ITER"), end - 1)
    start = next((j for j in range(end - 1, -1, -1) if steps[j].opname.startswith(STARTS)), -1)
    return steps[start + 1 : end]


def _reads(steps: list[dis.Instruction], fields: frozenset[str]) -> bool:
    """Whether these instructions read a field of a layer."""
    for i, s in enumerate(steps):
        names = _names(s) if s.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "STORE_FAST_LOAD_FAST")) else ()
        dotted = i + 1 < len(steps) and steps[i + 1].opname in ATTRIBUTES
        if any(name in fields for name in names) or (dotted and names and f"{names[-1]}." in fields):
            return True
    return False


def _named(steps: list[dis.Instruction], local: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """What these instructions name, with attributes; a variable for what it was given."""
    found: list[str] = []
    for s in steps:
        if s.opname in ATTRIBUTES and found:
            found[-1] += f".{s.argval}"
        elif s.opname.startswith("LOAD_FAST"):
            found += [x for name in _names(s) for x in local.get(name, ("",))]
        elif s.opname in NAMES:
            found.append(s.argval)
    return tuple(found)


def _names(s: dis.Instruction) -> tuple[str, ...]:
    """The variables of an instruction: newer Pythons put two loads, or two stores, in one."""
    return s.argval if isinstance(s.argval, tuple) else (s.argval,)


def _line(s: dis.Instruction) -> int:
    return (s.positions.lineno if s.positions else None) or 0
