"""What is true of every diagram that can be read."""

import itertools
from typing import Any


def cells(wire: Any) -> list[tuple[int, int]]:
    """The cells of a wire, from its first point to its last."""
    found = [wire.points[0]]
    for (x, y), (to_x, to_y) in itertools.pairwise(wire.points):
        assert (x == to_x) != (y == to_y), f"{wire} is not level or upright"
        while (x, y) != (to_x, to_y):
            x, y = x + (to_x > x) - (to_x < x), y + (to_y > y) - (to_y < y)
            found.append((x, y))
    return found


def inside(node: Any) -> set[tuple[int, int]]:
    return set(itertools.product(range(node.x, node.right + 1), range(node.y, node.bottom + 1)))


def well_drawn(diagram: Any) -> None:
    """Text fits its node, nodes do not overlap, and wires go from one node to another and through none."""
    columns, rows = diagram.size
    for node in diagram.nodes:
        border = 2 if node.kind in ("box", "moore", "state", "final") else 0
        assert max(map(len, node.lines)) <= node.width - border
        assert len(node.lines) <= node.height - border
        assert 0 <= node.x
        assert node.right < columns
        assert 0 <= node.y
        assert node.bottom < rows
    for a, b in itertools.combinations(diagram.nodes, 2):
        assert not inside(a) & inside(b), f"{a} and {b} overlap"
    ends = {n.key: n for n in (*diagram.nodes, *diagram.frames)}
    filled = {cell for node in diagram.nodes for cell in inside(node)}
    for wire in diagram.wires:
        source, target = ends[wire.source], ends[wire.target]
        path = cells(wire)
        assert touches(path[0], source)
        assert touches(path[-1], target)
        through = filled & set(path[1:-1])
        assert not through - end_of(source) - end_of(target), f"{wire} goes through {through}"

    for a, b in itertools.combinations(diagram.wires, 2):
        if a.source != b.source and a.target != b.target:
            shared = set(itertools.pairwise(cells(a))) & {
                pair for step in itertools.pairwise(cells(b)) for pair in (step, step[::-1])
            }
            assert not shared, f"{a} and {b} run along each other"


def end_of(node: Any) -> set[tuple[int, int]]:
    """A wire may begin in the middle of a port's text."""
    return inside(node) if getattr(node, "kind", "") in ("port", "parameter") else set()


def touches(cell: tuple[int, int], box: Any) -> bool:
    """Whether a cell is on the border of a node or frame."""
    across = box.x <= cell[0] <= box.x + box.width - 1
    down = box.y <= cell[1] <= box.y + box.height - 1
    edge = cell[0] in (box.x, box.x + box.width - 1) or cell[1] in (box.y, box.y + box.height - 1)
    return across and down and (edge or box.kind in ("port", "parameter"))


def crossings(diagram: Any) -> int:
    """How many cells two wires have in common that neither begins nor ends in, and that have not one source."""
    count = 0
    for a, b in itertools.combinations(diagram.wires, 2):
        if a.source != b.source and a.target != b.target:
            count += len(set(cells(a)[1:-1]) & set(cells(b)[1:-1]))
    return count
