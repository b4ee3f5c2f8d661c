"""The hero: a tree, the data type that it is a value of, and the network over it, each constructor in one colour.

The wide one has the three side by side; the tall one, for a phone, has the data type below the other two.
"""

import re

from .example import Example, Node
from .ink import box, Ink, line, MONO, picture, SANS, text


TITLE = "A tree, its data type, and the network over it"
ROW, GAP = 76.0, 74.0  # from level to level, from leaf to leaf
CODE = 19.0  # from line to line
CHARACTER = 7.83  # the width of one, at the size of the code
MIDDLE = ' text-anchor="middle"'


def hero(shown: Example, ink: Ink, *, tall: bool) -> str:
    """**Returns:** an SVG."""
    leaves = sum(not node.children for node in shown.tree.below())
    wide = leaves * GAP
    code_wide = max(map(len, shown.signature)) * CHARACTER + 28
    code_high = len(shown.signature) * CODE + 22
    rows = (shown.tree.up + 1) * ROW
    if tall:
        width, height = max(2 * wide, code_wide), rows + 102 + code_high + 30
        at_tree, at_net = (width / 2 - wide) / 2, (width / 2 - wide) / 2 + width / 2
        at_code, code_top = (width - code_wide) / 2, rows + 102
    else:
        width, height = 2 * wide + code_wide + 32, rows + 92
        at_tree, at_code, at_net = 0.0, wide + 16, wide + code_wide + 32
        code_top = 64 + (rows - code_high) / 2
    said = text("one colour, one set of weights", width / 2, height - 8, ink.faint, size=13, font=SANS, extra=MIDDLE)
    parts = [
        _heading("a value", at_tree + wide / 2, 16, ink),
        *_tree(shown, ink, at_tree, 50),
        _heading("its data type", at_code + code_wide / 2, code_top - 14 if tall else 16, ink),
        *_code(shown, ink, at_code, code_top, code_wide, code_high),
        _heading("its network", at_net + wide / 2, 16, ink),
        *network(shown, ink, at_net, 50),
        said,
    ]
    return picture(width, height, TITLE, parts)


def _heading(words: str, x: float, y: float, ink: Ink) -> str:
    return text(words, x, y, ink.text, size=15, font=SANS, extra=f'{MIDDLE} font-weight="600"')


def _place(node: Node, top: int, x: float, y: float) -> tuple[float, float]:
    return x + (node.across + 0.5) * GAP, y + (top - node.up + 0.5) * ROW


def _tree(shown: Example, ink: Ink, x: float, y: float) -> list[str]:
    """The root on top, the names of constructors in the nodes, numbers below the leaves."""
    wires, nodes, top = [], [], shown.tree.up
    for node in shown.tree.below():
        at = _place(node, top, x, y)
        wires += [line([at, _place(child, top, x, y)], ink.faint) for child in node.children]
        fill, stroke, dark = ink.tint(shown.constructors.index(node.constructor))
        nodes.append(box(*at, 50, 34, fill, stroke, round=17))
        nodes.append(text(node.constructor, at[0], at[1] + 4.5, dark, extra=MIDDLE))
        if node.value:
            nodes.append(text(node.value, at[0], at[1] + 34, ink.text, extra=MIDDLE))
    return wires + nodes


def network(shown: Example, ink: Ink, x: float, y: float) -> list[str]:
    """A cell for each node, at the node's place: numbers go in at the leaves, and a state comes out on top."""
    wires, cells, top = [], [], shown.tree.up
    for node in shown.tree.below():
        across, down = _place(node, top, x, y)
        for k, child in enumerate(node.children):
            from_x, from_y = _place(child, top, x, y)
            into = across + (k + 1 - (len(node.children) + 1) / 2) * 24
            bend = (from_y + down) / 2
            way = [(from_x, from_y - 17), (from_x, bend), (into, bend), (into, down + 17)]
            wires.append(line(way, ink.faint, arrow=True))
        fill, stroke, dark = ink.tint(shown.constructors.index(node.constructor))
        cells.append(box(across, down, 68, 34, fill, stroke))
        cells.append(text(node.cell, across, down + 4.5, dark, extra=MIDDLE))
        if node.value:
            wires.append(line([(across, down + 36), (across, down + 17)], ink.faint, arrow=True))
            cells.append(text(node.value, across, down + 49, ink.text, extra=MIDDLE))
    across, down = _place(shown.tree, top, x, y)
    wires.append(line([(across, down - 17), (across, down - 40)], ink.faint, arrow=True))
    state = text(f"state {shown.state}", across + 10, down - 30, ink.faint, size=12)
    return [*wires, *cells, state]


def _code(shown: Example, ink: Ink, x: float, y: float, width: float, height: float) -> list[str]:
    """The lines of the data type, in which a constructor has its colour."""
    colours = {name: ink.tint(k)[2] for k, name in enumerate(shown.constructors)}
    parts = [
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" fill="{ink.panel}"/>',
    ]
    for k, written in enumerate(shown.signature):
        words = "".join(
            f'<tspan fill="{colours[word]}" font-weight="700">{word}</tspan>' if word in colours else word
            for word in re.split(r"(\w+)", written)
        )
        place = f'x="{x + 14:g}" y="{y + 25 + k * CODE:g}"'
        # The length is set, so that another font than the one it was measured in does not leave the box.
        length = f'textLength="{len(written) * CHARACTER:g}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"'
        parts.append(f'<text {place} fill="{ink.text}" font-family="{MONO}" font-size="13" {length}>{words}</text>')
    return parts
