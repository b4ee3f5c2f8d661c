"""From a data type to a network, in two rows of three boxes: the definition, and below it the same for arrays.

The tall one, for a phone, has two columns in the place of the rows.
"""

from .ink import box, Ink, picture, SANS, text


TITLE = "From a data type to a network"
# The definition, then the arrays: what a box is, and a word about it.
BOXES = [
    [
        ("signature", "Lit | Neg[X] | Add[X]"),
        ("algebra", "one cell a constructor"),
        ("cata, by definition", "one tree, plain Python"),
    ],
    [
        ("pack", "trees of many shapes"),
        ("forest", "arrays, in chunks"),
        ("fold, compiled", "all trees, jit and grad"),
    ],
]
WIDE, HIGH = 178, 68
MIDDLE = ' text-anchor="middle"'
# From box to box: across and down in a wide picture, from column to column and from row to row in a tall one.
ACROSS, DOWN = 287, 180
COLUMN, ROW = 250, 138
Places = list[list[tuple[float, float]]]  # the middles of the boxes


def stages(ink: Ink, *, tall: bool) -> str:
    """**Returns:** an SVG."""
    if tall:
        places = [[(WIDE / 2 + 2 + COLUMN * i, HIGH / 2 + 2 + ROW * k) for k in range(3)] for i in range(2)]
        width, height = COLUMN + WIDE + 4, 2 * ROW + HIGH + 4
    else:
        places = [[(WIDE / 2 + 2 + ACROSS * k, HIGH / 2 + 2 + DOWN * i) for k in range(3)] for i in range(2)]
        width, height = 2 * ACROSS + WIDE + 4, DOWN + HIGH + 4
    parts = [_head(ink), *(_down if tall else _across)(places, ink)]
    for row, at, colour in zip(BOXES, places, (2, 0), strict=True):
        fill, stroke, _ = ink.tint(colour)
        for (title, words), (x, y) in zip(row, at, strict=True):
            parts.append(box(x, y, WIDE, HIGH, fill, stroke, round=9))
            parts.append(text(title, x, y - 4, ink.text, size=15, font=SANS, extra=f'{MIDDLE} font-weight="600"'))
            parts.append(text(words, x, y + 18, ink.text, font=SANS, extra=MIDDLE))
    return picture(width, height, TITLE, parts)


def _across(places: Places, ink: Ink) -> list[str]:
    """The arrows between rows of boxes."""
    (signature, algebra, cata), (pack, _, fold) = places
    x, y = WIDE / 2, HIGH / 2
    bend = f"M{algebra[0] + 30:g} {algebra[1] + y:g} C{algebra[0] + 60:g} {algebra[1] + 100:g}"
    return [
        *(_arrow(f"M{a + x:g} {b:g} H{a + ACROSS - x - 4:g}", ink) for row in places for a, b in row[:2]),
        _arrow(f"M{signature[0]:g} {signature[1] + y:g} V{pack[1] - y - 4:g}", ink, dashed=True),
        _arrow(f"{bend} {fold[0] - 120:g} {algebra[1] + 100:g} {fold[0] - 60:g} {fold[1] - y - 4:g}", ink, dashed=True),
        _arrow(f"M{cata[0]:g} {cata[1] + y + 4:g} V{fold[1] - y - 4:g}", ink, both=True),
        _said("F(X)", signature[0] + ACROSS / 2, signature[1] - 10, ink),
        _said("F(A) → A", algebra[0] + ACROSS / 2, algebra[1] - 10, ink),
        _said("trees of it", signature[0] + 44, signature[1] + DOWN / 2 + 4, ink),
        _said("the same algebra", algebra[0] + 80, algebra[1] + 126, ink),
        _said("the same", cata[0] + 40, cata[1] + DOWN / 2 + 4, ink),
    ]


def _down(places: Places, ink: Ink) -> list[str]:
    """The arrows between columns of boxes."""
    (signature, algebra, cata), (pack, forest, fold) = places
    x, y = WIDE / 2, HIGH / 2
    side = f"M{algebra[0] + x - 20:g} {algebra[1] + y:g} L{fold[0] - x + 16:g} {fold[1] - y - 4:g}"
    return [
        *(_arrow(f"M{a:g} {b + y:g} V{b + ROW - y - 4:g}", ink) for column in places for a, b in column[:2]),
        _arrow(f"M{signature[0] + x:g} {signature[1]:g} H{pack[0] - x - 4:g}", ink, dashed=True),
        _arrow(side, ink, dashed=True),
        _arrow(f"M{cata[0] + x + 4:g} {cata[1]:g} H{fold[0] - x - 4:g}", ink, both=True),
        _said("F(X)", signature[0] - 24, signature[1] + ROW / 2 + 4, ink),
        _said("F(A) → A", algebra[0] - 38, algebra[1] + ROW / 2 + 4, ink),
        _said("trees of it", signature[0] + COLUMN / 2, signature[1] + y + 20, ink),
        _said("the same", forest[0] - 48, forest[1] + ROW / 2 - 8, ink),
        _said("algebra", forest[0] - 48, forest[1] + ROW / 2 + 8, ink),
        _said("the same", cata[0] + COLUMN / 2, cata[1] + y + 16, ink),
    ]


def _head(ink: Ink) -> str:
    """The tip of an arrow in any direction."""
    shape = 'viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse"'
    return f'<defs><marker id="tip" {shape}><path d="M0 0 L10 5 L0 10 z" fill="{ink.faint}"/></marker></defs>'


def _arrow(way: str, ink: Ink, *, dashed: bool = False, both: bool = False) -> str:
    more = ' stroke-dasharray="5 4"' if dashed else ""
    ends = ' marker-start="url(#tip)" marker-end="url(#tip)"' if both else ' marker-end="url(#tip)"'
    return f'<path d="{way}" fill="none" stroke="{ink.faint}" stroke-width="1.6"{more}{ends}/>'


def _said(words: str, x: float, y: float, ink: Ink) -> str:
    return text(words, x, y, ink.faint, font=SANS, extra=MIDDLE)
