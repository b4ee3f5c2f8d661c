"""Figures open large: one that stands alone in its paragraph, or with its tall twin for phones, links to its file."""

import re
from typing import Any


# A picture for one scheme, such as `hero-light.svg#only-light`, is no figure to open: it is seen as large as it is.
FIGURE = r'<img [^>]*?\bsrc="([^"#:]+)"[^>]*>'
TALL = rf'(?=<img [^>]*?\bclass="tall"){FIGURE}'
ALONE = re.compile(rf"<p>({FIGURE}(?:\s*{TALL})?)</p>")


def on_page_content(content: str, /, **_: Any) -> str:
    """The page with each figure inside a link to its file. A picture from elsewhere, or with others, is left alone."""
    return ALONE.sub(lambda found: f"<p>{re.sub(FIGURE, linked, found[1])}</p>", content)


def linked(figure: re.Match[str]) -> str:
    """The figure inside a link to its file."""
    return f'<a class="figure" href="{figure[1]}">{figure[0]}</a>'
