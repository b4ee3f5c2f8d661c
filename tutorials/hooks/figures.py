"""Figures open large: one that stands alone in its paragraph links to its file."""

import re
from typing import Any


# A picture for one scheme, such as `hero-light.svg#only-light`, is no figure to open: it is seen as large as it is.
ALONE = re.compile(r'<p>(<img [^>]*?\bsrc="([^"#:]+)"[^>]*>)</p>')


def on_page_content(content: str, /, **_: Any) -> str:
    """The page with each figure inside a link to its file. A picture from elsewhere, or with others, is left alone."""
    return ALONE.sub(r'<p><a class="figure" href="\2">\1</a></p>', content)
