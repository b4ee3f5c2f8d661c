"""Every page runs: README.md and `tutorials/*.md`, top to bottom, each as one module.

README.md runs with the other tests, the rest by themselves: `make pages`.
Pages that `make tutorials` renders from a script are not run again here: each carries the hash of the script that it
was rendered from, and that hash has to be the script's.
"""

import hashlib
import pathlib
import re
import sys
import traceback
import types

import pytest


ROOT = pathlib.Path(__file__).parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
RENDERED = re.compile(r"<!-- rendered from (\S+), sha256 (\w+) -->")
ALL = [ROOT / "README.md", *sorted(ROOT.glob("tutorials/*.md"))]
WRITTEN = [page for page in ALL if not RENDERED.search(page.read_text())]
SCRIPTS = sorted(ROOT.glob("tutorials/*.py"))


def run(text: str, name: str, file: str, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Run the python fences of a page as one module, known to Python so that its annotations can be resolved."""
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    for block in FENCE.finditer(text):
        above = text.count("\n", 0, block.start(1))  # so that tracebacks name the page's own line
        exec(compile("\n" * above + block[1], file, "exec"), module.__dict__)
    return module


@pytest.mark.parametrize(
    "page",
    [pytest.param(x, id=x.stem, marks=[] if x.stem == "README" else pytest.mark.page) for x in WRITTEN],
)
def test_page_runs(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # what a page saves is not left in the tree
    run(page.read_text(), f"page_{page.stem}", str(page), monkeypatch)
    for figure in tmp_path.glob("images/drawn-*.svg"):  # what cdl draws is the same everywhere
        assert figure.read_text() == (ROOT / "tutorials/images" / figure.name).read_text(), f"{figure.name} is stale"
        assert f"(images/{figure.name})" in page.read_text()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_rendered_page_is_that_of_its_script(script):
    page = script.with_suffix(".md")
    assert page.exists(), f"{page.name} is missing: run `make tutorials`"
    name, digest = RENDERED.search(page.read_text()).groups()
    assert name == script.name
    assert digest == hashlib.sha256(script.read_bytes()).hexdigest(), f"{page.name} is stale: run `make tutorials`"


def test_an_architecture_of_ones_own_takes_ten_lines():
    page = (ROOT / "tutorials/your-own-signature.md").read_text()
    _, written, _ = FENCE.findall(page.split("## In ten lines")[1].split("\n## ")[0])
    lines = [line for line in written.splitlines() if line.strip()]
    assert len(lines) == 10
    assert lines[-1].startswith("trained = train(")


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_every_figure_that_a_page_shows_is_one_that_its_code_saves(page):
    text = page.read_text()
    shown = set(re.findall(r"!\[[^]]*\]\((images/[^)]+)\)", text))
    files = {figure.partition("#")[0] for figure in shown}  # `#only-dark` names a scheme
    assert all((page.parent / figure).exists() for figure in files)
    saved = {"images/stages.svg", *re.findall(r'"(images/[^"]+)"', text)}  # `stages` is drawn by hand
    assert all(figure in saved or figure.startswith("images/hero-") for figure in files)  # see test_front.py


PAGE = """\
A page.

```python
x = 1
class Here:
    next: "Here"
```
Prose, and a fence that is no code of ours:
```text
not python
```
```python
assert x == {x}
```
"""


def test_the_fences_of_a_page_share_one_module(monkeypatch):
    module = run(PAGE.format(x=1), "a_page", "a-page.md", monkeypatch)
    assert sys.modules[module.Here.__module__] is module


def test_a_page_that_is_wrong_fails_at_its_own_line(monkeypatch):
    with pytest.raises(AssertionError) as caught:
        run(PAGE.format(x=2), "a_page", "a-page.md", monkeypatch)
    frame = traceback.extract_tb(caught.tb)[-1]
    assert (frame.filename, frame.lineno) == ("a-page.md", 13)
