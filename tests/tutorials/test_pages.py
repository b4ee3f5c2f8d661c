"""Every page runs: README.md and `tutorials/*.md`, top to bottom, each as one module, and prints what it shows.

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

import jaxtyping
import outputs
import pytest

from front.pictures import pictures


ROOT = pathlib.Path(__file__).parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
RENDERED = re.compile(r"<!-- rendered from (\S+), sha256 (\w+) -->")
ALL = [ROOT / "README.md", *sorted(ROOT.glob("tutorials/*.md"))]
WRITTEN = [page for page in ALL if not RENDERED.search(page.read_text())]
SCRIPTS = sorted(ROOT.glob("tutorials/*.py"))


def run(text: str, name: str, file: str, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Run a page as one module, and compare what its blocks print with the outputs below them."""
    monkeypatch.setitem(sys.modules, name, None)  # so that it is taken away again
    for block in outputs.run(text, name, file):
        if block.differs:
            pytest.fail(
                f"{file}:{block.line}: this block prints\n{block.printed}\nand the page shows\n{block.shown}\n"
                f"Write it anew by `python tools/outputs.py {file}`, or print fewer digits.",
                pytrace=False,
            )
    return sys.modules[name]


@pytest.mark.parametrize(
    "page",
    [pytest.param(x, id=x.stem, marks=[] if x.stem == "README" else pytest.mark.page) for x in WRITTEN],
)
def test_page_runs(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # what a page saves is not left in the tree
    if page.stem == "errors":  # it gives arguments of wrong types, and shows what a reader is told, who has no hook
        monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
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


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_page_shows_figures_that_its_code_saves(page):
    text = page.read_text()
    shown = set(re.findall(r"!\[[^]]*\]\((images/[^)]+)\)", text))
    files = {figure.partition("#")[0] for figure in shown}  # `#only-dark` names a scheme
    assert all((page.parent / figure).exists() for figure in files)
    saved = set(re.findall(r'"(images/[^"]+)"', text))
    assert files <= saved | {f"images/{name}" for name in pictures()}  # see test_front.py


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


SHOWS = """\
```python
print(1 + 1)
```
{shown}
??? example "the code of the figure"

    ```python
    for n in range(2):
        print(" ", n)
    ```
"""


@pytest.mark.parametrize(
    "shown",
    ["", '\n```text title="output"\n3\n```\n', "\n```text\n2\n```\n"],
    ids=["none", "another", "untitled"],
)
def test_run_finds_and_written_mends_another_output(shown, monkeypatch):
    page = SHOWS.format(shown=shown)
    with pytest.raises(pytest.fail.Exception, match="this block prints\n2\n"):
        run(page, "a_page", "a-page.md", monkeypatch)
    mended = outputs.written(page, list(outputs.run(page, "a_page", "a-page.md")))
    assert mended.count('```python\nprint(1 + 1)\n```\n\n```text title="output"\n2\n```\n\n??? example') == 1
    assert mended.endswith('    ```\n\n    ```text title="output"\n      0\n      1\n    ```\n')
    run(mended, "a_page", "a-page.md", monkeypatch)
    assert outputs.written(mended, list(outputs.run(mended, "a_page", "a-page.md"))) == mended


def test_run_compares_numbers_but_for_lines_and_rounding(monkeypatch):
    page = 'Prose.\n```python\nprint("{}")\n```\n\n```text title="output"\n{}\n```\n'
    for said, shown in [
        ("asks at line 212", "asks at line 9"),
        ("holds: 8.6e-08", "holds: 0.0e+00"),
        ("-4e-13", "2e-12"),
    ]:
        run(page.format(said, shown), "a_page", "a-page.md", monkeypatch)
    for said, shown in [
        ("line 2, column 3", "line 1, column 3"),
        ("6.3e-03", "0.0e+00"),
        ("1e-04", "1e-03"),
    ]:
        with pytest.raises(pytest.fail.Exception, match="this block prints"):
            run(page.format(said, shown), "a_page", "a-page.md", monkeypatch)
