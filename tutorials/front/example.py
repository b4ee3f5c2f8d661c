"""The program of README.md, run: its data type as text, its first tree with a place for each node, and its cells."""

import ast
import contextlib
import io
import itertools
import pathlib
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cdl


README = pathlib.Path(__file__).parents[2] / "README.md"
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Node:
    """One node of the tree: `across` counts leaves, `up` counts from the deepest level."""

    constructor: str
    value: str  # of a literal, and empty for the others
    cell: str  # the class of the layer that reads it
    across: float
    up: int
    children: tuple["Node", ...]

    def below(self) -> list["Node"]:
        """The node and all under it, each before its children."""
        return [self, *(node for child in self.children for node in child.below())]


@dataclass(frozen=True)
class Example:
    """The lines of the data type, the names of its constructors in their order, and one tree with its network."""

    signature: tuple[str, ...]
    constructors: tuple[str, ...]
    tree: Node
    state: str  # the shape of what comes out at the root


def example(text: str | None = None) -> Example:
    """Runs the first block of code of README.md, or of the text of another page.

    **Raises:** `ValueError` where the page has none.
    """
    fence = FENCE.search(text if text is not None else README.read_text(encoding="utf-8"))
    if fence is None:
        raise ValueError("README.md has no block of python code: the pictures are drawn from the first.")
    module = types.ModuleType("front_example")
    sys.modules[module.__name__] = module  # where annotations of the signature are resolved
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(fence[1], str(README), "exec"), module.__dict__)
    names = vars(module)
    functor = cdl.functor(names["ExprF"])
    root = names["trees"][0]
    return Example(
        tuple(_signature(fence[1])),
        tuple(constructor.__name__ for constructor in functor.constructors),
        _placed(root, names["net"], _depth(root) - 1, itertools.count()),
        str(names["states"].shape[1:]),
    )


def _signature(code: str) -> list[str]:
    """The classes that name constructors, and their union, laid out one field a line."""
    lines: list[str] = []
    for statement in ast.parse(code).body:
        constructor = isinstance(statement, ast.ClassDef) and any(
            ast.unparse(base).startswith("cdl.Base") for base in statement.bases
        )
        union = isinstance(statement, ast.Assign) and ast.unparse(statement.value).startswith("Union[")
        if constructor or union:
            lines += ast.unparse(statement).splitlines()
    return lines


def _children(node: Any) -> list[Any]:
    return [field for field in vars(node).values() if isinstance(field, cdl.Base)]


def _depth(node: Any) -> int:
    return 1 + max(map(_depth, _children(node)), default=0)


def _placed(node: Any, net: Any, up: int, places: Iterator[int]) -> Node:
    """A leaf takes the next place from the left; a node stands in the middle of its children."""
    name = type(node).__name__
    children = tuple(_placed(child, net, up - 1, places) for child in _children(node))
    across = sum(child.across for child in children) / len(children) if children else float(next(places))
    value = "" if children else str(node.value)
    return Node(name, value, type(getattr(net, name.lower())).__name__, across, up, children)
