"""A function with several signatures shows the one that holds for all calls. That of each kind of call is folded away."""

import re
from typing import Any


SIGNATURE = r'<div class="[^"]*\bdoc-signature\b[^"]*">.*?</div>'
# The signatures of the kinds of call, and after them that of the function.
OVERLOADS = re.compile(rf'<div class="doc-overloads">((?:\s*{SIGNATURE})+)\s*</div>\s*({SIGNATURE})', re.DOTALL)


def on_page_content(content: str, /, **_: Any) -> str:
    """The page with the signatures of each kind of call below that of the function, in a block that opens."""
    return OVERLOADS.sub(folded, content)


def folded(found: re.Match[str]) -> str:
    """The signature of a function, and below it those of its calls."""
    each, whole = found.groups()
    kinds = len(re.findall(SIGNATURE, each, re.DOTALL))
    says = f"Types: {kinds} kinds of call" if kinds > 1 else "Types"
    return f'{whole}\n<details class="mkdocstrings-source"><summary>{says}</summary>{each}\n</details>'
