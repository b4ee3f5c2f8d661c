"""What cannot be packed, said plainly: which tree, which node, on what way from the root."""

from collections.abc import Iterable, Sequence
from typing import Any, get_origin

from ..._functors import Base
from ..._functors.base import anew
from ..._functors.described import described
from ..._functors.mapping import holes
from ..._functors.origin import not_yet_a_tree
from ..._functors.poly import Sum
from ..._functors.read import signature_name, sorts, tag, tag_name
from ..._functors.words import an, number_of
from ...errors import ForeignLayer, SignatureError, TreeTooLarge
from ._forest import Forest


def expect_signature(of: str, signature: object) -> None:
    """**Raises:** `SignatureError` for trees in the place of a signature, and for a list of signatures."""
    trees = isinstance(signature, list | tuple) and any(isinstance(x, Base) for x in signature)
    if trees or isinstance(signature, Base | Forest):
        raise SignatureError(
            f"`{of}` takes the signature first, and was given {described(signature)}: write `{of}(signature, trees)`, "
            "with a union of constructors such as `ExprF`."
        )
    if isinstance(signature, list):
        expect_several(of, [get_origin(x) or x for x in signature])
        raise SignatureError(
            f"`{of}` takes the signatures of a family in a tuple, and was given a `list`: write `{of}((ExprF, StmtF), "
            "trees)`."
        )


def expect_several(of: str, constructors: list[Any]) -> None:
    """**Raises:** `SignatureError` where constructors of one signature are given as those of a family of sorts."""
    classes = all(isinstance(x, type) and issubclass(x, Base) for x in constructors)
    if len(constructors) > 1 and classes and all(sorts(x) < 2 for x in constructors):
        tags = {tag(x) for x in constructors}
        if len(tags) == 1 and None not in tags:
            every = ", ".join(x.__name__ + "[X]" * bool(getattr(x, "__parameters__", ())) for x in constructors)
            raise SignatureError(
                f"`{of}` was given constructors of one signature, `{tag_name(tags.pop())}`, as signatures of several "
                f"sorts: give their union, `{of}(Union[{every}], trees)`."
            )


def listed(of: str, trees: Any) -> list[Any]:
    """Some trees as a list. **Raises:** `ForeignLayer` for something else."""
    if isinstance(trees, Base):
        raise ForeignLayer(
            f"`{of}` takes a list of trees, and was given one tree, {an(type(trees).__name__)}: write `{of}(signature, "
            "[tree])`."
        )
    if isinstance(trees, Forest):
        raise ForeignLayer(
            f"`{of}` takes a list of trees, and was given a `Forest`: it is packed, and `fold` reads it."
        )
    try:
        return list(trees)
    except TypeError as e:
        if isinstance(trees, Iterable):  # the error is that of the trees themselves
            raise
        raise ForeignLayer(
            f"`{of}` takes a list of trees, and was given {an(type(trees).__name__)}: write `{of}(signature, [tree, "
            "…])`."
        ) from e


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
                    f"tree {i} is cyclic: {an(type(node).__name__)} is inside itself, {number_of('node', len(path))} "
                    "below the root. Trees are finite; a value that goes on for ever is unfolded, not packed."
                )
            elif id(node) not in seen:
                path.add(id(node))
                todo.append((node, True))
                todo.extend((child, False) for child in holes(node))
    raise TreeTooLarge(
        f"the forest has more than {max_nodes:,} nodes once shared subtrees are written out: pack fewer trees at a "
        "time, or raise `max_nodes`."
    )


def refuse_sort(family: Sequence[Sum], node: object, found: int, expected: int) -> None:
    """Says of a node of one sort that it stands where one of another belongs."""
    there = signature_name(family[expected].constructors)
    raise SignatureError(
        f"{an(tag_name(tag(type(node))))} (`{type(node).__name__}`, of sort {found}) stands at a place of sort "
        f"{expected}, which is `{there}`: put a node of `{there}` there, or give the signatures in the order of the "
        "tuple in `Base[T, tuple[…]]`."
    )


def refuse_foreign(kinds: tuple[type[Any], ...], trees: Sequence[Any]) -> None:
    """Finds the first node that is not a constructor, with the way to it."""
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


def _foreign(node: object, kinds: tuple[type[Any], ...], tree: int, way: tuple[Any, ...]) -> str:
    names: list[str] = []
    while way:
        way, name = way
        names.append(name)
    path = " in ".join(names[:4]) + (" in …" if len(names) > 4 else "")
    where = f"in tree {tree}" + (f", in {path}" if path else ", at the root")
    expected = f"of `{signature_name(kinds)}` ({', '.join(k.__name__ for k in kinds)})"
    if isinstance(node, Base):
        own = f"`{type(node).__name__}` of `{tag_name(tag(type(node)))}`"
        return f"{own} is not a constructor {expected}: {where}.{anew([type(node)], kinds)}"
    what = an(type(node).__name__)
    return f"{what} stands where a constructor {expected} belongs: {where}.{not_yet_a_tree(node, kinds)}"
