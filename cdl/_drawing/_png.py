"""A diagram as a picture of matplotlib's: PNG, PDF, or whatever the file's ending asks for."""

import pathlib
from typing import Any

from ..errors import CdlError
from ._svg import (
    ACROSS,
    BACK,
    BAR,
    centre_of,
    DOWN,
    field,
    field_colour,
    INK,
    LINE,
    MARGIN,
    middle,
    outline,
    path,
    TINTS,
    WEIGHT,
)
from .diagram import BORDERED, Diagram


FONT = {"family": "DejaVu Sans Mono", "fontsize": 9.2}  # in points: 13 pixels are that, at 100 to the inch


def picture(diagram: Diagram, file: pathlib.Path) -> None:
    """Saves the diagram.

    **Raises:** `ImportError` where matplotlib is not installed; the extra `tutorials` has it. `CdlError` for an ending
    that matplotlib does not write.
    """
    try:
        from matplotlib.backend_bases import FigureCanvasBase
        from matplotlib.figure import Figure
        from matplotlib.patches import FancyBboxPatch
    except ImportError as error:
        raise ImportError(
            f"`{file.name}` is drawn by matplotlib, which is not installed: `pip install matplotlib`, or "
            "save as .svg, .mmd or .txt, which need nothing."
        ) from error
    if file.suffix[1:].lower() not in FigureCanvasBase.filetypes:
        ends = f"ends in `{file.suffix}`" if file.suffix else "has no ending"
        raise CdlError(
            f"`{file.name}` {ends}, and a diagram is saved as .svg, .mmd or .txt, or as a picture of "
            "matplotlib's, such as .png or .pdf: change the ending."
        )
    columns, rows = diagram.size
    notes = diagram.notes
    width = max([columns, *map(len, notes)]) * ACROSS + 2 * MARGIN
    height = (rows + len(notes) + bool(notes)) * DOWN + 2 * MARGIN
    figure = Figure(figsize=(width / 100, height / 100), dpi=200)
    axes: Any = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")

    def box(x: float, y: float, across: float, down: float, rounded: float, **style: Any) -> None:
        shape = f"round,pad=0,rounding_size={rounded}"
        axes.add_patch(FancyBboxPatch((x, y), across, down, boxstyle=shape, **style))

    def write(words: str, x: float, y: float, colour: str, **style: Any) -> None:
        axes.text(x, y, words.replace("$", r"\$"), color=colour, va="center", **{"ha": "center", **FONT, **style})

    for frame in diagram.frames:
        box(*outline(frame), 8, facecolor="none", edgecolor=LINE, linestyle="--", linewidth=0.8)
        x, y, across, down = outline(frame)
        if frame.moore:
            box(x + across - BAR, y, BAR, down, 2, facecolor=LINE, edgecolor="none")
        write(frame.name, x + 2 * ACROSS, y, LINE, ha="left", bbox={"facecolor": "white", "edgecolor": "none"})
    for wire in diagram.wires:
        points, colour = path(wire, diagram), BACK if wire.back else LINE
        axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.1, solid_joinstyle="round")
        if wire.arrow:
            axes.annotate("", points[-1], points[-2], arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 0})
        if wire.label:
            x, y = MARGIN + (wire.at[0] + 0.5) * ACROSS, MARGIN + (wire.at[1] + 0.5) * DOWN
            write(wire.label, x, y, LINE, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    for node in diagram.nodes:
        x, y = middle(node)
        if node.kind == "dot":
            axes.plot([x], [y], "o", color=LINE, markersize=5)
            continue
        fill, stroke = TINTS[node.tint % len(TINTS)]
        if node.kind == "cell":
            left, top, wide, high = field(node)
            box(left, top, wide, high, 0, facecolor=field_colour(node), edgecolor="white", linewidth=0.6)
        if node.kind in BORDERED:
            left, top, across, down = outline(node)
            for inset in (0.0, 3.5) if node.kind == "final" else (0.0,):
                size = left + inset, top + inset, across - 2 * inset, down - 2 * inset
                rounded = 4 if node.kind in ("box", "moore") else min(size[2:]) / 2
                box(*size, rounded, facecolor=fill, edgecolor=stroke, linewidth=1.1, zorder=3)
            if node.kind == "moore":
                box(left + across - BAR, top, BAR, down, 2, facecolor=stroke, edgecolor="none", zorder=3)
        for words, at in node.ends:
            write(words, *centre_of(words, at), LINE, zorder=4)
        first = y - (len(node.lines) - 1) / 2 * DOWN
        for i, line in enumerate(node.lines):
            write(line, x, first + i * DOWN, WEIGHT if node.kind == "parameter" else INK, zorder=4)
    for i, note in enumerate(notes):
        write(note, MARGIN, MARGIN + (rows + 1.5 + i) * DOWN, INK, ha="left")
    figure.savefig(file)
