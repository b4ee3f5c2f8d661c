"""Where the wires of a net go: level from an end to a track, upright in it, level to the next end or along a lane."""

from collections.abc import Mapping

from ._columns import Key
from ._layout import Layout
from ._leaf import Anchor
from ._nets import Route


def route_of(layout: Layout, net: int, pins: Mapping[tuple[Key, str, str], Anchor], origin: int, top: int) -> Route:
    """The route of a net of a scene that is laid out.

    **Arguments:** `pins`: where each end of an item is. `origin`, `top`: the first column of text, and the first row.
    """
    of = layout.scene.nets[net]
    made = Route()
    level: dict[tuple[int, int], list[int]] = {}  # the columns that are joined in a row: of a lane, or in one gap
    found = [(i, some[net]) for i, some in enumerate(layout.columns.between) if net in some]
    for i, crossing in found:
        gap = layout.gaps[i]
        here: dict[tuple[str, int], int] = {}  # the column of each end, by its side and row
        for side, ends in (("left", crossing.left), ("right", crossing.right)):
            for key, port in ends:
                out = "right" if side == "left" else "left"
                row = top + layout.row(key, port, out)
                if key[0] == "via":
                    x = origin + (layout.gaps[i - 1].end + 1 if side == "left" else gap.end + 1)
                else:
                    node, x, arrow = pins[key, out, port]
                    made.ends[x, row] = node, arrow and of.directed
                here[side, row] = x
        if crossing.begins:
            (_, row), x = next(iter(here.items()))
            made.root, made.text = (x, row), (origin + gap.begin + 1 + len(of.words) // 2, row)
        turns = [piece for piece in layout.pieces[i] if piece.net == net]
        for piece in turns:
            x = origin + gap.track + 2 * piece.track
            made.lines.append(((x, top + piece.low), (x, top + piece.high)))
            for side, rows in (("left", piece.left), ("right", piece.right)):
                for row in (top + row for row in rows):
                    if (side, row) in here:
                        made.lines.append(((here[side, row], row), (x, row)))
                    else:
                        level.setdefault((i if (row - top) % 2 else -1, row), []).append(x)
        if not turns:
            (begin, end), row = here.values(), next(iter(here))[1]
            made.lines.append(((begin, row), (end, row)))
        if of.junction:  # a junction has a dot, also where nothing forks
            ((x, row),) = ((x, row) for (side, row), x in here.items() if side == "right")
            tracks = [origin + gap.track + 2 * piece.track for piece in turns]
            made.dots.append((max(tracks, default=origin + gap.end - 1), row))
    made.lines += [((min(xs), row), (max(xs), row)) for (_, row), xs in level.items()]
    return made
