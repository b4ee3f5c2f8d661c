"""From values to trees and back, one loop each way: no depth is too deep for it.

| the mathematics                       | here                                                                   |
| ------------------------------------- | ---------------------------------------------------------------------- |
| `V ≅ F V`, a summand for each class   | `Kind`: how a value is taken apart into one layer, and put together    |
| `ana` of the one way, `V → μF`        | `to_tree`                                                              |
| `cata` of the other, `μF → V`         | `to_value`                                                             |

`to_tree` makes each node with its fields empty, which its parent holds already, and fills them when it comes to it.
`to_value` goes down once, and then up from the end of that list, where each node finds its children at the end of what
is done: a tuple, say, is made when what is in it is there.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._functors import Many
from .._functors.usage import whole
from .._functors.words import an, short
from ..errors import CdlError, ForeignLayer, TreeTooLarge
from ._pause import uncollected


MAX_NODES = 10_000_000


class Table(dict[Any, Any]):
    """A dictionary that says what stands where it should not: `refuse` raises, and is asked for each missing key."""

    def __init__(self, found: Mapping[Any, Any], refuse: Callable[[Any], Any]) -> None:
        super().__init__(found)
        self.refuse = refuse

    def __missing__(self, key: Any) -> Any:
        return self.refuse(key)


@dataclass(frozen=True, eq=False)
class Slot:
    """One field of a constructor, and where it comes from.

    `how` says what is in it: a `payload`, a `code` (the position of a value among finitely many), `one` child, `maybe`
    one, or `many`. `get` takes it from a value. `there` and `back` are, for a payload, the types that are taken as they
    are; for a code, the positions by type and value, and the values by position; for children, the kinds by the type of
    the value and by constructor. `check` raises for a payload of another type that does not fit, or another container.
    """

    name: str
    how: str
    get: Callable[[Any], Any]
    there: Any
    back: Any
    check: Callable[[Any], Any] = lambda value: None
    container: type[Any] = list


@dataclass(eq=False)
class Kind:
    """One class of values: its constructor, the constructor's fields, and how a value is made from what is in them.

    Where `build` is `None`, the value is an instance of `made`, with the fields of these `names`, which are set as
    `pickle` sets them.
    """

    constructor: type[Any]
    slots: tuple[Slot, ...]
    build: Callable[[list[Any]], Any] | None = None
    made: type[Any] = object
    names: tuple[str, ...] = ()


@uncollected
def to_tree(kinds: Table, value: Any, max_nodes: int = MAX_NODES) -> Any:
    """The tree of a value. `kinds`: the kinds that may stand at the root, by type.

    **Raises:** `CdlError` for a value of another type than its place asks for, `TreeTooLarge` for one that is inside
    itself, or that has more than `max_nodes` nodes.
    """
    kind = kinds[type(value)]
    root = object.__new__(kind.constructor)
    pending: list[tuple[Any, Any, Any]] = [(kind, value, root)]
    inside: set[int] = set()  # the values that are being gone through; each is marked in `pending`, to be taken out
    count = 0
    while pending:
        kind, x, new = pending.pop()
        if kind is None:
            inside.discard(id(x))
            continue
        fields, before = new.__dict__, len(pending)
        for slot in kind.slots:
            name, how, there, v = slot.name, slot.how, slot.there, slot.get(x)
            if how == "payload":
                if type(v) not in there:
                    slot.check(v)
                fields[name] = v
            elif how == "code":
                fields[name] = there[type(v)][v]
            elif how == "many":
                if type(v) is not slot.container:
                    slot.check(v)
                below = [(child := there[type(y)], y, object.__new__(child.constructor)) for y in v]
                fields[name] = Many([part[2] for part in below])
                pending += below
            elif v is None and how == "maybe":
                fields[name] = None
            else:
                child = there[type(v)]
                fields[name] = part = object.__new__(child.constructor)
                pending.append((child, v, part))
        count += 1
        if count > max_nodes:
            raise TreeTooLarge(
                f"the value has more than {max_nodes:,} nodes, where a part that stands in several places is counted "
                "in each: give its parts one by one."
            )
        if len(pending) > before:
            if id(x) in inside:
                raise TreeTooLarge(f"the value is cyclic: {an(type(x).__name__)} is inside itself. Trees are finite.")
            inside.add(id(x))
            pending.insert(before, (None, x, None))
    return root


@uncollected
def to_value(kinds: Table, tree: Any) -> Any:
    """The value that a tree was made from. `kinds`: those that may stand at the root, by constructor.

    **Raises:** `ForeignLayer` for a node where another belongs, `CdlError` for a payload of another type.
    """
    order: list[tuple[Kind, list[Any], list[tuple[int, int, Any]], int]] = []
    pending: list[tuple[Kind, Any]] = [(kinds[type(tree)], tree)]
    while pending:
        kind, x = pending.pop()
        values: list[Any] = []
        holes: list[tuple[int, int, Any]] = []
        below: list[tuple[Kind, Any]] = []
        for i, slot in enumerate(kind.slots):
            how, back, v = slot.how, slot.back, getattr(x, slot.name)
            if how == "payload":
                if type(v) not in back:
                    slot.check(v)
            elif how == "code":
                v = back[v if type(v) is int else whole(f"{type(x).__name__}.{slot.name}", v, 0)]
            elif how == "many":
                holes.append((i, len(v.items), slot.container))
                below += [(back[type(child)], child) for child in v.items]
            elif not (v is None and how == "maybe"):
                holes.append((i, -1, None))
                below.append((back[type(v)], v))
            values.append(v)
        order.append((kind, values, holes, len(below)))
        pending += below
    done: list[Any] = []
    put = object.__setattr__  # which a frozen class has, too
    for kind, values, holes, number in reversed(order):
        at = len(done) - number
        for i, many, container in holes:
            values[i] = done[at] if many < 0 else container(done[at : at + many])
            at += abs(many)
        if number:
            del done[-number:]
        if kind.build is None:
            new = object.__new__(kind.made)
            for name, v in zip(kind.names, values, strict=True):
                put(new, name, v)
        else:
            new = kind.build(values)
        done.append(new)
    return done[0]


def by_constructor(where: str, kinds: Iterable[Kind]) -> Table:
    """The kinds that may stand somewhere, by constructor; what refuses others names the place."""
    found = {kind.constructor: kind for kind in kinds}
    names = ", ".join(constructor.__name__ for constructor in found)

    def refuse(given: type[Any]) -> Any:
        raise ForeignLayer(f"{where} holds {an(given.__name__)}, and a tree of {names} belongs there.")

    return Table(found, refuse)


def refuse_value(where: str, wanted: str, value: Any) -> Any:
    """**Raises:** `CdlError`: this value is not what belongs there."""
    encoded = wanted == "a `str`" and isinstance(value, np.integer)
    advice = " The tree is encoded: give `words.decode(tree)`, of the vocabulary that it was encoded with." * encoded
    raise CdlError(f"{where} is {short(value)}, {an(type(value).__name__)}, and {wanted} belongs there.{advice}")


def refuse_type(where: str, wanted: str, kind: type[Any], advice: str = "") -> Any:
    """**Raises:** `CdlError`: a value of this type is not what belongs there."""
    what = "None" if kind is type(None) else an(kind.__name__)
    raise CdlError(f"{where} holds {what}, and {wanted} belongs there.{advice}")
