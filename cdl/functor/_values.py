"""Trees as values: equality, hash, text, pickle and copy, each with a stack of its own instead of recursion.

A tree's inside is its layers, and the tuples and `Many`s in their fields; anything else is a payload. Payloads
compare by value: arrays of any library by shape and elements, the rest by `==`.
"""

import copy
from typing import Any

import numpy as np

from ._many import Many


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
    todo = [value]
    while todo:
        x = todo[-1]
        inner = inside(x)
        if inner is None:
            done[id(x)] = _hash_payload(x)
        else:
            waiting = [y for y in inner if id(y) not in done]
            if waiting:
                todo.extend(waiting)
                continue
            done[id(x)] = hash((type(x).__qualname__, *(done[id(y)] for y in inner)))
        todo.pop()
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
        inner = inside(x)
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


def disassemble(value: Any) -> list[tuple[Any, tuple[Any, ...]]]:
    """The value as a list of flat parts, children first; a part is its type and its fields, some of them `_Ref`s."""
    parts: list[tuple[Any, tuple[Any, ...]]] = []
    place: dict[int, int] = {}
    todo = [value]
    while todo:
        x = todo[-1]
        inner = inside(x) or ()
        waiting = [y for y in inner if inside(y) is not None and id(y) not in place]
        if waiting:
            todo.extend(reversed(waiting))
            continue
        todo.pop()
        if id(x) not in place:
            fields = tuple(_Ref(place[id(y)]) if inside(y) is not None else y for y in inner)
            place[id(x)] = len(parts)
            parts.append((type(x), fields))
    return parts


def assemble(parts: list[tuple[Any, tuple[Any, ...]]]) -> Any:
    """The value that `disassemble` took apart."""
    built: list[Any] = []
    for kind, fields in parts:
        values = tuple(built[f.index] if isinstance(f, _Ref) else f for f in fields)
        built.append(_make(kind, values))
    return built[-1]


def deepcopy(value: Any, memo: dict[int, Any]) -> Any:
    """A copy whose payloads are copied too."""
    parts = [(kind, tuple(copy.deepcopy(f, memo) for f in fields)) for kind, fields in disassemble(value)]
    return assemble(parts)


def inside(value: Any) -> tuple[Any, ...] | None:
    """What a layer, a tuple or a `Many` holds; `None` for a payload."""
    if getattr(type(value), "__cdl_value__", False):
        return tuple(getattr(value, n) for n in type(value).__match_args__)
    if type(value) is tuple:
        return value
    return value.items if isinstance(value, Many) else None


class _Ref:
    """The place of an earlier part."""

    def __init__(self, index: int) -> None:
        self.index = index


class _Open:
    """A value still to be written."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _make(kind: type[Any], values: tuple[Any, ...]) -> Any:
    if kind is tuple:
        return values
    if kind is Many:
        return Many(values)
    new = object.__new__(kind)
    new.__dict__.update(zip(kind.__match_args__, values, strict=True))
    return new


def _brackets(value: Any) -> tuple[str, str]:
    if type(value) is tuple:
        return "(", ",)" if len(value) == 1 else ")"
    return ("Many([", "])") if isinstance(value, Many) else (f"{type(value).__name__}(", ")")


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


def _show_payload(value: Any) -> str:
    if _is_array(value) and np.shape(value) == () and not hasattr(value, "aval"):
        return repr(value.item())
    return " ".join(repr(value).split())
