"""Trees: values of a signature, and the network that an algebra is on one of them.

| the drawing                            | here                                                     |
| -------------------------------------- | -------------------------------------------------------- |
| a node, with its payload               | a box; with those below it in order                      |
| an optional place that is empty        | `none`                                                   |
| a fold: `α` at every node              | the same boxes, with wires upwards                       |
| the weights that the node uses         | numbered below its name, and told apart by colour        |
| tying, `Δ : Pᵏ → Pⁿ`                   | the notes: at how many nodes each copy is used           |
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import numpy as np

from .._functors import Base
from .._functors.mapping import pieces
from .._functors.poly import Const, Exp, Id, ManyOf, Maybe, subscript, superscript
from .._functors.read import layout
from .._para import Untied
from .._para.para import Along, Para
from .._para.two_cells import Gather
from .._para.unrolled import Grower, Network, places_of, Unrolled
from .._para.uses import Part, parts
from .._terms import name, numbers, real
from .diagram import BORDERED, Canvas, Diagram, extent, Kind, Node


MOST = 150  # how many nodes are drawn; `…` stands for the rest


@dataclass
class Plan:
    """A node to be drawn, with those below it; `index` is its number in pre-order."""

    lines: tuple[str, ...]
    kind: Kind
    below: list["Plan"]
    index: int = -1
    tint: int = 0

    @cached_property
    def width(self) -> int:
        """How wide it is with all that is below it."""
        below = sum(p.width for p in self.below) + 2 * (len(self.below) - 1)
        return max(extent(self.lines, self.kind)[0], below)


def tree_diagram(tree: Any) -> Diagram:
    """A tree, its root on top."""
    canvas = Canvas()
    _hang(canvas, plan(tree), 0, 0, upwards=False)
    return canvas.finished()


def fold_diagram(network: Untied[Any, Any] | Para[Any, Any, Any]) -> Diagram:
    """The network of one tree, untied or tied: each node says which copy it uses. What is read goes up."""
    para = network.para if isinstance(network, Untied) else network
    fn, params = para.fn, para.params
    copies: Any = tuple(range(len(params)))
    while isinstance(fn, Along):  # along a map that only copies, each node has one of the copies there are
        copies, fn = fn.cell(copies), fn.fn
    assert isinstance(fn, Network)
    n, k = len(copies), len(params)
    tying = f", along Δ : {power(k)} → {power(n)}" if k < n else ""
    notes = [f"{name(fn.fn)} at {n} nodes, with {power(k)}{tying}; P = {real(numbers(params[:1]))}"]
    kinds = _kinds(fn)
    if k < n:
        users = [[i for i in range(n) if copies[i] == j] for j in range(k)]
        notes += [f"{symbol(j)}  {at_kinds(kinds, nodes)}" for j, nodes in enumerate(users)]
    mark, tint = lambda i: symbol(copies[i]), lambda i: copies[i]
    if isinstance(fn, Grower):
        return _network(_grown(fn, mark, tint), notes, upwards=False)
    assert isinstance(fn, Unrolled)
    return _network(plan(fn.tree, mark, tint), notes)


def algebra_at(para: Para[Any, Any, Any], tree: Any) -> Diagram:
    """The network of an algebra over one tree, with its weights tied: each node says which parts of them it uses."""
    found = parts(para, tree)
    by_node = [[j for j, part in enumerate(found) if i in part.nodes] for i in range(len(places_of(tree)))]
    order = list(dict.fromkeys(tuple(some) for some in by_node))
    notes = [f"{name(para.fn)} at {len(by_node)} nodes; P = {real(numbers(para.params))}", *legend(found, tree)]
    mark = lambda i: " ".join(map(symbol, by_node[i])) or "–"
    return _network(plan(tree, mark, lambda i: order.index(tuple(by_node[i]))), notes)


def legend(found: list[Part], tree: Any) -> list[str]:
    """What the parts of the weights are, and which nodes use them."""
    used, kinds = [part for part in found if part.nodes], [place.constructor for place in places_of(tree)]
    signs, sizes = [symbol(i) for i in range(len(used))], [real(part.size) for part in used]
    wide = [max(map(len, column), default=0) for column in (signs, [part.name for part in used], sizes)]
    lines = [
        f"{sign:{wide[0]}}  {part.name:{wide[1]}}  {size:{wide[2]}}  at {at_kinds(kinds, part.nodes)}"
        for sign, part, size in zip(signs, used, sizes, strict=True)
    ]
    idle = [part.name for part in found if not part.nodes]
    return [
        *lines,
        *([f"no node uses {idle[0] if len(idle) == 1 else f'the other {len(idle)} parts'}"] if idle else []),
    ]


def symbol(number: int) -> str:
    """`p₂`: one of the copies of the weights, or of their parts."""
    return "p" + subscript(number)


def power(n: int) -> str:
    """`Pⁿ`."""
    return "P" + (superscript(n) if n != 1 else "")


def at_kinds(kinds: Sequence[type[Any]], nodes: Sequence[int]) -> str:
    """`3 × Leaf, 2 × Fork`: which nodes these are, of all in pre-order."""
    counts = Counter(kinds[i].__name__ for i in nodes)
    words = [f"{count} × {kind}" for kind, count in counts.items()]
    return ", ".join(words) if len(words) < 5 else f"{len(nodes)} nodes of {len(words)} constructors"


def _network(planned: Plan, notes: list[str], *, upwards: bool = True) -> Diagram:
    canvas = Canvas(notes=notes)
    _hang(canvas, planned, 0, 0, upwards=upwards)
    return canvas.finished()


def _kinds(fn: Network) -> list[type[Any]]:
    """The constructors of a network's nodes."""
    if isinstance(fn, Grower):
        return [node[0] for node in fn.nodes() if node is not None]
    assert isinstance(fn, Unrolled)
    return [place.constructor for place in places_of(fn.tree)]


def _grown(fn: Grower, mark: Callable[[int], str], tint: Callable[[int], int]) -> Plan:
    """What is to be drawn of a tree that is grown; `…` where it ends early."""
    ahead, count = iter(fn.nodes()), iter(range(10**9))

    def of() -> Plan:
        node = next(ahead, None)
        index = MOST if node is None else next(count)
        if node is None or index >= MOST:
            return Plan(("…",), "port", [])
        kind, places = node
        return Plan((kind.__name__, mark(index)), "box", [of() for _ in range(places)], index, tint(index))

    return of()


def is_fold(x: Any) -> bool:
    """Whether a value is the network of a tree, tied along maps that only copy."""
    if isinstance(x, Untied):
        return True
    fn = x.fn if isinstance(x, Para) else None
    while isinstance(fn, Along) and isinstance(fn.cell, Gather):
        fn = fn.fn
    return isinstance(fn, Network)


def plan(tree: Any, mark: Callable[[int], str] | None = None, tint: Callable[[int], int] = lambda i: 0) -> Plan:
    """What is to be drawn of a tree: its first nodes in pre-order."""
    count = iter(range(10**9))

    def of(value: Any) -> Plan:
        index = next(count)
        if index >= MOST:
            return Plan(("…",), "port", [])
        if not isinstance(value, Base):
            return Plan((short(value),), "port", [], index)
        found = list(_fields(value))
        payload = ", ".join(short(x) for what, x in found if what == "payload")
        lines = (f"{type(value).__name__} {payload}".strip(), *([mark(index)] if mark else []))
        new = Plan(lines, "box", [], index, tint(index))
        for what, x in found:
            if what == "place":
                new.below.append(of(x))
            elif what == "none":
                new.below.append(Plan(("none",), "port", []))
        return new

    return of(tree)


def short(value: Any) -> str:
    """A payload in a few characters."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        if np.shape(value) == () and not isinstance(value, jax.ShapeDtypeStruct):
            value = np.asarray(value).item()
        else:
            return str(eqx.tree_pformat(value, struct_as_array=True, short_arrays=True))
    text = f"{value:.4g}" if isinstance(value, float) else " ".join(repr(value).split())
    return text if len(text) < 18 else text[:16] + "…"


def _fields(layer: Any) -> Iterator[tuple[str, Any]]:
    """What is in a layer, in order: payloads, places, and optional places that are empty."""
    for part, x in pieces(layout(type(layer)), layer):
        match part:
            case Const():
                yield "payload", x
            case Exp():
                yield "payload", part
            case Id():
                yield "place", x
            case Maybe() if x is None:
                yield "none", None
            case ManyOf():
                for child in x.items:
                    yield "place", child


def _hang(canvas: Canvas, planned: Plan, x: int, y: int, *, upwards: bool) -> Node:
    """Draws a node and those below it, in the columns from `x` on."""
    own, high = extent(planned.lines, planned.kind)
    below = sum(p.width for p in planned.below) + 2 * (len(planned.below) - 1)
    at = x + max(0, planned.width - below) // 2
    row = y + high + (2 if upwards else 1)
    first = len(canvas.nodes)
    children: list[Node] = []
    for inner in planned.below:
        children.append(_hang(canvas, inner, at, row, upwards=upwards))
        at += inner.width + 2
    centre = (children[0].middle[0] + children[-1].middle[0]) // 2 if children else x + (own - 1) // 2
    left = min(max(centre - (own - 1) // 2, x), x + planned.width - own)
    node = canvas.node(planned.lines, planned.kind, left, y, tint=planned.tint)
    canvas.nodes.insert(first, canvas.nodes.pop())
    column, foot = node.middle[0], node.bottom
    for child in children:
        top = child.middle[0], child.y
        line = [top, (top[0], row - 1), (column, row - 1), (column, foot)]
        drawn = child.kind in BORDERED and upwards
        if upwards:
            canvas.wire(child.key, node.key, line, arrow=drawn)
        else:
            canvas.wire(node.key, child.key, line[::-1], arrow=False)
    return node
