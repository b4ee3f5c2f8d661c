"""The texts in a tree: where they are, and the tree with something else in their places.

A text is in a field that is annotated `str`, `str | None`, or with a type variable.
"""

from collections.abc import Callable
from typing import Any, get_args, TypeAlias, TypeVar

from .._functors import Base, Many
from .._functors.described import described
from .._functors.mapping import fmap_term
from .._functors.origin import not_a_constructor
from .._functors.poly import Const, Exp, Id, ManyOf, Poly, walk
from .._functors.read import cached, layout, sorts
from .._functors.values import parts
from ..errors import CdlError
from ._pause import uncollected


Only: TypeAlias = tuple[type[Any], ...]  # the constructors whose texts are meant; all, where there is none


def expect_texts(only: Only) -> None:
    """**Raises:** `CdlError` where something else stands among the constructors whose texts are meant."""
    for kind in only:
        if not (isinstance(kind, type) and issubclass(kind, Base)):
            own = not_a_constructor(kind) if isinstance(kind, type) else ""
            raise CdlError(
                f"`only` has {described(kind)}, which is not a constructor: it names the constructors whose texts are "
                f"words, as in `only=[Word]`.{own}"
            )
        if all(how != "text" for _, how, _ in _plan(kind, ())):
            raise CdlError(
                f"`only` has `{kind.__name__}`, which has no text: a text is in a field that is annotated `str`, "
                "`str | None`, or with a type variable."
            )


@uncollected
def texts(tree: Any, only: Only, kind: type[Any] = str) -> list[Any]:
    """The texts of a tree, those of children before those of their parent; of a part that is shared, once. `kind`: what
    is looked for in the fields of texts."""
    found, plans = list[Any](), _plans(only)
    for x, inner in parts(tree):
        if type(x) is tuple or type(x) is Many:
            continue
        for i, (_, how, _) in enumerate(plans[type(x)]):
            if how == "text" and isinstance(inner[i], kind):
                found.append(inner[i])
    return found


@uncollected
def mapped(tree: Any, f: Callable[[Any], Any], only: Only) -> Any:
    """The tree with `f` at what is in the fields of its texts. A part that is shared stays so."""
    plans, new = _plans(only), object.__new__(type(tree))
    known = {id(tree): new}
    pending = [(tree, new)]

    def empty(x: Any) -> Any:
        """The new node, which its parent holds already, and which is filled when it comes out of `pending`."""
        if id(x) not in known:
            known[id(x)] = object.__new__(type(x))
            pending.append((x, known[id(x)]))
        return known[id(x)]

    while pending:
        x, new = pending.pop()
        fields = new.__dict__
        for name, how, factor in plans[type(x)]:
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


class _Plans(dict[type[Any], tuple[tuple[str, str, Poly], ...]]):
    """For each constructor its fields, and what each holds: a text, another payload, one child, many, or children in
    some other way."""

    def __init__(self, only: Only) -> None:
        super().__init__()
        self.only = only

    def __missing__(self, kind: type[Any]) -> tuple[tuple[str, str, Poly], ...]:
        self[kind] = found = _plan(kind, self.only)
        return found


_plans = cached(_Plans)


def _plan(kind: type[Any], only: Only) -> tuple[tuple[str, str, Poly], ...]:
    record = layout(kind)
    if any(isinstance(term, Exp) for term in walk(record)):
        raise CdlError(f"`{kind.__name__}` has a function in it, so that it is a machine: a vocabulary is of trees.")
    meant = not only or kind in only
    pairs = zip(record.names, record.factors, strict=True)
    return tuple(
        (name, "text" if meant and _is_text(factor) else _HOW.get(type(factor), "other"), factor)
        for name, factor in pairs
    )


_HOW: dict[type[Any], str] = {Const: "payload", Id: "one", ManyOf: "many"}


def _is_text(factor: Poly) -> bool:
    return isinstance(factor, Const) and (
        factor.of is str or isinstance(factor.of, TypeVar) or set(get_args(factor.of)) == {str, type(None)}
    )
