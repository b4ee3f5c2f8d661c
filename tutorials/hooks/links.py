"""The first mention of a public name on a page, or in an entry of the reference, is a link to its entry."""

import ast
import html
import pathlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


ENTRY = re.compile(r"^::: (\S+)$", re.MULTILINE)
# Code in a sentence, and where a table begins and ends; what comes first is left as it is.
CODE = re.compile(
    r"<(pre|a|h[1-6]|svg|summary)\b.*?</\1>|<(?P<table>/?table)\b|<code>(?P<code>[^<]+)</code>", re.DOTALL
)
NAME = re.compile(r"([A-Za-z]\w*(?:\.\w+)*)(?:\(.*\))?", re.DOTALL)
MADE = re.compile(r"^ *(?:class|def|type) (\w+)|^ *(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)
IMPORT = re.compile(r"^ *from (cdl\w*(?:\.\w+)*) import (\([^)]*\)|[^(\n]*)", re.MULTILINE)
PART = re.compile(r'(?=<h\d id="cdl[\w.]*" class="doc)')  # where an entry of the reference begins
SIGNATURE = re.compile(r'<div class="[^"]*doc-signature.*?</div>', re.DOTALL)


def on_files(files: Any, /, *, config: Any) -> None:
    """Finds the entries, the page of each, and the names that `cdl` has itself."""
    reference = [file for file in files if file.src_uri.startswith("reference/")]
    found = {entry: file.url for file in reference for entry in ENTRY.findall(file.content_string)}
    config.extra["entries"] = {entry: url for entry, url in found.items() if "._" not in entry}  # those have no heading
    contents = pathlib.Path(config.config_file_path).parent / "cdl/__init__.py"
    config.extra["top"] = at_the_top(contents.read_text())


def on_page_content(content: str, /, *, page: Any, config: Any, **_: Any) -> str:
    known = config.extra["entries"], config.extra["top"]
    if page.file.src_uri.startswith("reference/"):
        return in_reference(content, page.markdown, page.url, *known)
    return linked(content, page.markdown, page.url, *known)


def at_the_top(contents: str) -> dict[str, str]:
    """From each name that the contents page `cdl/__init__.py` lists to the entry that it stands for."""
    rows = [row for row in ast.parse(contents).body if isinstance(row, ast.ImportFrom) and row.level and row.module]
    return {name.name: f"cdl.{row.module}.{name.name}" for row in rows for name in row.names}


def linked(content: str, markdown: str, url: str, entries: Mapping[str, str], top: Mapping[str, str]) -> str:
    """Each name is linked once, by its full name, by `cdl.NAME`, or bare.

    A bare name is linked where there is one entry that it can mean, and the page's code makes nothing of this name. A
    function must also be imported on the page, or written with its module, or stand in a table or on a page without
    code: elsewhere the word may mean something else.
    """
    made = {name for pair in MADE.findall(markdown) for name in pair}
    imports, meant = imported(markdown), by_last_part(entries, top, markdown)
    no_code = "```py" not in markdown

    def entry_of(name: str, in_table: bool) -> str | None:
        if name in imports:
            module = imports[name].rpartition(".")[0]  # which may have one entry for all of its names
            return _known(imports[name], entries, top) or _known(module, entries, top)
        if name in made or name not in meant:
            return None
        entry = meant[name]
        written = entry in markdown or (top.get(name) == entry and re.search(rf"\bcdl\.{name}\b", markdown))
        return entry if in_table or no_code or written or name[0].isupper() else None

    return _replaced(content, url, entries, top, entry_of)


def in_reference(content: str, markdown: str, url: str, entries: Mapping[str, str], top: Mapping[str, str]) -> str:
    """A page of the reference: each entry links each name once, but not its own, nor what its signature names."""
    meant = by_last_part(entries, top, markdown)

    def parts() -> Iterator[str]:
        for part in PART.split(content):
            own = re.match(r'<h\d id="([\w.]+)"', part)
            signatures = " ".join(html.unescape(re.sub("<[^>]+>", "", x)) for x in SIGNATURE.findall(part))
            explained = re.findall(r"<code>([a-z]\w*)</code>:", part)  # a dataclass shows no signature
            arguments = {*re.findall(r"\b[a-z]\w*", signatures), *explained}

            def entry_of(name: str, _: bool, arguments: set[str] = arguments) -> str | None:
                entry = None if name in arguments else meant.get(name)
                return entry if name[0].isupper() or entry in top.values() or f"{entry}\n" in markdown else None

            yield _replaced(part, url, entries, top, entry_of, own[1] if own else "")

    return "".join(parts())


def _replaced(
    content: str,
    url: str,
    entries: Mapping[str, str],
    top: Mapping[str, str],
    entry_of: Callable[[str, bool], str | None],
    own: str = "",
) -> str:
    """The first mention of each entry as a link; `entry_of` says what a name without a module means, in a table or not.

    What is inside the entry `own` links neither to it nor to a part of it.
    """
    seen, in_table = {own}, False

    def link(found: re.Match[str]) -> str:
        nonlocal in_table
        in_table = in_table if found["table"] is None else found["table"] == "table"
        named = NAME.fullmatch(html.unescape(found["code"])) if found["code"] else None
        if named is None:
            return found[0]
        name = named[1]
        entry = name if name in entries else _known(name, entries, top) if "." in name else entry_of(name, in_table)
        if entry is None or entry in seen or own.startswith(f"{entry}."):
            return found[0]
        seen.add(entry)
        target = posixpath.relpath(entries[entry], posixpath.dirname(url) or ".")
        return f'<a class="entry" href="{target}/#{entry}">{found[0]}</a>'

    return CODE.sub(link, content)


def _known(full: str, entries: Mapping[str, str], top: Mapping[str, str]) -> str | None:
    """The entry of a full name, which may be `cdl.NAME`."""
    entry = full if full in entries else top.get(full.removeprefix("cdl."))
    return entry if entry in entries else None


def imported(markdown: str) -> dict[str, str]:
    """From each name that the page's code imports from cdl to its full name."""
    return {
        name: f"{module}.{name}" for module, names in IMPORT.findall(markdown) for name in re.findall(r"\b\w+", names)
    }


def by_last_part(entries: Iterable[str], top: Mapping[str, str], markdown: str) -> dict[str, str]:
    """The entry that a name without its module means: what the page writes as `cdl.NAME` or by its full name, or what
    `cdl` has itself, or the only one, where a law of the same name is left out."""
    found = defaultdict(list)
    for entry in entries:
        found[entry.rpartition(".")[2]].append(entry)

    def one(name: str, same: list[str]) -> list[str]:
        at_top = [entry for entry in same if entry == top.get(name)]
        if at_top and re.search(rf"\bcdl\.{name}\b", markdown):
            return at_top
        written = [entry for entry in same if re.search(rf"{re.escape(entry)}\b", markdown)]
        return written or at_top or [entry for entry in same if not entry.startswith("cdl.laws.")] or same

    chosen = {name: one(name, same) for name, same in found.items()}
    return {name: same[0] for name, same in chosen.items() if len(same) == 1}
