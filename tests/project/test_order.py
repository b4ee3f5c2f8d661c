"""Ideas flow one way: a stage of cdl may import itself and the stages before it, and nothing of cdl_arch."""

import ast
import graphlib
import pathlib
from collections.abc import Iterator

import pytest


ROOT = pathlib.Path(__file__).parents[2]
STAGES = (
    "_front_door errors _typecheck testing _functors functors poly monads _terms _schemes schemes _annotations _engine "
    "compiled monoids machines _para para _optics optics categories learning _drawing drawing symmetry system metric "
    "laws explanation trees io checks __init__"
).split()


def stage(module: str) -> int:
    """The place of a module, such as `cdl.poly`, in the order; the contents page `cdl` comes last."""
    package, *inner = module.split(".")
    if package != "cdl":
        return len(STAGES)
    return STAGES.index(inner[0] if inner else "__init__")


def origin(node: ast.ImportFrom, package: str) -> str:
    """The module that a source in `package` imports from."""
    above = package.split(".")[: 1 - node.level or None] if node.level else []
    return ".".join([*above, *filter(None, [node.module])])


def imports(source: str, package: str) -> Iterator[tuple[str, int]]:
    """Each module of ours that a source in `package` imports, also inside its functions, with the line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = origin(node, package)
            found = [base]
            if base == "cdl":  # `from .. import run` names a stage, `from cdl import fold` reads the contents page
                found = [f"cdl.{alias.name}" if alias.name in STAGES else "cdl" for alias in node.names]
        else:
            continue
        yield from ((name, node.lineno) for name in found if name.split(".")[0] in ("cdl", "cdl_arch"))


def looks_ahead(source: str, module: str, package: str) -> list[str]:
    return [f"line {line}: {name}" for name, line in imports(source, package) if stage(name) > stage(module)]


def where(path: pathlib.Path) -> tuple[str, str]:
    """The name of a file's module, and that of the package its relative imports start from."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__"), ".".join(parts[:-1])


FILES = sorted((ROOT / "cdl").rglob("*.py"))


def test_no_module_imports_a_later_stage():
    found = {path.name: late for path in FILES if (late := looks_ahead(path.read_text(), *where(path)))}
    assert found == {}


FOLDERS = "arrays code jaxprs numbers calls lists forests folds descents machines growth".split()  # of `cdl._engine`


def folder(module: str) -> int:
    """The place of a module of `cdl._engine` in the order of its folders; its contents page comes last, and what is in
    other stages first."""
    if not f"{module}.".startswith("cdl._engine."):
        return -1
    inner = module.split(".")[2:]
    return FOLDERS.index(inner[0]) if inner else len(FOLDERS)


def test_no_folder_of_the_engine_imports_a_later_one():
    found = []
    for path in sorted((ROOT / "cdl" / "_engine").glob("*/*.py")):
        module, package = where(path)
        late = [target for target, _ in imports(path.read_text(), package) if folder(target) > folder(module)]
        found += [f"{module} imports {target}" for target in late]
    assert found == []


def test_no_files_go_in_a_circle():
    modules = {where(path)[0] for path in FILES}
    reads: dict[str, set[str]] = {}
    for path in FILES:
        module, package = where(path)
        nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        names = [(origin(node, package), alias.name) for node in nodes for alias in node.names]
        found = {f"{base}.{name}" if f"{base}.{name}" in modules else base for base, name in names}
        reads[module] = found & modules - {module}
    assert list(graphlib.TopologicalSorter(reads).static_order())  # or an error that names them


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("from ..errors import CdlError", False),
        ("from .. import _functors as f", False),
        ("import jax", False),
        ("from .. import _engine", True),
        ("from .._engine.forests._pack import pack", True),
        ("import cdl.compiled", True),
        ("from cdl import fold", True),  # the contents page is for users
        ("import cdl_arch.recursive", True),
        ("def late():\n    from .._engine import fold", True),
    ],
)
def test_looks_ahead_sees_an_import_of_a_later_stage(line, caught):
    assert bool(looks_ahead(line, "cdl._schemes._cata", "cdl._schemes")) is caught


def test_no_two_files_of_tests_have_one_name():
    """pytest imports them by their names alone."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_few_files_read_what_is_private_in_another_package():
    """What architectures need of cdl is public, with few exceptions."""
    found = []
    for path in sorted((ROOT / "cdl_arch").rglob("*.py")):
        reads = imports(path.read_text(), where(path)[1])
        found += [f"{path.name}: {name}" for name, _ in reads if name.startswith("cdl.") and "._" in name]
    assert len(found) <= 11, found
