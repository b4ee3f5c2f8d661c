"""How `fold` runs, in four frames: trees, rows in order of height, chunks of one constructor, and values.

The wide picture has the frames in a row; the tall one, for a phone, two in a row.
"""

from .ink import box, Ink, line, picture, SANS, text


# The trees 1 + 2 · 3 and 4 · 5: for each node its constructor, its words, its value, and its children.
NODES = [
    ("Lit", "1", 1, ()),
    ("Lit", "2", 2, ()),
    ("Lit", "3", 3, ()),
    ("Lit", "4", 4, ()),
    ("Lit", "5", 5, ()),
    ("Mul", "·", 6, (1, 2)),
    ("Mul", "·", 20, (3, 4)),
    ("Add", "+", 7, (0, 5)),
]
COLOURS = {"Lit": 0, "Add": 1, "Mul": 2}
IN_TREES = [(20, 120), (52, 170), (92, 170), (132, 120), (172, 120), (72, 120), (152, 70), (46, 70)]
IN_ROWS = [*((20 + 38 * i, 170) for i in range(5)), (20, 120), (58, 120), (20, 70)]
CHUNKS = [("5 × Lit", 0, 5), ("2 × Mul", 5, 2), ("1 × Add", 7, 1)]
FRAMES = ["1. trees", "2. rows, by height", "3. chunks", "4. values, upwards"]
WIDTH, HIGH, SIDE = 232, 230, 26


def frames(ink: Ink, *, tall: bool) -> str:
    """**Returns:** an SVG."""
    parts = []
    columns = 2 if tall else 4
    for k, title in enumerate(FRAMES):
        left, top = k % columns * WIDTH + 12, k // columns * HIGH
        places = [(x + left, y + top) for x, y in (IN_TREES if k == 0 else IN_ROWS)]
        parts.append(text(title, left, top + 28, ink.text, size=14, font=SANS))
        if k < 2:
            edges = [(i, child) for i, (_, _, _, children) in enumerate(NODES) for child in children]
            parts += [line([places[child], places[i]], ink.faint, width=1.2) for i, child in edges]
        if k >= 2:
            for words, first, many in CHUNKS:
                x, y = places[first]
                wide = 38 * (many - 1) + SIDE + 12
                middle = x - SIDE / 2 - 6 + wide / 2
                parts.append(box(middle, y, wide, SIDE + 12, ink.panel, ink.faint))
                if k == 2 and many < 5:
                    parts.append(text(words, x - SIDE / 2 + wide + 2, y + 4, ink.faint, size=12, font=SANS))
            if k == 2:
                parts.append(text("5 × Lit", places[0][0] - 12, top + 206, ink.faint, size=12, font=SANS))
        for (kind, words, value, _), (x, y) in zip(NODES, places, strict=True):
            fill, stroke, dark = ink.tint(COLOURS[kind])
            shown = str(value) if k == 3 else words
            parts.append(box(x, y, SIDE, SIDE, fill, stroke))
            parts.append(text(shown, x, y + 4.5, dark, size=12, extra=' text-anchor="middle"'))
    return picture(WIDTH * columns, HIGH * 4 // columns, "How fold runs: trees, rows by height, chunks, values", parts)
