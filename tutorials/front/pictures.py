"""Every picture by the name of its file in `tutorials/images`."""

from functools import cache

from .bars import bars, chart
from .example import example
from .frames import frames
from .hero import hero
from .ink import DARK, LIGHT, SCHEMES
from .logo import logo, mark
from .stages import stages


@cache
def pictures() -> dict[str, str]:
    """The SVGs by the names of their files."""
    shown = example()
    made = {
        "benchmarks.svg": chart(bars(), LIGHT),
        "frames.svg": frames(LIGHT, tall=False),
        "frames-tall.svg": frames(LIGHT, tall=True),
        "stages.svg": stages(LIGHT, tall=False),
        "stages-tall.svg": stages(LIGHT, tall=True),
        "favicon.svg": mark(LIGHT, ground=True),
        "mark.svg": mark(DARK),
    }
    for name, ink in SCHEMES.items():
        made[f"hero-{name}.svg"] = hero(shown, ink, tall=False)
        made[f"hero-tall-{name}.svg"] = hero(shown, ink, tall=True)
        made[f"logo-{name}.svg"] = logo(ink)
    return made
