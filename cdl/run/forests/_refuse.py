"""What cannot be packed, said plainly: which tree, which node, on what way from the root."""

from collections.abc import Sequence
from typing import Any

from ..._errors import ForeignLayer, SignatureError, TreeTooLarge
from ...functor import Base
from ...functor._fmap import holes
from ...functor._read import signature_name, tag, tag_name
from ...functor.poly import Sum


def refuse_size(trees: Sequence[Any], max_nodes: int) -> None:
    """Says of trees that are too large whether one is cyclic."""
    for i, tree in enumerate(trees):
        path, todo = set(), [(tree, False)]
        seen: set[int] = set()
        while todo:
            node, leaving = todo.pop()
            if leaving:
                path.discard(id(node))
                seen.add(id(node))
            elif id(node) in path:
                raise TreeTooLarge(
                    f"tree {i} is cyclic: a `{type(node).__name__}` is inside itself, {len(path)} nodes below the "
                    "root. Trees are finite; a value that goes on for ever is unfolded, not packed."
                )
            elif id(node) not in seen:
                path.add(id(node))
                todo.append((node, True))
                todo.extend((child, False) for child in holes(node))
    raise TreeTooLarge(
        f"the forest has more than {max_nodes:,} nodes once shared subtrees are written out: pack fewer trees at a "
        "time, or raise `max_nodes`."
    )


def refuse_sort(family: Sequence[Sum], node: Any, found: int, expected: int) -> None:
    """Says of a node of one sort that it stands where one of another belongs."""
    there = signature_name(family[expected].constructors)
    raise SignatureError(
        f"a `{tag_name(tag(type(node)))}` (`{type(node).__name__}`, of sort {found}) stands at a place of sort "
        f"{expected}, which is `{there}`: give the signatures in the order of the tuple in `Base[T, tuple[…]]`."
    )


def refuse_foreign(kinds: tuple[type[Any], ...], trees: Sequence[Any]) -> None:
    """Finds the first node that is no constructor, with the way to it."""
    seen = set[int]()
    for i, tree in enumerate(trees):
        todo: list[tuple[Any, tuple[Any, ...]]] = [(tree, ())]
        while todo:
            node, way = todo.pop()
            if type(node) not in kinds:
                raise ForeignLayer(_foreign(node, kinds, i, way))
            if id(node) not in seen:
                seen.add(id(node))
                todo.extend((child, (way, type(node).__name__)) for child in holes(node))


def _foreign(node: Any, kinds: tuple[type[Any], ...], tree: int, way: tuple[Any, ...]) -> str:
    names: list[str] = []
    while way:
        way, name = way
        names.append(name)
    path = " in ".join(names[:4]) + (" in …" if len(names) > 4 else "")
    where = f"in tree {tree}" + (f", in {path}" if path else ", at the root")
    expected = f"of `{signature_name(kinds)}` ({', '.join(k.__name__ for k in kinds)})"
    if isinstance(node, Base):
        return f"`{type(node).__name__}` of `{tag_name(tag(type(node)))}` is no constructor {expected}: {where}."
    return f"a `{type(node).__name__}` stands where a constructor {expected} belongs: {where}."
