"""A diagram as an SVG, written as a string: lines between the centres of cells, with round corners."""

import colorsys
from html import escape

from .diagram import BORDERED, Diagram, Frame, Node, Point, Wire


ACROSS, DOWN = 8.5, 16.0  # the size of a cell
MARGIN = 14.0
RADIUS = 6.0
BAR = 4.0  # of a box that holds a state
INK, LINE, BACK, WEIGHT = "#22252e", "#7a7f8c", "#b0487a", "#a8500f"
TINTS = (("#eef0fb", "#5563c1"), ("#e9f6ef", "#2f8a5b"), ("#fdf1e3", "#c07a26"), ("#fbeaf1", "#b8447b"),
         ("#e6f5f8", "#2b8299"), ("#f3edfb", "#7d4fb3"), ("#f4f4e2", "#86862a"), ("#fbecec", "#b94a4a"))  # fmt: skip
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
TIP = """\
<marker id="{}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">\
<path d="M0 0 L10 5 L0 10 z" fill="{}"/></marker>"""


def svg(diagram: Diagram) -> str:
    """The diagram as a complete SVG file."""
    columns, rows = diagram.size
    columns = max([columns, *map(len, diagram.notes)])
    width = columns * ACROSS + 2 * MARGIN
    height = (rows + len(diagram.notes) + bool(diagram.notes)) * DOWN + 2 * MARGIN
    back = TIP.format("back", BACK) if any(wire.back for wire in diagram.wires) else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="{FONT}" font-size="13" text-anchor="middle" role="img">',
        f"<defs>{TIP.format('tip', LINE)}{back}</defs>",
        f'<rect width="{width:g}" height="{height:g}" rx="10" fill="#ffffff"/>',
        *map(_frame, diagram.frames),
        *(_wire(w, diagram) for w in diagram.wires),
        *map(_node, diagram.nodes),
        *(_text(w.label, *_centre(w.at), LINE, halo=True) for w in diagram.wires if w.label),
    ]
    for i, note in enumerate(diagram.notes):
        y = MARGIN + (rows + 1 + i + 0.5) * DOWN
        parts.append(_text(note, MARGIN, y, INK, extra=' text-anchor="start" xml:space="preserve"'))
    return "\n".join([*parts, "</svg>\n"])


def outline(box: Node | Frame) -> tuple[float, float, float, float]:
    """The rectangle through the centres of a box's outermost cells: its corner, its width and its height."""
    x, y = _centre((box.x, box.y))
    return x, y, (box.width - 1) * ACROSS, (box.height - 1) * DOWN


def middle(node: Node) -> tuple[float, float]:
    """The point in the middle of a node's cells."""
    return MARGIN + (node.x + node.width / 2) * ACROSS, MARGIN + (node.y + node.height / 2) * DOWN


def field(node: Node) -> tuple[float, float, float, float]:
    """The rectangle of all of a node's cells: its corner, its width and its height."""
    return MARGIN + node.x * ACROSS, MARGIN + node.y * DOWN, node.width * ACROSS, node.height * DOWN


def field_colour(node: Node) -> str:
    """The colour of an entry of a matrix: as many as there are tints, and pale for none."""
    if not node.tint:
        return "#f7f7f9"
    rgb = colorsys.hls_to_rgb(0.61 + node.tint * 0.618034 % 1, 0.8, 0.62)
    return "#" + "".join(f"{round(255 * x):02x}" for x in rgb)


def path(wire: Wire, diagram: Diagram) -> list[tuple[float, float]]:
    """A wire's corners. It ends at the outlines of boxes, and short of the text of ports."""
    kinds = {n.key: n.kind for n in diagram.nodes}
    points = list(map(_centre, wire.points))
    for end, beside, key in ((0, 1, wire.source), (-1, -2, wire.target)):
        if kinds.get(key) in ("port", "parameter"):
            (x, y), (to_x, to_y) = points[end], points[beside]
            step = ACROSS if to_y == y else 0.5 * DOWN
            length = abs(to_x - x) + abs(to_y - y)
            points[end] = x + (to_x - x) * step / length, y + (to_y - y) * step / length
    return points


def _centre(cell: Point) -> tuple[float, float]:
    return MARGIN + (cell[0] + 0.5) * ACROSS, MARGIN + (cell[1] + 0.5) * DOWN


def centre_of(words: str, at: Point) -> tuple[float, float]:
    """The middle of a text that begins in a cell."""
    return MARGIN + (at[0] + len(words) / 2) * ACROSS, MARGIN + (at[1] + 0.5) * DOWN


def _frame(frame: Frame) -> str:
    x, y, width, height = outline(frame)
    box = (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" fill="#7a7f8c" fill-opacity="0.05" '
        f'stroke="{LINE}" stroke-dasharray="4 4"/>'
    )
    if frame.moore:
        box += _bar(x + width, y, height, LINE)
    middle = x + (2 + (len(frame.name) + 2) / 2) * ACROSS
    return box + _text(frame.name, middle - 0.5 * ACROSS, y, LINE, halo=True)


def _bar(right: float, y: float, height: float, colour: str) -> str:
    """The bar on the right of what holds a state."""
    return f'<rect x="{right - BAR:g}" y="{y:g}" width="{BAR:g}" height="{height:g}" rx="2" fill="{colour}"/>'


def _wire(wire: Wire, diagram: Diagram) -> str:
    points = path(wire, diagram)
    words = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for (ax, ay), (bx, by), (cx, cy) in zip(points, points[1:], points[2:], strict=False):
        before = min(RADIUS, (abs(bx - ax) + abs(by - ay)) / 2)
        after = min(RADIUS, (abs(cx - bx) + abs(cy - by)) / 2)
        px, py = bx - _sign(bx - ax) * before, by - _sign(by - ay) * before
        qx, qy = bx + _sign(cx - bx) * after, by + _sign(cy - by) * after
        words.append(f"L{px:g} {py:g} Q{bx:g} {by:g} {qx:g} {qy:g}")
    words.append(f"L{points[-1][0]:g} {points[-1][1]:g}")
    colour, marker = (BACK, "back") if wire.back else (LINE, "tip")
    tip = f' marker-end="url(#{marker})"' if wire.arrow else ""
    return f'<path d="{" ".join(words)}" fill="none" stroke="{colour}" stroke-width="1.5"{tip}/>'


def _node(node: Node) -> str:
    x, y, width, height = outline(node)
    across, down = middle(node)
    if node.kind == "dot":
        return f'<circle cx="{across:g}" cy="{down:g}" r="3.5" fill="{LINE}"/>'
    fill, stroke = TINTS[node.tint % len(TINTS)]
    parts = []
    if node.kind == "cell":
        left, top, wide, high = field(node)
        parts.append(
            f'<rect x="{left:g}" y="{top:g}" width="{wide:g}" height="{high:g}" fill="{field_colour(node)}" '
            'stroke="#ffffff"/>'
        )
    if node.kind in BORDERED:
        rounded = 4 if node.kind in ("box", "moore") else min(width, height) / 2
        for inset in (0.0, 3.5) if node.kind == "final" else (0.0,):
            parts.append(
                f'<rect x="{x + inset:g}" y="{y + inset:g}" width="{width - 2 * inset:g}" '
                f'height="{height - 2 * inset:g}" rx="{max(rounded - inset, 0):g}" fill="{fill}" stroke="{stroke}" '
                'stroke-width="1.5"/>'
            )
    if node.kind == "moore":
        parts.append(_bar(x + width, y, height, stroke))
    parts += [_text(words, *centre_of(words, at), LINE) for words, at in node.ends]
    colour = WEIGHT if node.kind == "parameter" else INK
    first = down - (len(node.lines) - 1) / 2 * DOWN
    parts += [_text(line, across, first + i * DOWN, colour) for i, line in enumerate(node.lines)]
    return "".join(parts)


def _text(words: str, x: float, y: float, colour: str, *, halo: bool = False, extra: str = "") -> str:
    around = ' stroke="#ffffff" stroke-width="5" paint-order="stroke"' if halo else ""
    return f'<text x="{x:g}" y="{y + 4.5:g}" fill="{colour}"{around}{extra}>{escape(words)}</text>'


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)
