"""The column of each box: as far to the right as the longest path of wires that leads there.

A wire that goes back is one against `sequence`, which few wires are.

Source: P. Eades, X. Lin, W. Smyth, *A fast and effective heuristic for the feedback arc set problem*, 1993.
"""

from collections.abc import Iterable, Mapping

from ._columns import Columns, Crossing, Item, Key
from ._order import order
from ._scene import Net, Pin, Scene
from ._straight import straighten


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
    order(made)
    straighten(made)
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
    first = sequence(after)
    place = {name: i for i, name in enumerate(first)}
    found = dict.fromkeys(scene.parts, 1)
    for name in first:
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
