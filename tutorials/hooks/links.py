"""The first mention of a public name on a page is a link to its entry in the reference."""

import html
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any


ENTRY = re.compile(r"^::: (\S+)$", re.MULTILINE)
# Code in a sentence; what comes first is left as it is.
CODE = re.compile(r"<(pre|a|h[1-6]|svg|summary)\b.*?</\1>|<code>(?P<code>[^<]+)</code>", re.DOTALL)
NAME = re.compile(r"([A-Za-z]\w*(?:\.\w+)*)(?:\(.*\))?", re.DOTALL)
MADE = re.compile(r"^ *(?:class|def|type) (\w+)|^ *(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)


def on_files(files: Any, /, *, config: Any) -> None:
    """Finds the entries, and the page of each."""
    reference = [file for file in files if file.src_uri.startswith("reference/")]
    config.extra["entries"] = {entry: file.url for file in reference for entry in ENTRY.findall(file.content_string)}


def on_page_content(content: str, /, *, page: Any, config: Any, **_: Any) -> str:
    if page.file.src_uri.startswith("reference/"):
        return content
    return linked(content, page.markdown, page.url, config.extra["entries"])


def linked(content: str, markdown: str, url: str, entries: Mapping[str, str]) -> str:
    """Each name is linked once, by its full name, by `cdl.NAME`, or bare.

    A bare name is linked where there is one entry of this name, it is a class or the page has its full name too, and
    the page's code makes nothing of this name.
    """
    short = by_last_part(entries)
    made = {name for pair in MADE.findall(markdown) for name in pair}
    seen: set[str] = set()

    def entry_of(name: str) -> str | None:
        if name in entries:
            return name
        package, _, last = name.rpartition(".")
        if package not in ("", "cdl") or last not in short:
            return None
        entry = short[last]
        said = package == "cdl" or last[0].isupper() or f"cdl.{last}" in markdown or entry in markdown
        return entry if said and not (package == "" and last in made) else None

    def replaced(found: re.Match[str]) -> str:
        named = NAME.fullmatch(html.unescape(found["code"])) if found["code"] else None
        entry = entry_of(named[1]) if named else None
        if entry is None or entry in seen:
            return found[0]
        seen.add(entry)
        target = posixpath.relpath(entries[entry], posixpath.dirname(url) or ".")
        return f'<a class="entry" href="{target}/#{entry}">{found[0]}</a>'

    return CODE.sub(replaced, content)


def by_last_part(entries: Iterable[str]) -> dict[str, str]:
    """The entry of a last part, where there is one alone."""
    found = defaultdict(list)
    for entry in entries:
        found[entry.rpartition(".")[2]].append(entry)
    return {last: same[0] for last, same in found.items() if len(same) == 1}
