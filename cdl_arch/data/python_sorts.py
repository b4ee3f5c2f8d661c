"""Python's whole syntax as a family of three sorts, made from the grammar that `ast` writes into its own docstrings.

| the grammar of `ast`                | here                                                             |
| ----------------------------------- | ---------------------------------------------------------------- |
| `expr`, `stmt`, everything else     | the sorts 0, 1 and 2: `Expression`, `Statement`, `Part`          |
| `While(expr test, stmt* body, …)`   | a constructor `While` with `test: E`, `body: Many[S]`            |
| `expr? returns`                     | `returns: Many[E]`, of none or one                               |
| `identifier name`, `constant value` | left out, as everything is that is not a node                    |

`pack(python_family(), trees)` takes trees of any sort.
"""

import ast
import re
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast, Generic, TypeVar, Union

from cdl import Base, Many


E = TypeVar("E", covariant=True)  # an expression
S = TypeVar("S", covariant=True)  # a statement
R = TypeVar("R", covariant=True)  # any other part: arguments, operators, handlers, patterns

GRAMMAR = re.compile(r"(\w+)([*?]?) (\w+)")


class Expression:
    """The name of the functor of expressions."""


class Statement:
    """The name of the functor of statements."""


class Part:
    """The name of the functor of all other nodes."""


TAGS = (Expression, Statement, Part)
PLACES: tuple[Any, ...] = (E, S, R)


@cache
def python_family(named: bool = True) -> tuple[Any, Any, Any]:
    """The signatures of expressions, of statements and of the rest: what `pack` takes, in the order of the sorts.

    **Arguments:** `named`: whether each field is a separate place; else a constructor has one `Many` for each sort,
    in the order of the text, and constructors differ in nothing but their names.
    """
    by_sort: tuple[list[Any], ...] = ([], [], [])
    for kind, (constructor, _) in constructors(named).items():
        by_sort[_sort(kind)].append(constructor)
    found = tuple(Union[tuple(some)] for some in by_sort)
    return cast("tuple[Any, Any, Any]", found)


@cache
def constructors(named: bool = True) -> dict[type[ast.AST], tuple[Callable[..., Any], tuple[tuple[str, bool], ...]]]:
    """The constructor of each class of nodes, and its fields: each one's name, and whether it is a `Many`."""
    kinds = [k for category in ast.AST.__subclasses__() for k in (category.__subclasses__() or [category])]
    make = _by_name if named else _by_sort
    return {kind: make(kind) for kind in kinds if not (kind.__doc__ or "").startswith("Deprecated")}


def tree_of(root: ast.AST, named: bool = True) -> Any:
    """The tree of a node, made from the inside out, so that no nesting is too deep. `named` as in `python_family`."""
    known = constructors(named)
    nodes, children = [root], list[list[slice]]()
    for node in nodes:  # which grows as it is read: a node before its children
        places = []
        for below in _places(node, known[type(node)][1], named):
            first = len(nodes)
            nodes.extend(below)
            places.append(slice(first, len(nodes)))
        children.append(places)
    trees: list[Any] = list(nodes)
    for i in reversed(range(len(nodes))):
        make, fields = known[type(nodes[i])]
        pairs = zip(fields, children[i], strict=True)
        trees[i] = make(*(Many(trees[at]) if many else trees[at.start] for (_, many), at in pairs))
    return trees[0]


def _places(node: ast.AST, fields: tuple[tuple[str, bool], ...], named: bool) -> Iterator[Iterator[ast.AST]]:
    """What stands at each place of a node."""
    if named:
        return (_below(getattr(node, name, None)) for name, _ in fields)
    children = list(ast.iter_child_nodes(node))
    return ((child for child in children if _sort(type(child)) == sort) for sort in range(len(TAGS)))


def _below(value: Any) -> Iterator[ast.AST]:
    """The nodes in a field; a list may have gaps, as the keys of `{**rest}`."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, ast.AST):
            yield item


def _by_name(kind: type[ast.AST]) -> tuple[Any, tuple[tuple[str, bool], ...]]:
    """The class, such as `class While(Base[Statement, tuple[E, S, R]], Generic[E, S, R])`, and its fields."""
    categories = {category.__name__: category for category in ast.AST.__subclasses__()}
    fields, annotations = list[tuple[str, bool]](), dict[str, Any]()
    for sort, mark, name in GRAMMAR.findall((kind.__doc__ or "").partition("(")[2]):
        if sort in categories:
            place, many = PLACES[_sort(categories[sort])], bool(mark)
            annotations[name] = cast("Any", Many)[place] if many else place
            fields.append((name, many))
    return _constructor(kind, annotations), tuple(fields)


def _by_sort(kind: type[ast.AST]) -> tuple[Any, tuple[tuple[str, bool], ...]]:
    """The same with a `Many` for each sort."""
    names = "expressions", "statements", "parts"
    annotations = {name: cast("Any", Many)[place] for name, place in zip(names, PLACES, strict=True)}
    return _constructor(kind, annotations), tuple((name, True) for name in names)


def _constructor(kind: type[ast.AST], annotations: dict[str, Any]) -> Any:
    base, generic = cast("Any", Base), cast("Any", Generic)
    body = {"__annotations__": annotations, "__module__": __name__, "__doc__": f"`ast.{kind.__name__}`."}
    bases = base[TAGS[_sort(kind)], cast("Any", tuple)[PLACES]], generic[PLACES]
    return types.new_class(kind.__name__, bases, exec_body=lambda names: names.update(body))


def _sort(kind: type[ast.AST]) -> int:
    return 0 if issubclass(kind, ast.expr) else 1 if issubclass(kind, ast.stmt) else 2
