"""Boxes in columns: as far to the right as the longest path of wires that leads there, in an order with few crossings.

| the drawing                                | here                                                        |
| ------------------------------------------ | ----------------------------------------------------------- |
| a wire that goes back                      | one against `sequence`, which few wires are                 |
| a wire that passes columns                 | a `via` in each of them, which has a place like a box       |
| the order in a column                      | by the mean of what an item is joined with, to and fro      |
| rows                                       | as straight as the order allows: `_rows_of` (least squares) |

Rows are counted in units of two: pins are in even rows, and borders in odd ones.

Source: K. Sugiyama, S. Tagawa, M. Toda, *Methods for visual understanding of hierarchical system structures*, 1981;
P. Eades, X. Lin, W. Smyth, *A fast and effective heuristic for the feedback arc set problem*, 1993.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median, median_low
from typing import TypeAlias

from ._scene import Net, Pin, Scene


Key: TypeAlias = tuple[str, str]  # "in", "out", "part" or "via", and a name
SWEEPS = 12


@dataclass(frozen=True)
class Item:
    """What takes a place in a column: its size, and the unit of each of its ends, on its left and on its right."""

    key: Key
    width: int
    units: int
    left: Mapping[str, int]
    right: Mapping[str, int]

    @property
    def boxed(self) -> bool:
        return self.key[0] == "part"


@dataclass
class Crossing:
    """A net between two columns: the ends on both sides. `back` says to which sides a lane below leads off."""

    net: int
    left: list[tuple[Key, str]] = field(default_factory=list)
    right: list[tuple[Key, str]] = field(default_factory=list)
    back: set[str] = field(default_factory=set)
    begins: bool = False  # whether its source is here


@dataclass
class Columns:
    """Items in columns, each with its unit, and the nets between one column and the next."""

    columns: list[list[Item]]
    between: list[dict[int, Crossing]]
    units: dict[Key, int] = field(default_factory=dict)


def columns(scene: Scene, items: Mapping[str, Item]) -> Columns:
    """The parts, the ports outside, and wires on their way, in columns with their rows."""
    at = _longest(scene)
    last = 1 + max(at.values(), default=0)
    made = Columns([[] for _ in range(last + 1)], [{} for _ in range(last)])
    made.columns[0] = [Item(("in", port), len(words), 1, {}, {port: 0}) for port, words in scene.inputs.items()]
    for name, item in items.items():
        made.columns[at[name]].append(item)
    made.columns[last] = [Item(("out", port), len(words), 1, {port: 0}, {}) for port, words in scene.outputs.items()]
    for number, net in enumerate(scene.nets):
        _pass(made, number, net, at)
    _order(made)
    _rows(made)
    return made


def _pass(made: Columns, number: int, net: Net, at: Mapping[str, int]) -> None:
    """Adds a net, with a place in each column that it passes."""

    def crossing(column: int) -> Crossing:
        return made.between[column].setdefault(number, Crossing(number))

    begin = max(at[part] if part else 0 for part, _ in net.sources)
    ends = [(at[part] if part else len(made.between), part, port) for part, port in net.targets]
    first = crossing(begin)
    first.begins = True
    first.left += [(_key(pin, "in"), pin[1]) for pin in net.sources]
    for column in range(begin + 1, max((column for column, *_ in ends), default=0)):
        via = Item(("via", f"{number}/{column}"), 0, 1, {"": 0}, {"": 0})
        made.columns[column].append(via)
        crossing(column - 1).right.append((via.key, ""))
        crossing(column).left.append((via.key, ""))
    back = [column for column, *_ in ends if column <= begin]
    for column, part, port in ends:
        crossing(column - 1).right.append((_key((part, port), "out"), port))
    for column in back:
        crossing(column - 1).back |= {"right"} if column == min(back) else {"left", "right"}
    if back:
        first.back.add("left")


def _key(pin: Pin, outside: str) -> Key:
    return ("part", pin[0]) if pin[0] else (outside, pin[1])


def _longest(scene: Scene) -> dict[str, int]:
    """The column of each part, from 1."""
    after: dict[str, dict[str, None]] = {name: {} for name in scene.parts}
    for net in scene.nets:
        for source, _ in net.sources:
            for target, _ in net.targets:
                if source and target and source != target:
                    after[source][target] = None
    order = sequence(after)
    place = {name: i for i, name in enumerate(order)}
    found = dict.fromkeys(scene.parts, 1)
    for name in order:
        for other in after[name]:
            if place[other] > place[name]:
                found[other] = max(found[other], found[name] + 1)
    return found


def sequence(after: Mapping[str, Iterable[str]]) -> list[str]:
    """All names, in an order that few go against: what nothing leads to first, what leads to nothing last."""
    out = {name: set(others) for name, others in after.items()}
    into: dict[str, set[str]] = {name: set() for name in after}
    for name, others in out.items():
        for other in others:
            into[other].add(name)
    left, first, last = list(after), list[str](), list[str]()
    while left:
        begins = [x for x in left if not into[x]]
        ends = [x for x in left if not out[x]]
        surplus = lambda x: len(out[x]) - len(into[x])
        name = begins[0] if begins else ends[-1] if ends else max(left, key=surplus)
        (last if ends and not begins else first).append(name)
        left.remove(name)
        for other in out.pop(name):
            into[other].discard(name)
        for other in into.pop(name):
            out[other].discard(name)
    return first + last[::-1]


def _joins(made: Columns) -> list[list[tuple[Key, int, Key, int]]]:
    """Between one column and the next, each pair of ends that are joined: an item and a unit in it, twice."""
    found = []
    for column, some in enumerate(made.between):
        left = {item.key: item.right for item in made.columns[column]}
        right = {item.key: item.left for item in made.columns[column + 1]}
        found.append(
            [(a, left[a][p], b, right[b][q]) for x in some.values() for a, p in x.left for b, q in x.right]
        )  # fmt: skip
    return found


def _order(made: Columns) -> None:
    """Orders each column by what its items are joined with, to and fro; keeps the order that crosses least."""
    joins = _joins(made)
    best, least = [list(column) for column in made.columns], _crossed(made, joins)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for column in range(1, len(made.columns)) if forward else range(len(made.columns) - 2, -1, -1):
            places = _places(made, column - 1 if forward else column + 1)
            near: dict[Key, list[float]] = {}
            for a, p, b, q in joins[column - 1 if forward else column]:
                own, other, unit = (b, a, p) if forward else (a, b, q)
                near.setdefault(own, []).append(places[other] + unit)
            here = {item.key: i for i, item in enumerate(made.columns[column])}
            mean = {key: sum(near[key]) / len(near[key]) if key in near else float(i) for key, i in here.items()}
            made.columns[column].sort(key=lambda item: (mean[item.key], here[item.key]))
        count = _crossed(made, joins)
        if count < least:
            best, least = [list(column) for column in made.columns], count
    made.columns = best


def _places(made: Columns, column: int) -> dict[Key, int]:
    """The unit of each item where a column is as tight as it may be."""
    found, at = {}, 0
    for item in made.columns[column]:
        found[item.key] = at
        at += item.units + item.boxed
    return found


def _crossed(made: Columns, joins: list[list[tuple[Key, int, Key, int]]]) -> int:
    """How many pairs of joined ends cross."""
    count = 0
    for column, some in enumerate(joins):
        here, there = _places(made, column), _places(made, column + 1)
        seen: list[int] = []
        for _, end in sorted((here[a] + p, there[b] + q) for a, p, b, q in some):
            count += len(seen) - bisect_right(seen, end)
            insort(seen, end)
    return count


def _rows(made: Columns) -> None:
    """Gives each item its unit: near to the median of what it is joined with, to and fro."""
    joins = _joins(made)
    for column in range(len(made.columns)):
        made.units |= _places(made, column)
    best, least = dict(made.units), _bent(made, joins)
    for sweep in range(SWEEPS):
        ways = [True] if sweep % 3 == 1 else [False] if sweep % 3 == 0 else [True, False]
        order = range(len(made.columns)) if ways[0] else range(len(made.columns) - 1, -1, -1)
        for column in order:
            wanted: dict[Key, list[int]] = {}
            if True in ways and column:
                for a, p, b, q in joins[column - 1]:
                    wanted.setdefault(b, []).extend([made.units[a] + p - q] * _weight(a, b))
            if False in ways and column < len(joins):
                for a, p, b, q in joins[column]:
                    wanted.setdefault(a, []).extend([made.units[b] + q - p] * _weight(a, b))
            items = made.columns[column]
            each = [_middle(x, wanted[x.key]) if x.key in wanted else None for x in items]
            made.units |= {x.key: unit for x, unit in zip(items, _placed(items, each, made.units), strict=True)}
        if (bent := _bent(made, joins)) < least:
            best, least = dict(made.units), bent
    top = min(best.values(), default=0)
    made.units = {key: unit - top for key, unit in best.items()}


def _middle(item: Item, wanted: list[int]) -> float:
    """A box stands between what it is joined with, a wire beside one of them."""
    return median(wanted) if item.boxed else median_low(wanted)


def _bent(made: Columns, joins: list[list[tuple[Key, int, Key, int]]]) -> float:
    """How far wires are from straight, and how high all is."""
    units = made.units
    far = sum(_weight(a, b) * abs(units[a] + p - units[b] - q) for some in joins for a, p, b, q in some)
    return far + max(units.values(), default=0) - min(units.values(), default=0)


def _weight(a: Key, b: Key) -> int:
    """A long wire is to be straight before a short one."""
    return 1 + 3 * ((a[0] == "via") + (b[0] == "via"))


def _placed(items: list[Item], wanted: list[float | None], units: Mapping[Key, int]) -> list[int]:
    """The units of items in their order, as near as may be to those wanted: blocks that touch are placed by the mean of
    what is wanted in them."""
    base, offset = 0, []
    for item, after in pairwise([*items, None]):
        offset.append(base)
        base += (item.units if item else 0) + bool(item and item.boxed and after and after.boxed)
    blocks: list[tuple[float, float, int]] = []  # the sum of what is wanted, its weight, how many
    for item, want, off in zip(items, wanted, offset, strict=True):
        weight = 0.05 if want is None else 1.0
        blocks.append((((units[item.key] if want is None else want) - off) * weight, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            (s, w, n), (t, v, m) = blocks.pop(), blocks.pop()
            blocks.append((s + t, w + v, n + m))
    starts = [round(s / w) for s, w, n in blocks for _ in range(n)]
    return [start + off for start, off in zip(starts, offset, strict=True)]
