"""A pattern never binds a parameter: `case Id(sort)` in a function of `sort` would change it without a word."""

import ast
import pathlib
from collections.abc import Iterator

import pytest


ROOT = pathlib.Path(__file__).parents[2]
FILES = sorted(
    path
    for package in (
        "cdl",
        "cdl_arch",
        "tutorials/definite_assignment",
        "tutorials/page_tables",
        "tutorials/symmetry",
        "tutorials/systems",
        "tutorials/metric",
        "tutorials/searches",
    )
    for path in (ROOT / package).rglob("*.py")
)
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def own(function: Function) -> Iterator[ast.AST]:
    """What is inside a function, and not in one that it defines."""
    todo: list[ast.AST] = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, Function):
            todo.extend(ast.iter_child_nodes(node))


def rebound(source: str) -> list[str]:
    """The parameters that a pattern in their function binds, with the lines."""
    found = []
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, Function):
            continue
        a = function.args
        parameters = {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p is not None}
        for node in own(function):
            name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
            if isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping) and name in parameters:
                found.append(f"line {node.lineno}: {name}")
    return found


def test_no_pattern_binds_a_parameter():
    assert {path.name: found for path in FILES if (found := rebound(path.read_text()))} == {}


@pytest.mark.parametrize("pattern", ["Id(sort)", "sort", "[*sort]", "{**sort}", "Id(of=Id(sort))", "Id() as sort"])
def test_a_pattern_that_binds_a_parameter_is_found(pattern):
    source = f"def f(x, *, sort):\n    match x:\n        case {pattern}:\n            return sort"
    assert rebound(source) == ["line 3: sort"]
    assert rebound(source.replace("*, sort", "*, of")) == []
