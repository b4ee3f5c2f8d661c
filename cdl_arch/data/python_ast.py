"""Python's whole syntax as a functor of one sort, made from the node classes of `ast`: `Σ Many(X)`, a summand a class.

| the mathematics                     | here                                                        |
| ----------------------------------- | ----------------------------------------------------------- |
| one summand `Many(X)` for each class | a constructor of the class's name, with a field `children`  |
| the signature                       | `python_ast_signature()`, for `pack` and `functor`          |
| a tree                              | `tree_of(node)`: the children in the order of the text      |

A signature need not be written by hand: it is a value, and a loop can make one. Names and literals are left out.
"""

import ast
import types
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, cast, Generic, TypeAlias, TypeVar, Union

from cdl import Base, Fix, Many

from . import stdlib


X = TypeVar("X", covariant=True)  # a recursive place


class Python:
    """The name of the functor; its initial algebra is Python's syntax without its names and literals."""


Tree: TypeAlias = Fix[Python]


@cache
def constructors() -> dict[type[ast.AST], Callable[[Many[Tree]], Tree]]:
    """The constructor of each class of nodes: those that the parser of this Python makes."""
    categories = [kind for kind in ast.AST.__subclasses__() if _is_current(kind)]
    kinds = [kind for category in categories for kind in (category.__subclasses__() or [category])]
    return {kind: _constructor(kind) for kind in kinds if _is_current(kind)}


def python_ast_signature() -> Any:
    """The union of the constructors: what `functor` and `pack` take, made at run time and so of no static type."""
    return Union[tuple(constructors().values())]


def tree_of(root: ast.AST) -> Tree:
    """The tree of a node, made from the inside out, so that no nesting is too deep."""
    nodes, children = [root], list[slice]()
    for node in nodes:  # which grows as it is read: a node before its children
        first = len(nodes)
        nodes.extend(ast.iter_child_nodes(node))
        children.append(slice(first, len(nodes)))
    trees: list[Any] = list(nodes)
    for i in reversed(range(len(nodes))):
        trees[i] = constructors()[type(nodes[i])](Many(trees[children[i]]))
    return trees[0]


def functions(limit: int | None = None, paths: Iterable[Path] | None = None) -> list[Tree]:
    """The function definitions of the standard library as trees, nested ones too, in order; the first `limit`."""
    nodes = (node for _, module in stdlib.syntax(paths) for node in ast.walk(module))
    found = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [tree_of(node) for node in islice(found, limit)]


def _constructor(kind: type[ast.AST]) -> Any:
    """The class that would be written `class While(Base[Python, X], Generic[X]): children: Many[X]`."""
    base, generic, many = cast("Any", Base), cast("Any", Generic), cast("Any", Many)
    body = {"__annotations__": {"children": many[X]}, "__module__": __name__, "__doc__": f"`ast.{kind.__name__}`."}
    return types.new_class(kind.__name__, (base[Python, X], generic[X]), exec_body=lambda names: names.update(body))


def _is_current(kind: type[ast.AST]) -> bool:
    return not (kind.__doc__ or "").startswith("Deprecated")
