"""The front door: every public module is one by its path and as an attribute, and few names are at the top."""

import importlib
import pathlib
import re
import subprocess
import sys
import types

import pytest

import cdl


ROOT = pathlib.Path(__file__).parents[2]
PUBLIC = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "cdl").rglob("*.py")
    if not any(part.startswith("_") and part != "__init__" for part in path.relative_to(ROOT).with_suffix("").parts)
)


def test_there_are_public_modules():
    assert {"cdl", "cdl.functors", "cdl.para.two_cells", "cdl.learning.layers", "cdl.io"} <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_is_a_module_by_both_ways(name):
    module = importlib.import_module(name)
    found = cdl
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    assert isinstance(found, types.ModuleType)
    assert found is module


def test_each_can_be_the_first_that_is_imported():
    """In one new process each, for what `import cdl.x.y as z` gives must not depend on what came before."""
    code = "import {} as z, types; assert isinstance(z, types.ModuleType)"
    for name in ("cdl.para.two_cells", "cdl.learning.layers"):
        done = subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_few_names_are_at_the_top():
    names = [name for name, x in vars(cdl).items() if name[0] != "_" and not isinstance(x, types.ModuleType)]
    assert 50 < len(names) <= 72, len(names)


def test_a_name_that_is_in_a_module_is_told_where():
    with pytest.raises(AttributeError, match=r"`cdl` has no `zygo`: it is `cdl.schemes.zygo`"):
        cdl.zygo  # noqa: B018
    with pytest.raises(AttributeError, match=r"`cdl` has no `save`: it is `cdl.io.save`"):
        cdl.save  # noqa: B018
    with pytest.raises(AttributeError, match="`cdl` has no `nothing`, and no public module"):
        cdl.nothing  # noqa: B018
    assert not hasattr(cdl, "__path_of_nothing__")


def test_the_version_is_one_and_a_citation_has_it():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", cdl.__version__)
