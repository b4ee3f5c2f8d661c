"""Python's syntax as a family of three sorts: its constructors, its trees, and a fold over all of them."""

import ast
import inspect

import jax.numpy as jnp
import pytest

from cdl import Algebra, fold, functor, Many, pack
from cdl.functors import holes
from cdl_arch.data import python_ast, python_sorts


SOURCE = """\
@decorated
def f(x, *rest, y: int = 3, **more) -> dict:
    with open(x) as file, lock:
        try:
            return {**more, "a": [i for i in file if i], "b": -y}
        except (OSError, ValueError) as error:
            raise KeyError from error
        finally:
            del y
    match rest:
        case [1, *others] if others:
            pass
    return lambda z, k=1: (yield z)
"""


class Size(Algebra):
    """How many nodes there are, of whatever sort."""

    def __call__(self, layer):
        fields = (getattr(layer, name) for name in type(layer).__dataclass_fields__)
        return jnp.array(1) + sum(x.sum(jnp.array(0)) if isinstance(x, Many) else x for x in fields)


def test_the_grammar_is_read_from_ast_itself():
    family = python_sorts.python_family()
    names = [{c.__name__ for c in functor(f).constructors} for f in family]
    assert {"Name", "Call", "Lambda"} <= names[0]
    assert {"While", "FunctionDef", "Match"} <= names[1]
    assert {"arguments", "Add", "ExceptHandler", "MatchAs", "Module"} <= names[2]
    assert sum(map(len, names)) == len(python_ast.constructors())
    loop = python_sorts.constructors()[ast.While]
    assert loop[1] == (("test", False), ("body", True), ("orelse", True))
    assert str(functor(loop[0])) == "E × Many(S)²"


@pytest.mark.parametrize("named", [True, False])
def test_a_tree_has_every_node_of_the_syntax(named):
    syntax = ast.parse(inspect.getsource(python_sorts))
    tree, size = python_sorts.tree_of(syntax, named), 0
    todo = [tree]
    while todo:
        size += 1
        todo.extend(holes(todo.pop()))
    assert size == sum(1 for _ in ast.walk(syntax))


@pytest.mark.parametrize("named", [pytest.param(True, marks=pytest.mark.slow), False])
def test_all_three_sorts_fold_in_one_forest(named):
    syntax = ast.parse(SOURCE)
    nodes = [syntax, syntax.body[0], syntax.body[0].body[0].items[0].context_expr]
    trees = [python_sorts.tree_of(node, named) for node in nodes]
    forest = pack(python_sorts.python_family(named), trees)
    sizes = [sum(1 for _ in ast.walk(node)) for node in nodes]
    exprs, statements, parts = fold((Size(), Size(), Size()), forest)
    assert [*parts.tolist(), *statements.tolist(), *exprs.tolist()] == sizes
