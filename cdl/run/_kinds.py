"""Questions that have one answer for a Python number and another for the traced array in its place.

| in a case                                | for a number of Python | for an array | write                       |
| ---------------------------------------- | ---------------------- | ------------ | --------------------------- |
| `v is True`, `case Flag(True)`           | which one it is        | no           | `jnp.where(v, a, b)`        |
| `isinstance(v, int)`, `case Num(int(n))` | of which kind it is    | no           | a constructor for each kind |

JAX never hears of them, so they are looked for in the bytecode of the user's functions. They are refused of a field
of a layer: one that a pattern names, or an attribute of an argument other than `self`.
"""

import dis
import functools
import types
from collections.abc import Iterable, Iterator

from .._errors import CdlError


KINDS = "bool", "int", "float", "complex"
ENDS = "IS_OP", "COMPARE_OP", "CONTAINS_OP"
NOTHING = "COPY", "PRECALL", "NOP", "CACHE"


def expect_no_kinds(functions: Iterable[types.FunctionType]) -> None:
    """**Raises:** `CdlError` where one of them asks of data of which kind it is, or which truth value of Python's."""
    for fn in functions:
        for line, question in _asked(fn.__code__):
            raise CdlError(
                f"`{fn.__qualname__}` asks {question}, at line {line} of {fn.__code__.co_filename}. In a compiled form "
                "every number is an array, and the answer is always no: write `jnp.where(v, a, b)`, or give each kind "
                "a constructor."
            )


@functools.lru_cache(maxsize=4096)
def _asked(code: types.CodeType, outer: frozenset[str] = frozenset()) -> tuple[tuple[int, str], ...]:
    """The questions in a function's code, and in those inside it, each with its line. `outer`: the fields around it."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in NOTHING]
    fields = outer | _fields(steps, {*code.co_varnames[: code.co_argcount]} - {"self"})
    found = [(_line(steps[i]), asked) for i in range(len(steps)) for asked in _questions(steps, i, fields)]
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found += _asked(inner, frozenset(x for x in fields if x.rstrip(".") in inner.co_freevars))
    return tuple(found)


def _questions(steps: list[dis.Instruction], i: int, fields: frozenset[str]) -> Iterator[str]:
    """The question that one instruction asks of a field, if it does."""
    step, before = steps[i], steps[:i]
    if step.opname == "IS_OP" and before[-1].opname == "LOAD_CONST" and isinstance(before[-1].argval, bool):
        if before[-2].opname in ("UNPACK_SEQUENCE", "POP_TOP", "SWAP") or _is_field(before[:-1], fields):
            yield f"whether a number is `{before[-1].argval}` itself"
    if step.opname == "MATCH_CLASS" and before[-2].argval in KINDS:
        yield f"whether a number is of the kind `{before[-2].argval}`"
    if step.opname == "LOAD_GLOBAL" and step.argval in KINDS and not (step.arg or 0) & 1:
        start = next((j for j in range(i - 1, max(-1, i - 12), -1) if before[j].argval in ("isinstance", "type")), i)
        inside = [s for s in before[start + 1 :] if s.opname != "CALL" and s.argval not in KINDS]
        if not any(s.opname in ENDS for s in inside) and _is_field(inside, fields):
            yield f"whether a number is of the kind `{step.argval}`"


def _fields(steps: list[dis.Instruction], given: set[str]) -> frozenset[str]:
    """The variables that hold a field of a layer, and, with a dot after them, those that may hold a layer."""
    lines = {_line(s) for s in steps if s.opname == "MATCH_CLASS"}
    stores = [(i, s) for i, s in enumerate(steps) if s.opname.startswith(("STORE_FAST", "STORE_DEREF"))]
    found = frozenset(f"{name}." for name in given)
    for i, s in stores:
        if _line(s) in lines or _is_field(steps[:i], found):
            found |= _names(s)
    return found


def _is_field(steps: list[dis.Instruction], fields: frozenset[str]) -> bool:
    """Whether what these instructions leave is a field of a layer."""
    attributes = 0
    for s in reversed(steps):
        if s.opname == "LOAD_ATTR":
            attributes += 1
        elif s.opname not in ("BINARY_SUBSCR", "LOAD_CONST"):
            names = _names(s) if s.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) else set()
            return any(name in fields or (attributes and f"{name}." in fields) for name in names)
    return False


def _names(s: dis.Instruction) -> set[str]:
    """The variables of an instruction: newer Pythons put two loads, or two stores, in one."""
    return {*s.argval} if isinstance(s.argval, tuple) else {s.argval}


def _line(s: dis.Instruction) -> int:
    return (s.positions.lineno if s.positions else None) or 0
