"""The documentation is complete: every public name stands in the reference, once, and on the page with all of cdl."""

import importlib
import pathlib
import re
import sys
import types

import pytest


ROOT = pathlib.Path(__file__).parent.parent
TUTORIALS = ROOT / "tutorials"
ENTRY = re.compile(r"^::: (\S+)$", re.MULTILINE)
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
NEWER = re.compile(r"^```py\n(.*?)^```", re.DOTALL | re.MULTILINE)
PACKAGES = ["cdl", "cdl.laws", "cdl.functor", "cdl.algebra", "cdl.run"]


def public(module: types.ModuleType) -> list[str]:
    """The names that a contents page lists, `from .x import Name as Name`, and the modules among them."""
    text = pathlib.Path(module.__file__).read_text()
    return [name for name, same in re.findall(r"\b([A-Za-z]\w*) as (\w+)", text) if name == same]


def described(entry: str) -> str:
    """The name that an entry of the reference is about: `cdl.functors.functor` is the function `cdl.functor`."""
    return entry.rpartition(".")[2]


def entries() -> list[str]:
    return [e for page in sorted(TUTORIALS.glob("reference/*.md")) for e in ENTRY.findall(page.read_text())]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_stands_in_the_reference_once(package):
    wanted = public(importlib.import_module(package))
    assert wanted
    of_cdl = [e for e in entries() if not e.startswith("cdl_arch")]
    own = [e for e in of_cdl if e.startswith("cdl.laws.") == (package == "cdl.laws")]
    found = [described(e) for e in own if not e.startswith("cdl.poly.")]
    missing = sorted(name for name in wanted if name not in found and name != "laws")
    assert not missing, f"write `::: {package}.NAME` in tutorials/reference for {', '.join(missing)}"
    twice = sorted({name for name in wanted if found.count(name) > 1})
    assert not twice, f"one entry in tutorials/reference is enough for {', '.join(twice)}"


def test_every_entry_of_the_reference_is_a_name():
    for entry in entries():
        module, _, name = entry.rpartition(".")
        assert not module or hasattr(importlib.import_module(module), name), f"there is no `{entry}`"
        assert module or importlib.import_module(name)


def test_the_reference_keeps_the_reading_order():
    order = public(importlib.import_module("cdl"))
    for page in sorted(TUTORIALS.glob("reference/*.md")):
        named = [described(e) for e in ENTRY.findall(page.read_text()) if not e.startswith("cdl.laws.")]
        places = [order.index(name) for name in named if name in order]
        assert places == sorted(places), f"{page.name} has its names in another order than cdl/__init__.py"


def test_all_of_cdl_has_a_line_and_code_for_every_public_name():
    text = (TUTORIALS / "all-of-cdl.md").read_text()
    code = "\n".join(FENCE.findall(text))
    prose = FENCE.sub("", text)
    names = public(importlib.import_module("cdl"))
    unsaid = [name for name in names if f"`{name}`" not in prose]
    unused = [name for name in names if not re.search(rf"\bcdl\.{name}\b", code)]
    assert not unsaid, f"all-of-cdl.md has no line for {', '.join(unsaid)}"
    assert not unused, f"all-of-cdl.md has no code with {', '.join(unused)}"


def test_all_of_cdl_keeps_the_order_of_the_contents_page():
    """Section by section: where each line of imports begins, the page goes on."""
    text = (TUTORIALS / "all-of-cdl.md").read_text()
    firsts = ["CdlError", "Base", "List", "Stream", "Free", "Monad", "Algebra", "cata", "ana", "hylo", "pack", "laws"]
    names = public(importlib.import_module("cdl"))
    assert [n for n in names if n in firsts] == firsts
    places = [text.index(f"`{name}`") for name in firsts]
    assert places == sorted(places)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the newer spelling of type parameters needs Python 3.12")
def test_the_newer_spelling_on_the_page_reads_as_the_same_functor(monkeypatch):
    import cdl

    text = (TUTORIALS / "your-own-signature.md").read_text()
    (newer,) = NEWER.findall(text)
    module = types.ModuleType("newer_spelling")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    before = "from typing import Never\nimport cdl\nclass Expr: ...\nclass Var(cdl.Base[Expr, Never]): number: int\n"
    exec(before + newer, module.__dict__)
    assert f'assert str(cdl.functor(ExprF)) == "{cdl.functor(module.ExprF)}"' in text
