"""The mark, which is a node over two; the logo, which is the mark beside the name; and the card of a link."""

from .example import Example
from .hero import network
from .ink import Ink, line, picture, SANS, text


def _mark(ink: Ink, *, ground: bool = False) -> list[str]:
    """Three nodes in a square of 32."""
    places = ((7.5, 24.0), (24.5, 24.0), (16.0, 8.0))
    root = places[2]
    # A tab of a browser may have any colour, so there a node is filled with its stroke.
    inks = [tint[1] if ground else tint[0] for tint in map(ink.tint, range(3))]
    wires = [line([root, place], ink.faint, width=2.4) for place in places[:2]]
    dots = [
        f'<circle cx="{x:g}" cy="{y:g}" r="6" fill="{fill}" stroke="{ink.tint(k)[1]}" stroke-width="2.2"/>'
        for k, ((x, y), fill) in enumerate(zip(places, inks, strict=True))
    ]
    return [*wires, *dots]


def mark(ink: Ink, *, ground: bool = False) -> str:
    """For the head of the site; with `ground`, for the tab of a browser."""
    return picture(32, 32, "cdl", _mark(ink, ground=ground))


def logo(ink: Ink) -> str:
    """The mark, and the letters c, d and l as strokes: no font has to be there."""
    strokes = "M57 13.4 A7 7 0 1 0 57 22.6 M77 18 A7 7 0 1 0 63 18 A7 7 0 1 0 77 18 M77 4 V25 M86 4 V25"
    letters = f'<path d="{strokes}" fill="none" stroke="{ink.text}" stroke-width="3.4" stroke-linecap="round"/>'
    return picture(92, 32, "cdl", [*_mark(ink), letters])


def card(shown: Example, ink: Ink) -> str:
    """1,200 by 630, as sites that show a card for a link ask for. It stands on a ground."""
    said = [
        text("Write the data type;", 70, 330, ink.text, size=52, font=SANS, extra=' font-weight="600"'),
        text("get the network.", 70, 396, ink.text, size=52, font=SANS, extra=' font-weight="600"'),
        text("Trees of any shape, batched and compiled, on JAX", 70, 470, ink.faint, size=25, font=SANS),
    ]
    inside = logo(ink).split("</title>\n")[1].removesuffix("</svg>\n")
    parts = [
        '<rect width="1200" height="630" fill="#ffffff"/>',
        f'<g transform="translate(66 110) scale(3.4)">{inside}</g>',
        *said,
        f'<g transform="translate(690 82) scale(1.95)">{"".join(network(shown, ink, 0, 0))}</g>',
    ]
    return picture(1200, 630, "cdl: write the data type; get the network", parts)
