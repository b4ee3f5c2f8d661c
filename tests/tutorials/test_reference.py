"""The documentation is complete: every public name stands in the reference, once, and on the page with all of cdl."""

import importlib
import inspect
import pathlib
import re
import types
from typing import get_args, get_origin

import jax
import pytest

from hooks import signatures


ROOT = pathlib.Path(__file__).parents[2]
TUTORIALS = ROOT / "tutorials"
ENTRY = re.compile(r"^::: (\S+)$", re.MULTILINE)
MODULES = [
    *("cdl.errors cdl.functors cdl.poly cdl.monads cdl.schemes cdl.compiled cdl.monoids cdl.machines").split(),
    *(
        "cdl.para cdl.para.two_cells cdl.para.actegory cdl.optics cdl.optics.z2 cdl.optics.structure "
        "cdl.categories cdl.learning"
    ).split(),
    *"cdl.drawing cdl.symmetry cdl.symmetry.groups cdl.symmetry.monoids cdl.symmetry.fields cdl.system".split(),
    "cdl.metric",
    *"cdl.laws cdl.explanation cdl.trees cdl.io cdl.testing cdl.checks".split(),
]
# These are for those who build on cdl, and the page says so.
SHOWN_ELSEWHERE = "cdl.para.two_cells cdl.para.actegory cdl.optics.structure cdl.optics.z2".split()
ROW = re.compile(r"^\| (?P<names>\[`[^|]*) \| (?P<module>`cdl[^|]*) \|", re.MULTILINE)


def public(module: types.ModuleType) -> list[str]:
    """The names that a module is for: those that its contents page lists, `from .x import Name as Name`, and those that
    it defines itself."""
    text = pathlib.Path(module.__file__).read_text()
    listed = [name for name, same in re.findall(r"\b([A-Za-z]\w*) as (\w+)", text) if name == same]
    defined = [name for name, x in vars(module).items() if getattr(x, "__module__", None) == module.__name__]
    named = [name for name in [*listed, *defined] if name[0] != "_"]
    return [name for name in named if not isinstance(getattr(module, name), types.ModuleType)]


def entries() -> list[str]:
    return [e for page in sorted(TUTORIALS.glob("reference/*.md")) for e in ENTRY.findall(page.read_text())]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_stands_in_the_reference_once(name):
    wanted = public(importlib.import_module(name))
    assert wanted
    found = entries()
    missing = sorted(x for x in wanted if f"{name}.{x}" not in found)
    assert not missing, f"write `::: {name}.NAME` in tutorials/reference for {', '.join(missing)}"
    twice = sorted({x for x in wanted if found.count(f"{name}.{x}") > 1})
    assert not twice, f"one entry in tutorials/reference is enough for {', '.join(twice)}"


def test_no_public_module_is_forgotten():
    import cdl.metric  # it comes in at its first use

    found = {x.__name__ for x in vars(cdl).values() if isinstance(x, types.ModuleType) and "._" not in x.__name__}
    assert found - {"jaxtyping", "sys"} == {name for name in MODULES if name.count(".") == 1}


def test_every_entry_of_the_reference_is_a_name():
    for entry in entries():
        module, _, name = entry.rpartition(".")
        try:
            importlib.import_module(entry)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(module), name), f"there is no `{entry}`"


def named(entry: str) -> object:
    """What has an entry: a name of a module, or a module."""
    module, _, name = entry.rpartition(".")
    return getattr(importlib.import_module(module), name, None) or importlib.import_module(entry)


def functions() -> list[tuple[str, inspect.Signature, str]]:
    """The functions of the reference, and what is said of each above its examples."""
    found = [(entry, named(entry)) for entry in entries()]
    return [
        (entry, inspect.signature(x), (inspect.getdoc(x) or "").split("Examples:")[0])
        for entry, x in found
        if inspect.isfunction(inspect.unwrap(x)) and not isinstance(x, type)
    ]


def test_every_function_of_two_arguments_says_what_they_are():
    silent = [
        entry
        for entry, signature, words in functions()
        if len(signature.parameters.keys() - {"tolerance"}) > 1 and "**Arguments" not in words
    ]
    assert silent == []


def holds_arrays(kind: object) -> bool:
    if get_origin(kind) is tuple:
        return any(map(holds_arrays, get_args(kind)))
    return kind is jax.Array or getattr(kind, "array_type", None) is jax.Array


def test_every_function_that_returns_arrays_says_what_they_are():
    returning = [(x, words) for x, signature, words in functions() if holds_arrays(signature.return_annotation)]
    assert len(returning) >= 20
    assert [x for x, words in returning if "**Returns:**" not in words] == []


@pytest.mark.parametrize("name", ["gated", "n_ary", "child_sum", "tree_rnn"])
def test_the_page_says_how_a_tree_network_is_called(name):
    """These are instances of a class, so their entries have no signature: the page gives it, and each argument."""
    page = (TUTORIALS / "reference/arch.md").read_text()
    said = re.search(r"^gated\(\n    (.*)\n\)$", page, re.MULTILINE)[1]
    called = inspect.signature(named(f"cdl_arch.recursive.{name}"))
    plain = [x.replace(annotation=x.empty) for x in called.parameters.values()]
    assert f"({said})" == str(inspect.Signature(plain)).replace(" ->", "")
    assert "(#cdl_arch.recursive.Architecture.__call__)" in page
    words = inspect.getdoc(named("cdl_arch.recursive.Architecture").__call__)
    assert re.findall(r"^- `(\w+)`: ", words, re.MULTILINE) == list(called.parameters)
    assert f"`{name}`" in page.split("```python")[0]


def all_of_cdl() -> str:
    return (TUTORIALS / "all-of-cdl.md").read_text()


@pytest.mark.parametrize("name", MODULES)
def test_all_of_cdl_leads_to_the_entry_of_every_public_name(name):
    page = all_of_cdl()
    assert f"`{name}`" in page, f"all-of-cdl.md does not name `{name}`"
    if name in SHOWN_ELSEWHERE:
        return
    names = public(importlib.import_module(name))
    missing = [x for x in names if not re.search(rf"\[`{x}`\]\(reference/\w+\.md#{name}\.{x}\)", page)]
    assert not missing, f"all-of-cdl.md has no link to the entry of {', '.join(missing)}"


def test_all_of_cdl_says_for_every_name_in_which_module_it_is():
    """By the shortest way: what is in `cdl` itself is said to be there."""
    import cdl

    found: dict[str, str] = {}
    for row in ROW.finditer(all_of_cdl()):
        module, *others = re.findall(r"`([\w.]+)`", row["module"])
        there = dict(zip(others[::2], others[1::2], strict=True))  # as in "`cdl`; `respond` in `cdl.machines`"
        found |= {name: there.get(name, module) for name in re.findall(r"`(\w+)`", row["names"])}
    wrong = [f"{module}.{name}" for name, module in found.items() if not hasattr(importlib.import_module(module), name)]
    assert wrong == []
    assert [name for name, module in found.items() if module != "cdl" and hasattr(cdl, name) and name != "para"] == []
    for head in re.findall(r"^\| names? .*$", all_of_cdl(), re.MULTILINE):
        assert head.split("|")[2].strip() == "in"


def test_the_types_of_each_kind_of_call_are_below_the_signature():
    one = '<div class="language-python doc-signature highlight"><pre><code>{}</code></pre></div>'
    kinds = one.format("a()") + one.format("b()")
    page = f'<div class="doc-overloads">\n{kinds} </div>\n{one.format("all()")}\n<p>Words.</p>'
    found = signatures.on_page_content(page)
    assert found.index("all") < found.index("Types: 2 kinds of call") < found.index(">a()<") < found.index(">b()<")
    assert found.index(">b()<") < found.index("</details>") < found.index("<p>Words.</p>")
    assert signatures.on_page_content(one.format("all()")) == one.format("all()")
