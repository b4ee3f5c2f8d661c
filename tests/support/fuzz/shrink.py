"""A smaller case that fails in the same way: fewer trees, nodes, constructors and fields; simpler cells and types."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from . import cells, growth, lists
from .cases import Case
from .families import Constructor, Family, sorts
from .trees import Node, nodes


def shrink(case: Case, fails: Callable[[Case], bool], seconds: float = 120) -> Case:
    """The smallest found within the time. `fails`: whether a case fails as the first one does."""
    end = time.monotonic() + seconds
    smaller = True
    while smaller:
        smaller = False
        for step in (_trees, _plainer, _fields, _nodes, _constructors):
            again = True
            while again and time.monotonic() < end:
                again = False
                for candidate in step(case):
                    if time.monotonic() > end:
                        return case
                    if fails(candidate):
                        case, again, smaller = candidate, True, True
                        break
    return case


def _with_trees(case: Case, trees: tuple[Node, ...]) -> Case:
    return replace(case, trees=trees, order=tuple(i for i in case.order if i < len(trees)) or (0,))


def _trees(case: Case) -> Iterator[Case]:
    """One tree; one half; all but one; a subtree in place of a tree."""
    some = case.trees
    if len(some) > 1:
        yield from (_with_trees(case, (t,)) for t in some)
        yield from (_with_trees(case, part) for part in (some[: len(some) // 2], some[len(some) // 2 :]))
        yield from (_with_trees(case, some[:i] + some[i + 1 :]) for i in range(len(some)))
    for i, tree in enumerate(some):
        for below in sorted(list(nodes(tree))[1:], key=lambda t: sum(1 for _ in nodes(t))):
            yield _with_trees(case, (*some[:i], below, *some[i + 1 :]))


def _nodes(case: Case) -> Iterator[Case]:
    """A smaller node of the same sort in a node's place; a child less; none where there may be none."""
    sort = {c.name: c.sort for c in case.family.constructors}
    terms = {c.name: c.terms for c in case.family.constructors}
    every = sorted({n for t in case.trees for n in nodes(t)}, key=lambda t: sum(1 for _ in nodes(t)))
    for node in reversed(every):
        size = sum(1 for _ in nodes(node))
        others = [n for n in every if sort[n.name] == sort[node.name] and sum(1 for _ in nodes(n)) < size][:2]
        for j, (value, term) in enumerate(zip(node.fields, terms[node.name], strict=True)):
            shorter = [value[:i] + value[i + 1 :] for i in range(len(value))] if term[0] in ("list", "many") else []
            shorter += [None] if term[0] == "maybe" and value is not None else []
            others += [replace(node, fields=(*node.fields[:j], v, *node.fields[j + 1 :])) for v in shorter]
        yield from (_with_trees(case, tuple(_put(t, node, other) for t in case.trees)) for other in others)


def _put(value: Any, old: Node, new: Node) -> Any:
    """A tree with another node in a node's place, wherever it stands."""
    if value == old:
        return new
    if isinstance(value, Node):
        return replace(value, fields=_put(value.fields, old, new))
    return tuple(_put(x, old, new) for x in value) if isinstance(value, tuple) else value


def _constructors(case: Case) -> Iterator[Case]:
    """Without the constructors that no tree has; with fewer sorts."""
    used = {n.name for t in case.trees for n in nodes(t)}
    kinds = case.family.constructors
    for keep in (
        [c for c in kinds if c.name in used],
        *([c for c in kinds if c is not d] for d in kinds if d.name not in used),
    ):
        if len(keep) < len(kinds) and {c.sort for c in keep} == set(range(case.family.sorts)):
            yield replace(case, family=replace(case.family, constructors=tuple(keep)))
    last = case.family.sorts - 1
    named = {c.sort for c in kinds if c.name in used} | {
        s for c in kinds if c.name in used for t in c.terms for s in sorts(t)
    }
    if last and last not in named:
        keep = [c for c in kinds if c.sort != last and last not in {s for t in c.terms for s in sorts(t)}]
        if {c.sort for c in keep} == set(range(last)):
            yield replace(case, family=Family(last, tuple(keep)))


def _fields(case: Case) -> Iterator[Case]:
    """A field less, in all trees; half of a constructor's fields."""
    for c in case.family.constructors:
        count = len(c.fields)
        for drop in [range(count // 2), range(count // 2, count), *([i] for i in range(count))]:
            keep = [i for i in range(count) if i not in drop]
            if len(keep) < count:
                yield _without(case, c, keep)


def _without(case: Case, c: Constructor, keep: list[int]) -> Case:
    def cut(value: Any) -> Any:
        if isinstance(value, Node):
            fields = value.fields if value.name != c.name else tuple(value.fields[i] for i in keep)
            return replace(value, fields=cut(fields))
        return tuple(map(cut, value)) if isinstance(value, tuple) else value

    new = replace(c, fields=tuple(c.fields[i] for i in keep))
    kinds = tuple(new if k is c else k for k in case.family.constructors)
    return replace(_with_trees(case, cut(case.trees)), family=replace(case.family, constructors=kinds))


def _plainer(case: Case) -> Iterator[Case]:
    """Simpler choices of all else."""
    if case.lists:
        yield from _plainer_lists(case)
        return
    a = case.algebra
    if case.form not in ("fold", *growth.FORMS):
        yield replace(case, form="fold")
    if case.transform != "value" and case.form != "remat":
        yield replace(case, transform="value")
    if case.x64:
        yield replace(case, x64=False, algebra=replace(a, dtypes=tuple(d.replace("64", "32") for d in a.dtypes)))
    for name in ("cells", "inner", "ways", "zeros"):
        choices = getattr(a, name)
        if choices:
            yield replace(case, algebra=replace(a, **{name: {}}))
            if len(choices) > 1:
                yield from (
                    replace(case, algebra=replace(a, **{name: {k: v for k, v in choices.items() if k != key}}))
                    for key in choices
                )
    for changes in ({"keyed": False, "cells": {}, "inner": {}}, {"stacked": False}, {"closed": False}, {"seed": 0}):
        if any(getattr(a, k) != v for k, v in changes.items()) and (a.keyed or "keyed" not in changes):
            yield replace(case, algebra=replace(a, **changes))
    for i in range(len(a.dtypes)):
        if a.carriers[i] != "plain":
            yield replace(case, algebra=replace(a, carriers=(*a.carriers[:i], "plain", *a.carriers[i + 1 :])))
        if a.dtypes[i] != "float32" and not case.x64:
            yield replace(case, algebra=replace(a, dtypes=(*a.dtypes[:i], "float32", *a.dtypes[i + 1 :])))


def _plainer_lists(case: Case) -> Iterator[Case]:
    assert case.lists is not None
    xs = case.lists
    plainer: list[Any] = [{"elements": (e,)} for e in xs.elements if e] if len(xs.elements) > 1 else []
    plainer += [{"elements": tuple(e[:1] for e in xs.elements)}] if any(len(e) > 1 for e in xs.elements) else []
    plainer += [{"cell": "identity"}] if xs.cell not in ("identity", *cells.FORWARD) else []
    plainer += [{"state": "vector"}] if xs.state != "vector" else []
    plainer += [{"dtype": "float32"}] if xs.dtype != "float32" and not case.x64 else []
    yield from (replace(case, lists=replace(xs, **changes)) for changes in plainer)
    if case.transform != "value":
        yield replace(case, transform="value")
    if case.form != "seq" and case.form in lists.FORMS and not case.form.startswith("run"):
        yield replace(case, form="seq")
