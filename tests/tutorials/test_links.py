"""Names in the sentences of a page lead to the reference."""

import ast
import functools
import pathlib
import re
import textwrap

import pytest

from hooks import links


ROOT = pathlib.Path(__file__).parents[2]
TOP = links.at_the_top((ROOT / "cdl/__init__.py").read_text())
ENTRIES = {
    "cdl.compiled.fold": "reference/compiled/",
    "cdl.errors.SignatureError": "reference/errors/",
    "cdl.io.load": "reference/io/",
    "cdl.laws.run": "reference/laws/",
    "cdl.machines.run": "reference/machines/",
    "cdl.schemes.para": "reference/schemes/",
    "cdl.schemes.hylo": "reference/schemes/",
    "cdl.laws.para": "reference/laws/",
    "cdl.symmetry.Equivariant": "reference/symmetry/",
    "cdl.symmetry": "reference/symmetry/",
}
FOLD = '<a class="entry" href="../reference/compiled/#cdl.compiled.fold"><code>{}</code></a>'


def linked(content, page="```python\n```", url="trees/"):
    return links.linked(content, page, url, ENTRIES, TOP)


@pytest.mark.parametrize("said", ["cdl.compiled.fold", "cdl.fold", "cdl.fold(net, forest)"])
def test_a_full_name_is_linked(said):
    assert linked(f"<code>{said}</code>") == FOLD.format(said)


def test_only_the_first_mention_is_linked():
    once = linked("<code>cdl.fold</code> <code>cdl.compiled.fold</code>")
    assert once == FOLD.format("cdl.fold") + " <code>cdl.compiled.fold</code>"


def test_linked_links_a_bare_function_of_a_known_module():
    page = "```python\n{}\n```"
    assert linked("<code>fold</code>", page.format("y = net(forest)")) == "<code>fold</code>"
    assert linked("<code>fold</code>", page.format("y = cdl.fold(net, forest)")) == FOLD.format("fold")


@pytest.mark.parametrize("made", ["class Equivariant:", "Equivariant = 3", "    Equivariant: int = 3"])
def test_what_the_page_makes_itself_is_not_linked(made):
    assert "href" in linked("<code>Equivariant</code>")
    assert linked("<code>Equivariant</code>", made) == "<code>Equivariant</code>"


@pytest.mark.parametrize(
    "taken",
    [
        "from cdl.io import load, save",
        "from cdl.io import (\n    save,\n    load,\n)",
        "import cdl.io.load",
    ],
)
def test_a_bare_function_is_linked_where_the_page_imports_it(taken):
    assert linked("<code>load</code>") == "<code>load</code>"
    assert 'href="../reference/io/#cdl.io.load"' in linked("<code>load</code>", f"```python\n{taken}\n```")
    assert linked("<code>load</code>", "```python\nfrom json import load\n```") == "<code>load</code>"


def test_linked_gives_what_is_imported_its_module_s_entry():
    page = "```python\nfrom cdl.symmetry import orbit\n```"
    assert "#cdl.symmetry" in linked("<code>orbit</code>", page)


@pytest.mark.parametrize("where", ["<table><td>{}</td></table>", "<table></table><table>{}</table>"])
def test_a_bare_function_is_linked_in_a_table(where):
    assert "#cdl.compiled.fold" in linked(where.format("<code>fold(alg, forest)</code>"))
    assert "href" not in linked("<table></table><code>fold</code>")


def test_a_bare_function_is_linked_on_a_page_without_code():
    assert "#cdl.compiled.fold" in linked("<code>fold</code>", "All words.")


def test_a_name_that_a_law_has_too_means_the_function():
    assert "#cdl.machines.run" in linked("<code>run</code>", "All words.")
    assert "#cdl.schemes.para" in linked("<code>para</code>", "All words.")
    assert "#cdl.laws.para" in linked("<code>cdl.laws.para</code>")
    assert linked("<code>cdl.para</code>") == "<code>cdl.para</code>"  # the module: nothing in `cdl` is called so


def test_a_module_is_linked_from_the_front_page_too():
    assert 'href="reference/symmetry/#cdl.symmetry"' in linked("<code>cdl.symmetry</code>", url="")


@pytest.mark.parametrize(
    "left",
    [
        "<pre><code>cdl.fold</code></pre>",
        '<a href="x"><code>cdl.fold</code></a>',
        "<h2><code>cdl.fold</code></h2>",
        "<code>fold in words</code>",
        "<code>lax.fold</code>",
    ],
)
def test_other_code_is_left_as_it_is(left):
    assert linked(left) == left


FOLD_ENTRY = (
    '<h3 id="cdl.compiled.fold" class="doc"></h3><div class="language-python doc-signature highlight"><pre><code>'
    "fold(alg, <span>load</span>)</code></pre></div><p>{}</p>"
    '<h3 id="cdl.compiled.pack" class="doc"></h3><p>{}</p>'
)


@pytest.mark.parametrize("name", ["SignatureError", "cdl.hylo", "hylo"])
def test_an_entry_links_to_the_other_names_each_once(name):
    said = f"<code>{name}</code>"
    page = links.in_reference(FOLD_ENTRY.format(said + said, said), "", "reference/compiled/", ENTRIES, TOP)
    assert [len(re.findall("href", part)) for part in page.split("pack")] == [1, 1]


@pytest.mark.parametrize("name", ["fold", "cdl.fold", "load", "alg"])
def test_an_entry_links_neither_to_itself_nor_from_its_arguments(name):
    page = links.in_reference(
        FOLD_ENTRY.format(f"<code>{name}</code>", ""),
        "::: cdl.io.load\n",
        "reference/compiled/",
        ENTRIES,
        TOP,
    )
    assert "href" not in page


def test_in_reference_does_not_link_an_argument():
    said = FOLD_ENTRY.format("<code>hylo</code>: how many steps.", "<code>hylo</code>")
    page = links.in_reference(said, "", "reference/compiled/", ENTRIES, TOP)
    assert ["href" in part for part in page.split("pack")] == [False, True]


@functools.cache
def entries():
    pages = (ROOT / "tutorials/reference").glob("*.md")
    return {e: f"reference/{page.stem}/" for page in pages for e in links.ENTRY.findall(page.read_text())}


PAGES = sorted((ROOT / "tutorials").glob("*.md"))
FENCE = re.compile(r"^ *```python\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_linked_links_every_name_that_a_page_takes_from_cdl(path):
    """`cdl.NAME` and what is imported, found in the code's syntax; what the code binds again is left out."""
    taken, bound = {}, set()
    for block in map(textwrap.dedent, FENCE.findall(path.read_text())):
        for node in ast.walk(ast.parse(block)):
            match node:
                case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] == "cdl":
                    taken |= {x.name: f"{module}.{x.name}" for x in names}
                case ast.Attribute(value=ast.Name("cdl"), attr=name):
                    taken.setdefault(name, f"cdl.{name}")
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                    bound.add(name)
    full = {name: TOP.get(name) if said == f"cdl.{name}" else said for name, said in taken.items() if name not in bound}
    known = {name: entry for name, entry in full.items() if entry in entries()}
    words = re.sub(
        r"^ *```.*?^ *```|^#.*?$|\[[^\]]*\]\([^)]*\)",
        "",
        path.read_text(),
        flags=re.DOTALL | re.MULTILINE,
    )
    codes = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", words)
    page = links.linked(codes, path.read_text(), f"{path.stem}/", entries(), TOP)
    there = {name for name, entry in known.items() if f"<code>{name}</code>" in codes and f'#{entry}"' not in page}
    assert there == set()
