"""A net as wires: its level and upright pieces are a tree, which forks at dots, and has an end at each port."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from ..._drawing.diagram import Canvas, Point


Line = tuple[Point, Point]  # level or upright
Place = tuple[str, bool]  # a node's key, and whether an arrow ends there


@dataclass
class Route:
    """Where a net goes: its pieces, which join where an end of one is on another, the end to begin at, what stands at
    each end, where there is a dot whether it forks or not, and the middle of its text."""

    lines: list[Line] = field(default_factory=list)
    root: Point = (0, 0)
    ends: dict[Point, Place] = field(default_factory=dict)
    dots: list[Point] = field(default_factory=list)
    text: Point = (0, 0)


def draw_net(canvas: Canvas, route: Route, words: str) -> None:
    """Draws the wires of a net, away from its root, with a dot wherever it forks."""
    beside = _graph([*route.lines, *((x, x) for x in route.dots)])
    keys = {point: key for point, (key, _) in route.ends.items()}
    for point in sorted(x for x, near in beside.items() if len(near) > 2 or x in route.dots):
        if point not in keys:
            keys[point] = canvas.node(" ", "dot", *point).key
    for path in _paths(beside, route.root, keys):
        arrow = route.ends.get(path[-1], ("", False))[1]
        label = words if path[0] == route.root else ""
        canvas.wire(keys[path[0]], keys[path[-1]], path, arrow=arrow, label=label, at=route.text if label else (0, 0))


def _graph(lines: list[Line]) -> dict[Point, list[Point]]:
    """For each corner or end, those next to it."""
    corners = {point for line in lines for point in line}
    beside: dict[Point, set[Point]] = {}
    for begin, end in lines:
        low, high = sorted((begin, end))
        on = sorted(x for x in corners if low[0] <= x[0] <= high[0] and low[1] <= x[1] <= high[1])
        for a, b in pairwise(on):
            beside.setdefault(a, set()).add(b)
            beside.setdefault(b, set()).add(a)
    return {point: sorted(near) for point, near in beside.items()}


def _paths(beside: Mapping[Point, list[Point]], root: Point, keys: Mapping[Point, str]) -> Iterator[list[Point]]:
    """The stretches between one node and the next, away from the root."""
    open_ = [(root, near) for near in beside[root]]
    while open_:
        begin, point = open_.pop(0)
        path = [begin, point]
        while point not in keys:
            (point,) = (x for x in beside[point] if x != path[-2])
            path.append(point)
        yield path
        open_ += [(point, near) for near in beside[point] if near != path[-2]]
