"""The speed of `fold` against PyTorch as bars, from the first table of the page of benchmarks."""

import pathlib
import re
import statistics
from typing import NamedTuple

from .ink import Ink, line, picture, SANS, text


PAGE = pathlib.Path(__file__).parents[1] / "benchmarks.md"
ROW = re.compile(
    r"^\| (?P<problem>[^|]+) \| (?P<width>\d+) \| [^|]+ \| (?P<kind>forward(?: \+ backward)?) \|.*"
    r"\*\*(?P<ratio>[\d.]+) ×\*\* \|$",
    re.MULTILINE,
)
LEFT, SCALE, HIGH = 250, 190, 15  # where 0 is, pixels for a ratio of 1, the height of a bar


class Bar(NamedTuple):
    """A row of the picture: PyTorch's time over that of `fold`, forward and with the gradient."""

    name: str
    forward: float
    both: float


def bars(page: str = "") -> list[Bar]:
    """One row for each problem and width: the mean of its measurements, in the order of the table."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in ROW.finditer(page or PAGE.read_text()):
        kinds = found.setdefault(f"{row['problem']}, {row['width']}", {"forward": [], "forward + backward": []})
        kinds[row["kind"]].append(float(row["ratio"]))
    return [Bar(name, *map(statistics.mean, kinds.values())) for name, kinds in found.items()]


def chart(rows: list[Bar], ink: Ink) -> str:
    """The picture: two bars for each row, and a line where `fold` takes the same time as PyTorch."""
    step, top = 2 * HIGH + 14, 46
    bottom = top + step * len(rows)
    parts = []
    for i, colour in enumerate((ink.tints[0], ink.tints[2])):
        name = ("forward", "forward + backward")[i]
        x = LEFT + 130 * i
        parts.append(f'<rect x="{x}" y="8" width="14" height="14" fill="{colour[0]}" stroke="{colour[1]}"/>')
        parts.append(text(name, x + 20, 20, ink.text, font=SANS))
    for k, row in enumerate(rows):
        y = top + k * step
        parts.append(text(row.name, LEFT - 12, y + HIGH + 4, ink.text, font=SANS, extra=' text-anchor="end"'))
        for i, value in enumerate((row.forward, row.both)):
            fill, stroke, _ = (ink.tints[0], ink.tints[2])[i]
            at = f'x="{LEFT}" y="{y + i * HIGH}" width="{SCALE * value:.1f}" height="{HIGH - 1}"'
            parts.append(f'<rect {at} fill="{fill}" stroke="{stroke}"/>')
            parts.append(
                text(f"{value:.2f}", _beside(LEFT + SCALE * value), y + i * HIGH + 12, ink.text, size=11, font=SANS)
            )
    parts.append(line([(LEFT + SCALE, top - 8), (LEFT + SCALE, bottom)], ink.faint))
    words = "1.0: as fast as PyTorch"
    parts.append(text(words, LEFT + SCALE, bottom + 16, ink.faint, font=SANS, extra=' text-anchor="middle"'))
    width = LEFT + SCALE * max(max(row.forward, row.both) for row in rows) + 60
    return picture(width, bottom + 28, "The speed of fold against PyTorch by levels", parts)


def _beside(end: float) -> float:
    """Where the number of a bar begins that ends here: past the line, if that would go through it."""
    return LEFT + SCALE + 6 if end < LEFT + SCALE < end + 32 else end + 6
