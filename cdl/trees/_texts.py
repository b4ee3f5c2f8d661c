"""The texts in a tree: where they are, and the tree with something else in their places.

A text is in a field that is annotated `str`, with a type variable, or with a union of which `str` is a member.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, get_args, TypeVar

from .._functors import Base, Many
from .._functors.mapping import fmap_term
from .._functors.read import layout, sorts
from .._functors.poly import Const, Id, ManyOf, Poly


@cache
def texts_of(kind: type[Any], only: tuple[type[Any], ...]) -> tuple[int, ...]:
    """Which fields of a constructor may hold a text; none, where it is not among `only`."""
    if not issubclass(kind, Base) or (only and kind not in only):
        return ()
    held = [factor.of if isinstance(factor, Const) else None for factor in layout(kind).factors]
    return tuple(i for i, a in enumerate(held) if a is str or isinstance(a, TypeVar) or str in get_args(a))


def mapped(tree: Any, f: Callable[[Any], Any], only: tuple[type[Any], ...]) -> Any:
    """The tree with `f` at what is in the fields of its texts. A part that stands in several places is mapped once."""
    new = object.__new__(type(tree))
    known = {id(tree): new}
    pending = [(tree, new)]

    # A node is made empty, put into its parent, and filled when it comes out of `pending`.
    empty = lambda x: known.get(id(x)) or known.setdefault(id(x), _waiting(pending, x, object.__new__(type(x))))
    while pending:
        x, new = pending.pop()
        fields = new.__dict__
        for name, how, factor in _plan(type(x), only):
            v = getattr(x, name)
            if how == "text":
                fields[name] = f(v)
            elif how == "payload":
                fields[name] = v
            elif how == "one":
                fields[name] = empty(v)
            elif how == "many":
                fields[name] = Many([empty(y) for y in v.items])
            else:
                fields[name] = fmap_term(factor, (empty,) * sorts(type(x)), v)
    return known[id(tree)]


def _waiting(pending: list[tuple[Any, Any]], x: Any, new: Any) -> Any:
    pending.append((x, new))
    return new


@cache
def _plan(kind: type[Any], only: tuple[type[Any], ...]) -> tuple[tuple[str, str, Poly], ...]:
    """The fields of a constructor, and what is to be done with each."""
    texts, record = texts_of(kind, only), layout(kind)
    how = {Const: "payload", Id: "one", ManyOf: "many"}
    return tuple(
        (name, "text" if i in texts else how.get(type(factor), "other"), factor)
        for i, (name, factor) in enumerate(zip(record.names, record.factors, strict=True))
    )
