"""The front door: every public module is one by its path and as an attribute, and few names are at the top."""

import ast
import importlib
import pathlib
import re
import subprocess
import sys
import types

import pytest

import cdl


ROOT = pathlib.Path(__file__).parents[2]


def public_modules(package: str) -> list[str]:
    paths = [path.relative_to(ROOT).with_suffix("").parts for path in (ROOT / package).rglob("*.py")]
    public = [path for path in paths if not any(part[0] == "_" and part != "__init__" for part in path)]
    return sorted(".".join(path).removesuffix(".__init__") for path in public)


PUBLIC = public_modules("cdl")


def test_there_are_public_modules():
    assert {"cdl", "cdl.functors", "cdl.para.two_cells", "cdl.learning.layers", "cdl.io"} <= set(PUBLIC)


def test_public_modules_are_modules_by_both_ways():
    for name in PUBLIC:
        found = cdl
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        assert isinstance(found, types.ModuleType)
        assert found is importlib.import_module(name)


def test_importing_cdl_starts_no_device():
    """`jax.distributed.initialize`, and the number of devices, can be set only before JAX has computed something."""
    code = "import cdl, cdl_arch, jax._src.xla_bridge as b; assert not b.backends_are_initialized()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_few_names_are_at_the_top():
    names = [name for name, x in vars(cdl).items() if name[0] != "_" and not isinstance(x, types.ModuleType)]
    assert 50 < len(names) <= 72, len(names)


def test_a_name_that_is_in_a_module_is_told_where():
    with pytest.raises(AttributeError, match=r"`zygo`.*`cdl.schemes.zygo`"):
        cdl.zygo  # noqa: B018
    with pytest.raises(AttributeError, match="`nothing`"):
        cdl.nothing  # noqa: B018
    assert not hasattr(cdl, "__path_of_nothing__")


def public_names(module: str) -> set[str]:
    """The names that a module gives its users, by its source: what it defines, and what it imports `as` itself. A type
    that is named without `TypeAlias` is for the file alone, and so is the variable of a type."""
    path = ROOT.joinpath(*module.split("."))
    source = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()
    names, values = set(), vars(importlib.import_module(module))
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Assign(targets=targets):
                assigned = [x.id for target in targets for x in ast.walk(target) if isinstance(x, ast.Name)]
                names |= {name for name in assigned if not is_type(values[name])}
            case ast.ImportFrom(names=aliases):
                names |= {alias.name for alias in aliases if alias.name == alias.asname}
    return {name for name in names if name[0] != "_"}


def is_type(x: object) -> bool:
    return isinstance(x, type) or type(x).__module__ in ("typing", "types", "typing_extensions")


@pytest.mark.parametrize("package", ["cdl", "cdl_arch"])
def test_every_public_name_is_found_from_the_top_and_no_other(package):
    top = importlib.import_module(package)
    modules = [module for module in public_modules(package) if module != package]
    public = {f"{module}.{name}" for module in modules for name in public_names(module)} | set(modules)
    every = {name for module in modules for name in vars(importlib.import_module(module)) if name[0] != "_"}
    shown = {path.rpartition(".")[2] for path in public}
    for name in sorted(every - set(vars(top))):
        with pytest.raises(AttributeError) as caught:
            getattr(top, name)
        found = re.search(r"it is `(.*)`", str(caught.value))
        assert (found is not None) == (name in shown), str(caught.value)
        assert found is None or found[1] in public


def test_the_version_is_one_and_a_citation_has_it():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", cdl.__version__)
