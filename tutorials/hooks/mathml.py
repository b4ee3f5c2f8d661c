"""Mathematics of the pages as MathML, which browsers set themselves: no script, and nothing to fetch."""

import html
import re
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError


MARKED = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, /, *, page: Any, **_: Any) -> str:
    """What pymdownx.arithmatex marks, and nothing else.

    **Raises:** `PluginError` for a command of TeX that has no MathML here.
    """

    def rendered(found: re.Match[str]) -> str:
        tex = html.unescape(found[2])
        made = convert(tex, display="inline" if found[1] == "span" else "block")
        if "\\" in made:
            raise PluginError(f"{page.file.src_path}: `{tex}` holds a command that latex2mathml does not know.")
        return made

    return MARKED.sub(rendered, content)
