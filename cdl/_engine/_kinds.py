"""Questions that have one answer for a Python number and another for the traced array in its place.

| in a case                                | for a number of Python | for an array | write                       |
| ---------------------------------------- | ---------------------- | ------------ | --------------------------- |
| `v is True`, `case Flag(True)`           | which one it is        | no           | `jnp.where(v, a, b)`        |
| `isinstance(v, int)`, `case Num(int(n))` | of which kind it is    | no           | a constructor for each kind |
| `isinstance(v, jax.Array)`               | no                     | yes          | the same for both           |
| `np.isscalar(v)`                         | yes                    | no           | the same for both           |
| `case Word("so")`                        | no                     | no           | `word == words.id("so")`    |

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

from .._functors import Base
from ..errors import CdlError
from ._bytecode import captured, in_class, last, line, matches, named, NOTHING, reads, stored, variable
from ._outside import outside


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
    text: str | None = None  # a text that a field of one of these classes is compared with

    @property
    def advice(self) -> str:
        """What to write instead."""
        if self.text is None:
            return "write `jnp.where(v, a, b)`, or give each kind a constructor"
        return f"ask for the number of the word, `jnp.where(word == words.id({self.text!r}), a, b)`"

    def question(self, names: Mapping[str, Any]) -> str:
        """The question in words, where these names make it one; otherwise `""`."""
        if self.text is not None:
            layers = any(isinstance(x := _value(name, names), type) and issubclass(x, Base) for name in self.of)
            return f"whether a payload is the text {self.text!r}" if layers else ""
        by = _value(self.by, names)
        if by is isinstance or by is issubclass:
            found = [name for name in self.of if _tells(_value(name, names))]
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
            if question := asked.question(names):
                raise CdlError(
                    f"`{fn.__qualname__}` asks {question}, at line {asked.line} of {fn.__code__.co_filename}. In a "
                    "compiled form every number is an array, and the answer is always the same: "
                    f"{asked.advice}."
                )


def _value(path: str, names: Mapping[str, Any]) -> Any:
    """What a name, or one with attributes, stands for; `None` where that is not known."""
    first, *rest = path.split(".")
    return functools.reduce(lambda x, name: getattr(x, name, None), rest, names.get(first))


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
def _asked(code: types.CodeType, outer: frozenset[str] = frozenset()) -> tuple[Asked, ...]:
    """The questions in a function's code, and in those inside it. `outer`: the fields around it."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in NOTHING]
    given = code.co_varnames[_is_method(code) : code.co_argcount]
    fields, local = stored(steps, outer | {f"{x}." for x in given if x != "self"})
    found = [asked for i in range(len(steps)) for asked in _questions(steps, i, fields, local)]
    for i, s in enumerate(steps):
        if isinstance(s.argval, types.CodeType):
            over = next((j for j in range(i, len(steps)) if steps[j].opname == "GET_ITER"), i)
            each = {".0"} if reads(steps[i:over], fields) else set[str]()  # what a comprehension goes over
            found += _asked(s.argval, frozenset(x for x in fields if x.rstrip(".") in s.argval.co_freevars) | each)
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
        if matches(steps, i, fields):
            yield Asked(line(step), of=named(last(before[:-1], 1), local))
    elif step.opname in COMPARES:
        yield from _texts(steps, i, local)
        both, right = last(before, 2), last(before, 1)
        left = both[: len(both) - len(right)]
        for value, kinds in ((left, right), (right, left)):
            if reads(value, fields) and not any(s.opname.startswith("CALL") for s in kinds):
                yield Asked(line(step), of=named(kinds, local))
    elif step.opname == "CALL":
        whole, end = last(before, (step.arg or 0) + 2), last(before, 1)
        by, given = named(whole, {})[:1], whole if step.arg == 1 else whole[: len(whole) - len(end)]
        if by and reads(given, fields):
            yield Asked(line(step), by[0], (str(end[-1].argval),) if by == ("hasattr",) else named(end, local))


def _texts(steps: list[dis.Instruction], i: int, local: dict[str, tuple[str, ...]]) -> Iterator[Asked]:
    """Where one instruction compares a field, in a pattern or as named by one, with a text."""
    before = steps[:i]
    both, right = last(before, 2), last(before, 1)
    for value, other in ((both[: len(both) - len(right)], right), (right, both[: len(both) - len(right)])):
        if len(other) == 1 and other[0].opname == "LOAD_CONST" and isinstance(other[0].argval, str):
            at = in_class(steps, i) if other is right else None
            if at is None and (name := variable(value)):
                at = captured(steps, name)
            if at is not None:
                yield Asked(line(steps[i]), of=named(last(steps[: at - 1], 1), local), text=other[0].argval)
