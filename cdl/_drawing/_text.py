"""A diagram in box-drawing characters.

Every cell that a line goes through knows the sides by which the line leaves it; the character is the one with these
strokes, so that lines that meet join.
"""

import itertools

from .diagram import BORDERED, Diagram, Frame, Node, Point, Wire


UP, RIGHT, DOWN, LEFT = 1, 2, 4, 8
STROKES = " │─└││┌├─┘─┴┐┤┬┼"  # the character for each set of sides
DOUBLE = str.maketrans("─│┌┐└┘├┤┬┴", "═║╔╗╚╝╟╢╤╧")
BAR = str.maketrans("│┐┘├┤┼", "┃┒┚┠┨╂")
ROUND = str.maketrans("┌┐└┘", "╭╮╰╯")
DASHED = str.maketrans("─│", "╌╎")
ARROWS = {UP: "▲", RIGHT: "▶", DOWN: "▼", LEFT: "◀"}


def text(diagram: Diagram) -> str:
    """The diagram as lines of text."""
    width, height = diagram.size
    sides = [[0] * width for _ in range(height)]
    over: dict[Point, str] = {}
    for frame in diagram.frames:
        _rectangle(sides, frame.x, frame.y, frame.width, frame.height)
    for node in diagram.nodes:
        if node.kind in BORDERED:
            _rectangle(sides, node.x, node.y, node.width, node.height)
    for wire in diagram.wires:
        _line(sides, over, wire, diagram)
    grid = [[STROKES[s] for s in row] for row in sides]
    for frame in diagram.frames:
        if frame.moore:
            _bar(grid, frame)
        _restyle(grid, frame, DASHED)
        _write(grid, f" {frame.name} " if frame.name else "", (frame.x + 2, frame.y))
    for node in diagram.nodes:
        if node.kind in ("state", "final"):
            _restyle(grid, node, ROUND if node.kind == "state" else DOUBLE)
        if node.kind == "moore":
            _bar(grid, node)
        for words, at in node.ends:
            _write(grid, words, at)
        top = node.y + (node.height - len(node.lines)) // 2
        for i, line in enumerate(node.lines):
            _write(grid, "●" if node.kind == "dot" else line, (node.x + (node.width - len(line)) // 2, top + i))
    for (x, y), arrow in over.items():
        grid[y][x] = arrow
    for wire in diagram.wires:
        _write(grid, wire.label, (wire.at[0] - len(wire.label) // 2, wire.at[1]))
    lines = ["".join(row).rstrip() for row in grid]
    return "\n".join([*lines, *([""] if diagram.notes else []), *diagram.notes])


def _rectangle(sides: list[list[int]], x: int, y: int, width: int, height: int) -> None:
    right, bottom = x + width - 1, y + height - 1
    _go(sides, [(x, y), (right, y), (right, bottom), (x, bottom), (x, y)])


def _line(sides: list[list[int]], over: dict[Point, str], wire: Wire, diagram: Diagram) -> None:
    """A wire; its last cell is the border of what it goes to, and the arrow stands before that."""
    points = list(wire.points)
    if wire.arrow:
        (x, y), (to_x, to_y) = points[-2:]
        way = (to_x > x) - (to_x < x), (to_y > y) - (to_y < y)
        points[-1] = to_x - way[0], to_y - way[1]
        over[points[-1]] = ARROWS[_side(way)]
    _go(sides, points)


def _go(sides: list[list[int]], points: list[Point]) -> None:
    for (x, y), (to_x, to_y) in itertools.pairwise(points):
        way = (to_x > x) - (to_x < x), (to_y > y) - (to_y < y)
        while (x, y) != (to_x, to_y):
            sides[y][x] |= _side(way)
            x, y = x + way[0], y + way[1]
            sides[y][x] |= _side((-way[0], -way[1]))


def _side(way: Point) -> int:
    return {(0, -1): UP, (1, 0): RIGHT, (0, 1): DOWN, (-1, 0): LEFT}[way]


def _bar(grid: list[list[str]], box: Node | Frame) -> None:
    """A thick stroke on the right, for what holds a state."""
    for y in range(box.y, box.y + box.height):
        grid[y][box.x + box.width - 1] = grid[y][box.x + box.width - 1].translate(BAR)


def _restyle(grid: list[list[str]], box: Node | Frame, style: dict[int, int]) -> None:
    """Another stroke for a border."""
    for y in range(box.y, box.y + box.height):
        for x in range(box.x, box.x + box.width):
            if x in (box.x, box.x + box.width - 1) or y in (box.y, box.y + box.height - 1):
                grid[y][x] = grid[y][x].translate(style)


def _write(grid: list[list[str]], words: str, at: Point) -> None:
    for i, letter in enumerate(words):
        grid[at[1]][at[0] + i] = letter
