"""The first page: its pictures are those of its program, its number is that of the table, and it names no host."""

import pathlib
import re
import statistics
import struct

import pytest

from front.bars import bars, ROW
from front.example import example
from front.pictures import pictures
from hooks.figures import on_page_content


ROOT = pathlib.Path(__file__).parents[2]
IMAGES = ROOT / "tutorials/images"
README, HOME = (ROOT / "README.md").read_text(), (ROOT / "tutorials/index.md").read_text()
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_the_pictures_are_those_of_the_program():
    stale = [name for name, svg in pictures().items() if (IMAGES / name).read_text() != svg]
    assert stale == [], "run `make front`"
    assert set(pictures()) >= {path.name for path in IMAGES.glob("hero-*.svg")}


def test_hero_has_each_node_twice_in_its_colour():
    shown = example()
    assert len(shown.signature) == 8
    nodes = shown.tree.below()
    assert [node.constructor for node in nodes] == "Add Neg Lit Add Lit Lit".split()
    for name, svg in pictures().items():
        if name.startswith("hero"):
            boxes = re.findall(r'<rect [^>]*fill="(#\w+)" stroke="#\w+"', svg)
            assert boxes[: len(nodes)] == boxes[len(nodes) :]  # the tree, then the network
            assert len(set(boxes)) == len({node.constructor for node in nodes}) == 3


def test_the_first_page_and_the_readme_show_one_program():
    assert FENCE.search(HOME)[1] == FENCE.search(README)[1]


@pytest.mark.parametrize("page", [HOME, README], ids=["home", "README"])
def test_front_page_has_the_numbers_of_the_table(page):
    table = (ROOT / "tutorials/benchmarks.md").read_text()
    rows = re.findall(r"^\|.* forward \+ backward \|.*\*\*([\d.]+) ×\*\* \|$", table, re.MULTILINE)
    ratios = [float(ratio) for ratio in rows]
    (epoch,) = re.findall(r"^\| 32 \|.* 54 \|.*\*\*([\d.]+) ×\*\* \|$", table, re.MULTILINE)
    (said,) = re.findall(r"eager PyTorch(.*?)\n\n", page, re.DOTALL)
    numbers = {
        epoch,
        str(len(ratios)),
        *(f"{f(ratios):.2f}" for f in (statistics.median, min, max)),
    }
    assert numbers <= set(re.findall(r"\d+(?:\.\d+)?", said))


def test_bars_are_those_of_the_table():
    page = (ROOT / "tutorials/benchmarks.md").read_text()
    both = [float(row["ratio"]) for row in ROW.finditer(page) if row["kind"] == "forward + backward"]
    assert len(bars()) == len(both) // 2
    assert statistics.mean(bar.both for bar in bars()) == pytest.approx(statistics.mean(both))


def test_the_card_of_a_link_has_the_size_that_is_asked_for():
    header = (IMAGES / "card.png").read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", header[16:]) == (1200, 630)


def test_the_site_names_no_host_and_asks_none():
    settings = (ROOT / "mkdocs.yml").read_text()
    assert re.findall(r"^(?:site|repo)_url: (.*?)(?: #.*)?$", settings, re.MULTILINE) == [
        '!ENV [CDL_SITE_URL, ""]',
        '!ENV [CDL_REPO_URL, ""]',
    ]
    for template in (ROOT / "overrides").rglob("*.html"):
        _, _, code = template.read_text().rpartition("-#}")
        assert "http" not in code
        assert "data-md-component" not in code  # with which the theme's script asks a code host for stars


def test_a_figure_that_stands_alone_opens_large():
    figure = '<img alt="A ring" src="../images/ring.svg" />'
    opened = on_page_content(f"<p>{figure}</p>")
    assert opened == f'<p><a class="figure" href="../images/ring.svg">{figure}</a></p>'
    assert on_page_content(opened) == opened
    for other in (
        "<p>words</p>",
        f"<p>{figure} and words</p>",
        '<p><img alt="" src="hero-dark.svg#only-dark" /></p>',
        f"<p>{figure}\n{figure}</p>",
        '<p><img alt="" src="https://example.org/a.svg" /></p>',
    ):
        assert on_page_content(other) == other


@pytest.mark.parametrize("name", ["frames", "stages"])
def test_a_tall_twin_shows_the_same_words_in_a_narrower_picture(name):
    wide, tall = (pictures()[f"{name}{end}.svg"] for end in ("", "-tall"))
    words = [sorted(" ".join(re.findall(r"<text [^>]*>([^<]*)", svg)).split()) for svg in (wide, tall)]
    assert words[0] == words[1]
    assert float(re.search(r' width="([\d.]+)"', tall)[1]) < 470 < 750 < float(re.search(r' width="([\d.]+)"', wide)[1])
