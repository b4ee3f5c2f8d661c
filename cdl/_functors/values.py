"""Trees as values: equality, hash, text, pickle and copy, each with an explicit stack instead of recursion.

A tree's inside is its layers, and the tuples and `Many`s in their fields; anything else is a payload. Payloads
compare by value: arrays of any library by shape and elements, the rest by `==`.
"""

import copy
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, cast, TypeAlias

import numpy as np

from ..errors import TreeTooLarge
from .words import an


SHOWN = 1000  # how many layers `repr` writes before it leaves the rest out


def equal(a: Any, b: Any) -> bool:
    """Whether two values have the same constructors at every place, and equal payloads."""
    todo, seen = [(a, b)], set()
    while todo:
        x, y = todo.pop()
        if x is y or (id(x), id(y)) in seen:
            continue
        inner = inside(x)
        if inner is None:
            if inside(y) is not None or not _same_payload(x, y):
                return False
            continue
        other = inside(y)
        if type(x) is not type(y) or other is None or len(inner) != len(other):
            return False
        seen.add((id(x), id(y)))
        todo.extend(zip(inner, other, strict=True))
    return True


def fingerprint(value: Any) -> int:
    """A hash that agrees with `equal`; each shared part is hashed once."""
    done: dict[int, int] = {}
    for x, inner in parts(value):
        hashes = [done[i] if (i := id(y)) in done else _hash_payload(y) for y in inner]
        done[id(x)] = hash((type(x).__qualname__, *hashes))
    return done[id(value)]


def show(value: Any, limit: int = SHOWN) -> str:
    """The text that writes the value; past `limit` layers, `…` stands for each of the rest."""
    words: list[str] = []
    todo: list[Any] = [_Open(value)]
    layers = 0
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            words.append(item)
            continue
        x = item.value
        inner = None if _is_elsewhere(x) else inside(x)
        if inner is None:
            words.append(_show_payload(x))
            continue
        layers += 1
        if layers > limit:
            words.append("…")
            continue
        before, after = _brackets(x)
        words.append(before)
        todo.append(after)
        for i, part in reversed(list(enumerate(inner))):
            todo.append(_Open(part))
            if i:
                todo.append(", ")
    return "".join(words)


def parts(value: Any) -> list[tuple[Any, tuple[Any, ...]]]:
    """Every layer, tuple and `Many` of a tree with what it holds: children first, shared ones once.

    **Raises:** `TreeTooLarge` for a part that is inside itself.
    """
    found: list[tuple[Any, tuple[Any, ...]]] = []
    within: dict[int, bool] = {}  # whether each part met so far is still being gone through
    stack: list[tuple[Any, tuple[Any, ...], Iterator[Any]]] = [(None, (value,), iter((value,)))]
    while stack:
        x, inner, rest = stack[-1]
        for y in rest:
            if type(y) in _ATOMS:
                continue
            if id(y) in within:
                _refuse_cycle(y, within)
            elif (deeper := inside(y)) is not None:
                within[id(y)] = True
                stack.append((y, deeper, iter(deeper)))
                break
        else:
            stack.pop()
            within[id(x)] = False
            found.append((x, inner))
    return found[:-1]


Part: TypeAlias = tuple[type[Any], tuple[Any, ...], tuple[int, ...]]


def disassemble(value: Any) -> list[Part]:
    """The value as a list of flat parts, children first: type, fields, and which fields are numbers of parts."""
    flat: list[Part] = []
    number: dict[int, int] = {}
    patterns: dict[tuple[int, ...], tuple[int, ...]] = {}  # one object for each: pickle writes it once
    for x, inner in parts(value):
        where = tuple([i for i, y in enumerate(inner) if id(y) in number])
        flat.append((type(x), tuple([number.get(id(y), y) for y in inner]), patterns.setdefault(where, where)))
        number[id(x)] = len(number)
    return flat


def assemble(flat: list[Part]) -> Any:
    """The value that `disassemble` took apart."""
    built: list[Any] = []
    for kind, fields, where in flat:
        values = list(fields)
        for i in where:
            values[i] = built[fields[i]]
        built.append(_make(kind, values))
    return built[-1]


def deepcopy(value: Any, memo: dict[int, Any]) -> Any:
    """A copy whose payloads are copied too."""

    def copied(fields: tuple[Any, ...], where: tuple[int, ...]) -> tuple[Any, ...]:
        return tuple([f if i in where or type(f) in _ATOMS else copy.deepcopy(f, memo) for i, f in enumerate(fields)])

    return assemble([(kind, copied(fields, where), where) for kind, fields, where in disassemble(value)])


def inside(value: Any) -> tuple[Any, ...] | None:
    """What a layer, a tuple or a `Many` holds; `None` for a payload."""
    kind = type(value)
    reader = _READERS.get(kind) or _READERS.setdefault(kind, _reader(kind))
    return reader(value)


_ATOMS = {int, float, complex, bool, str, bytes, type(None)}
_READERS: dict[type[Any], Callable[[Any], tuple[Any, ...] | None]] = {}


def _reader(kind: type[Any]) -> Callable[[Any], tuple[Any, ...] | None]:
    """`inside` for the values of one type."""
    if getattr(kind, "__cdl_value__", False):
        return getter(kind.__match_args__)
    if kind is tuple:
        return lambda value: value
    return (lambda value: value.items) if _is_many(kind) else lambda _: None


def getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Reads these fields, in one call where it can."""
    if len(names) > 1:
        return cast("Callable[[Any], tuple[Any, ...]]", attrgetter(*names))
    if not names:
        return lambda _: ()
    one = attrgetter(*names)
    return lambda value: (one(value),)


def _refuse_cycle(value: Any, within: dict[int, bool]) -> None:
    if within[id(value)]:
        raise TreeTooLarge(f"the value is cyclic: {an(type(value).__name__)} is inside itself. Trees are finite.")


class _Open:
    """A value still to be written."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _make(kind: type[Any], values: list[Any]) -> Any:
    if kind is tuple:
        return tuple(values)
    if _is_many(kind):
        return kind(values)
    new = object.__new__(kind)
    new.__dict__.update(zip(kind.__match_args__, values, strict=True))
    return new


def _brackets(value: Any) -> tuple[str, str]:
    if type(value) is tuple:
        return "(", ",)" if len(value) == 1 else ")"
    return ("Many([", "])") if _is_many(type(value)) else (f"{type(value).__name__}(", ")")


def _is_many(kind: type[Any]) -> bool:
    """Whether a type is `Many`, which says so itself: it is made of what is here."""
    return getattr(kind, "__cdl_many__", False)


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _same_payload(x: Any, y: Any) -> bool:
    if _is_array(x) or _is_array(y):
        numbers = _is_number(x) and _is_number(y)
        return numbers and np.shape(x) == np.shape(y) and bool(np.array_equal(np.asarray(x), np.asarray(y)))
    return bool(x == y)


def _is_number(value: Any) -> bool:
    return _is_array(value) or isinstance(value, int | float | complex)


def _hash_payload(value: Any) -> int:
    if not _is_array(value):
        return hash(value)
    flat = np.asarray(value)
    return hash(flat.item()) if flat.shape == () else hash((flat.shape, tuple(flat.ravel().tolist())))


def _is_elsewhere(value: Any) -> bool:
    """Whether it is a `Many` as `fold` has it, whose children are not in it."""
    return _is_many(type(value)) and not value.listed


def _show_payload(value: Any) -> str:
    if _is_elsewhere(value):
        return "Many(<edges>)"
    if _is_array(value) and np.shape(value) == () and not hasattr(value, "aval"):
        return repr(value.item())
    return " ".join(repr(value).split())
