"""The pages are read in the order of the navigation: each names the one after it, and its code has the page's width."""

import pathlib
import re
import textwrap

import pytest


ROOT = pathlib.Path(__file__).parents[2]
WIDTH = 88


NAVIGATION = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
ORDER = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", NAVIGATION, re.MULTILINE)
PAGES = [file for file in ORDER if not file.startswith("reference/")]
FENCE = re.compile(r"^ *```python\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def test_every_page_stands_in_the_navigation_once():
    written = sorted(path.name for path in (ROOT / "tutorials").glob("*.md"))
    assert sorted(PAGES) == written


@pytest.mark.parametrize("page", PAGES)
def test_page_leads_to_the_one_after_it(page):
    """In its last part, before the links to others."""
    links = re.findall(r"\]\(([^)#]+)", (ROOT / "tutorials" / page).read_text())
    assert ORDER[ORDER.index(page) + 1] in links


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", *(ROOT / "tutorials" / page for page in PAGES)],
    ids=lambda p: p.stem,
)
def test_the_code_of_a_page_is_as_wide_as_its_column(page):
    blocks = map(textwrap.dedent, FENCE.findall(page.read_text()))  # in a fold, code is further to the right
    wide = [line for block in blocks for line in block.splitlines() if len(line) > WIDTH]
    assert wide == []
