"""Colours in a light and a dark scheme, and the few shapes that the pictures are made of. The ground is transparent."""

from dataclasses import dataclass
from html import escape


MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Ink:
    """The colours of a scheme: `tints` are fill, stroke and text, in turn for each constructor."""

    text: str
    faint: str
    panel: str
    tints: tuple[tuple[str, str, str], ...]

    def tint(self, k: int) -> tuple[str, str, str]:
        return self.tints[k % len(self.tints)]


LIGHT = Ink(
    "#22252e",
    "#656b7a",
    "#f4f5f8",
    (("#dcf2e6", "#2f8a5b", "#1d6b43"), ("#fde3ef", "#b8447b", "#96305f"), ("#e1e5fb", "#5563c1", "#3c49a3")),
)
DARK = Ink(
    "#e6e8ef",
    "#a3a9b8",
    "#272a35",
    (("#1d4632", "#55c48c", "#7fdcab"), ("#53233c", "#e07fae", "#f2a5c8"), ("#2c3470", "#8f9cf0", "#b3bcf7")),
)
SCHEMES = {"light": LIGHT, "dark": DARK}


def text(words: str, x: float, y: float, colour: str, *, size: float = 13, font: str = MONO, extra: str = "") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{colour}" font-family="{font}" font-size="{size:g}"{extra}>'
        f"{escape(words)}</text>"
    )


def box(x: float, y: float, width: float, height: float, fill: str, stroke: str, *, round: float = 6) -> str:
    """A rectangle with its middle at a point."""
    return (
        f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}" rx="{round:g}" '
        f'fill="{fill}" stroke="{stroke}" stroke-width="1.6"/>'
    )


def line(points: list[tuple[float, float]], colour: str, *, width: float = 1.6, arrow: bool = False) -> str:
    """Straight from point to point; an arrow has a head of its own colour at the end, which goes up."""
    way = " L".join(f"{x:g} {y:g}" for x, y in points)
    x, y = points[-1]
    head = f'<path d="M{x - 4:g} {y + 7:g} L{x:g} {y:g} L{x + 4:g} {y + 7:g} z" fill="{colour}"/>' if arrow else ""
    return f'<path d="M{way}" fill="none" stroke="{colour}" stroke-width="{width:g}" stroke-linecap="round"/>{head}'


def picture(width: float, height: float, title: str, parts: list[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img">',
            f"<title>{escape(title)}</title>",
            *parts,
            "</svg>\n",
        ]
    )
