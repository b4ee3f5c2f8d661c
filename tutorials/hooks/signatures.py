"""Signatures that can be read: of a function with several, the one of all calls is shown, and that of each kind of call
is folded away. A signature that is only the name, as the heading above it, is left out."""

import re
from typing import Any


SIGNATURE = re.compile(r'<div class="[^"]*\bdoc-signature\b[^"]*">.*?</div>', re.DOTALL)
# The signatures of the kinds of call, and after them that of the function.
OVERLOADS = re.compile(
    rf'<div class="doc-overloads">((?:\s*{SIGNATURE.pattern})+)\s*</div>\s*({SIGNATURE.pattern})', re.DOTALL
)


def on_page_content(content: str, /, **_: Any) -> str:
    """The page with the signatures of each kind of call below that of the function, in a block that opens."""
    return SIGNATURE.sub(said, OVERLOADS.sub(folded, content))


def folded(found: re.Match[str]) -> str:
    """The signature of a function, and below it those of its calls."""
    each, whole = found.groups()
    kinds = len(SIGNATURE.findall(each))
    says = f"Types: {kinds} kinds of call" if kinds > 1 else "Types"
    return f'{whole}\n<details class="mkdocstrings-source"><summary>{says}</summary>{each}\n</details>'


def said(found: re.Match[str]) -> str:
    """A signature, where it says more than a name."""
    return "" if re.sub(r"<[^>]*>", "", found[0]).strip().isidentifier() else found[0]
