"""Bytecode: the instructions that leave a value, and what they read of the fields of a layer.

Fields are given by the names of variables that hold one; a name with a dot after it is that of a variable which may
hold a layer, so that its attributes are fields.
"""

import dis
import itertools
from collections.abc import Mapping


NOTHING = "COPY", "PRECALL", "NOP", "CACHE"  # instructions that are left out everywhere here
VARIABLES = "LOAD_FAST", "LOAD_DEREF"
NAMES = "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"
ATTRIBUTES = "LOAD_ATTR", "LOAD_METHOD"
VALUES = "LOAD_", "CALL", "BINARY_", "BUILD_"  # the last of those that leave a value
KNOWN = ["dtype"], ["ndim"], ["shape"], ["size"]  # what a traced array says of itself, and an array in a definition
STARTS = "STORE_", "POP_", "RETURN_", "FOR_ITER", "MATCH_", "UNPACK_"  # before what one instruction stores


def last(steps: list[dis.Instruction], count: int) -> list[dis.Instruction]:
    """The instructions that leave the last `count` values on the stack."""
    i = len(steps)
    while i and count > 0:
        i -= 1
        s = steps[i]
        if s.opname == "CALL":
            count += (s.arg or 0) + 1
        elif not s.opname.startswith("STORE_"):  # in an expression, of a copy
            count -= dis.stack_effect(s.opcode, s.arg if s.opcode >= dis.HAVE_ARGUMENT else None, jump=False)
    return steps[i:]


def stored(steps: list[dis.Instruction], fields: frozenset[str]) -> tuple[frozenset[str], dict[str, tuple[str, ...]]]:
    """The variables that hold a field, with those that may hold a layer and a dot; and what the others are named."""
    lines, local = {line(s) for s in steps if s.opname == "MATCH_CLASS"}, dict[str, tuple[str, ...]]()
    for i, s in enumerate(steps):
        if not s.opname.startswith(("STORE_FAST", "STORE_DEREF")):
            continue
        names = _names(s)[:1] if s.opname == "STORE_FAST_LOAD_FAST" else _names(s)
        value = _given(steps[:i])
        if line(s) in lines or reads(value, fields):
            fields |= {*names}
        else:
            local |= dict.fromkeys(names, named(value, local))
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


def reads(steps: list[dis.Instruction], fields: frozenset[str]) -> bool:
    """Whether these instructions read a field of a layer, and more of it than its type and shape."""
    for i, s in enumerate(steps):
        names = _names(s) if s.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "STORE_FAST_LOAD_FAST")) else ()
        if not names:
            continue
        of = [str(x.argval) for x in itertools.takewhile(lambda x: x.opname in ATTRIBUTES, steps[i + 1 :])]
        if any(name in fields for name in names[:-1]) or (names[-1] in fields and of[:1] not in KNOWN):
            return True
        if of and f"{names[-1]}." in fields and of[0] != "dtype" and of[1:2] not in KNOWN:
            return True
    return False


def subject(steps: list[dis.Instruction], i: int) -> list[dis.Instruction]:
    """What leaves the value that the pattern of an instruction is matched against; none where that is not known."""
    for k in range(i, -1, -1):
        if steps[k].opname in ("MATCH_CLASS", "MATCH_SEQUENCE", "MATCH_MAPPING"):
            start = k - 1 - len(last(steps[: k - 1], 1)) if steps[k].opname == "MATCH_CLASS" else k
            if start and steps[start - 1].opname.startswith(VALUES):
                if found := last(steps[:start], 1):
                    return found  # of the first case; before the others stands what is done where one before them fails
    return []


def matches(steps: list[dis.Instruction], i: int, fields: frozenset[str]) -> bool:
    """Whether the pattern of an instruction is matched against a layer, or a field of one, as far as can be told."""
    if not (found := subject(steps, i)):
        return True
    layers = (f"{name}." in fields for s in found if s.opname.startswith(VARIABLES) for name in _names(s))
    return reads(found, fields) or any(layers)


def in_class(steps: list[dis.Instruction], i: int, size: int = 1) -> int | None:
    """Where the class is matched in whose pattern an instruction compares a constant with a field; `None` for another
    comparison. `size`: how many instructions leave the constant."""
    before = 0  # fields that come first in the pattern
    between = "LOAD_CONST", "LOAD_GLOBAL", *ATTRIBUTES, "TO_BOOL", "NOT_TAKEN"
    for k in range(i - size - 1, 1, -1):
        name = steps[k].opname
        if name == "UNPACK_SEQUENCE":
            return k - 2 if before < (steps[k].arg or 0) and steps[k - 2].opname == "MATCH_CLASS" else None
        if name in ("SWAP", "POP_TOP", "COMPARE_OP"):
            before += 1
        elif name not in between and not name.startswith("POP_JUMP"):
            return None
    return None


def captured(steps: list[dis.Instruction], name: str) -> int | None:
    """Where the class is matched in whose pattern a variable is named, where it is stored nowhere else."""
    stores = [s for s in steps if s.opname.startswith(("STORE_FAST", "STORE_DEREF")) and name in _names(s)]
    if len({line(s) for s in stores}) != 1:
        return None
    classes = [k for k, s in enumerate(steps) if s.opname == "MATCH_CLASS" and line(s) == line(stores[0])]
    return classes[-1] if classes else None


def named(steps: list[dis.Instruction], local: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
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


def given(steps: list[dis.Instruction], name: str) -> list[dis.Instruction]:
    """What leaves the value of a variable that is stored once; none where it is stored otherwise."""
    at = [i for i, s in enumerate(steps) if s.opname.startswith("STORE_") and name and name in _names(s)]
    return _given(steps[: at[0]]) if len(at) == 1 and steps[at[0]].opname in ("STORE_FAST", "STORE_DEREF") else []


def variable(steps: list[dis.Instruction]) -> str:
    """The variable that these instructions load and nothing else; `""` otherwise."""
    alone = len(steps) == 1 and steps[0].opname.startswith(VARIABLES) and isinstance(steps[0].argval, str)
    return steps[0].argval if alone else ""


def _names(s: dis.Instruction) -> tuple[str, ...]:
    """The variables of an instruction: newer Pythons put two loads, or two stores, in one."""
    return s.argval if isinstance(s.argval, tuple) else (s.argval,)


def line(s: dis.Instruction) -> int:
    return (s.positions.lineno if s.positions else None) or 0
