"""Names in the sentences of a page lead to the reference."""

import importlib.util
import pathlib

import pytest


HOOK = pathlib.Path(__file__).parents[2] / "tutorials/hooks/links.py"
ENTRIES = {
    "cdl.compiled.fold": "reference/compiled/",
    "cdl.schemes.para": "reference/schemes/",
    "cdl.laws.para": "reference/laws/",
    "cdl.symmetry.Equivariant": "reference/symmetry/",
    "cdl.symmetry": "reference/symmetry/",
}
FOLD = '<a class="entry" href="../reference/compiled/#cdl.compiled.fold"><code>{}</code></a>'


@pytest.fixture(scope="module")
def linked():
    spec = importlib.util.spec_from_file_location("links", HOOK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda content, markdown="", url="trees/": module.linked(content, markdown, url, ENTRIES)


@pytest.mark.parametrize("said", ["cdl.compiled.fold", "cdl.fold", "cdl.fold(net, forest)"])
def test_a_full_name_is_linked(linked, said):
    assert linked(f"<code>{said}</code>") == FOLD.format(said)


def test_only_the_first_mention_is_linked(linked):
    once = linked("<code>cdl.fold</code> <code>cdl.compiled.fold</code>")
    assert once == FOLD.format("cdl.fold") + " <code>cdl.compiled.fold</code>"


def test_a_bare_function_is_linked_where_the_page_says_whose_it_is(linked):
    assert linked("<code>fold</code>", "a fold") == "<code>fold</code>"
    assert linked("<code>fold</code>", "y = cdl.fold(net, forest)") == FOLD.format("fold")


@pytest.mark.parametrize("made", ["class Equivariant:", "Equivariant = 3", "    Equivariant: int = 3"])
def test_what_the_page_makes_itself_is_not_linked(linked, made):
    assert "href" in linked("<code>Equivariant</code>")
    assert linked("<code>Equivariant</code>", made) == "<code>Equivariant</code>"


def test_a_name_of_two_entries_needs_its_module(linked):
    assert linked("<code>cdl.para</code>") == "<code>cdl.para</code>"
    assert "#cdl.laws.para" in linked("<code>cdl.laws.para</code>")


def test_a_module_is_linked_from_the_front_page_too(linked):
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
def test_other_code_is_left_as_it_is(linked, left):
    assert linked(left) == left
