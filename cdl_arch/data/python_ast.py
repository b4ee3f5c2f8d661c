"""Python's whole syntax as a functor of one sort, made from the node classes of `ast`: `Σ Many(X)`, a summand a class.

| the mathematics                     | here                                                        |
| ----------------------------------- | ----------------------------------------------------------- |
| one summand `Many(X)` for each class | a constructor of the class's name, with a field `children`  |
| the signature                       | `python_ast_signature()`, for `pack` and `functor`          |
| a tree                              | `tree_of(node)`: the children in the order of the text      |

A signature need not be written by hand: it is a value, and a loop can make one. Names and literals are left out.
"""

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from cdl import Fix, Many
from cdl.trees import Derived, of_classes

from . import stdlib


class Python:
    """The name of the functor; its initial algebra is Python's syntax without its names and literals."""


Tree: TypeAlias = Fix[Python]


@cache
def _derived() -> Derived:
    """The classes of nodes that the parser of this Python makes, as constructors."""
    categories = [kind for kind in ast.AST.__subclasses__() if _is_current(kind)]
    kinds = [kind for category in categories for kind in (category.__subclasses__() or [category])]
    return of_classes(filter(_is_current, kinds), ast.iter_child_nodes, tag=Python)


def constructors() -> Mapping[type[ast.AST], Callable[[Many[Tree]], Tree]]:
    """The constructor of each class of nodes: those that the parser of this Python makes."""
    return _derived().constructors


def python_ast_signature() -> Any:
    """The union of the constructors: what `functor` and `pack` take, made at run time and so of no static type."""
    return _derived().signature


def tree_of(root: ast.AST) -> Tree:
    """The tree of a node, however deep."""
    return _derived().to_tree(root)


def functions(limit: int | None = None, paths: Iterable[Path] | None = None) -> list[Tree]:
    """The function definitions of the standard library as trees, nested ones too, in order; the first `limit`."""
    nodes = (node for _, module in stdlib.syntax(paths) for node in ast.walk(module))
    found = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [tree_of(node) for node in islice(found, limit)]


def _is_current(kind: type[ast.AST]) -> bool:
    return not (kind.__doc__ or "").startswith("Deprecated")
