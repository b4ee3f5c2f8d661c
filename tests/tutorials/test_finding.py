"""What a reader looks for has a heading: words of the field, and the words of an error."""

import pathlib
import re

import pytest


TUTORIALS = pathlib.Path(__file__).parents[2] / "tutorials"
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def sections(page: str) -> list[tuple[str, str]]:
    """The headings of a page, each with the text under it: a search result is one of these."""
    text = (TUTORIALS / page).read_text()
    outside = CODE.sub(lambda block: re.sub(r"(?m)^#", " ", block[0]), text)
    parts = re.split(r"^#+ (.+)$", outside, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


MESSAGES = [(head, text) for head, text in sections("errors.md") if head.startswith('"')]


@pytest.mark.parametrize(("head", "text"), MESSAGES, ids=[head for head, _ in MESSAGES])
def test_an_error_has_the_words_of_its_heading_in_what_is_shown(head, text):
    """In this order; `…` stands for what differs from case to case."""
    shown = re.search(r"^```text[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    words = [re.escape(part.strip()) for part in head.strip('"').split("…")]
    assert re.search(".*".join(words), shown, re.DOTALL)


def test_the_pages_of_errors_and_of_words_are_long_enough():
    assert len(MESSAGES) >= 15
    assert len(sections("glossary.md")) > 40


@pytest.mark.parametrize(
    ("head", "text"),
    sections("glossary.md")[1:],
    ids=[head for head, _ in sections("glossary.md")[1:]],
)
def test_glossary_links_a_page_and_the_reference(head, text):
    links = re.findall(r"\]\(([^)#]+)", text)
    assert links[0] in {path.name for path in TUTORIALS.glob("*.md")}
    assert links[1].startswith("reference/")
    heads = [h for h, _ in sections("glossary.md")[1:]]
    assert heads == sorted(heads, key=str.lower)
