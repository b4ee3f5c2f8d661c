"""Algebras that ask for a user's own class, where the constructor that was derived from it stands.

| in an algebra of trees that `of_dataclasses` gave | what it does                                            |
| ------------------------------------------------- | ------------------------------------------------------- |
| `match layer: case Num(value): …`                 | never matches: a layer is an instance of a constructor  |
| `isinstance(layer, Num)`, `type(layer) is Num`    | is never true                                           |
| `match layer: case made.constructors.Num(value)`  | what was meant                                          |

The question is looked for in the source of the algebra, and without source nothing is known. Only the layer
itself is looked at: what stands at its places may be of any class.
"""

import ast
import builtins
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from .._functors.origin import origin_of
from ..errors import SignatureError


def expect_constructors(name: str, fn: Callable[..., Any], constructor: type[Any]) -> None:
    """**Raises:** `SignatureError` where a function asks whether its layer is of a class that a constructor was derived
    from. `constructor`: one of those that the function reads."""
    origin = origin_of(constructor)
    own = () if origin is None else origin.constructors
    for kind, line in _asked(inspect.unwrap(getattr(fn, "__func__", fn))):
        if origin is not None and not issubclass(constructor, kind) and any(issubclass(k, kind) for k in own):
            raise SignatureError(
                f"`{name}` asks at line {line} whether a layer is of the class `{kind.__name__}`. That is a class of "
                "your own values, and a layer never is one of these: write the constructor, as in "
                f"`case {origin.constructor(kind)}(…)`."
            )


def _asked(fn: Callable[..., Any]) -> tuple[tuple[type[Any], int], ...]:
    """The classes that a function asks for of its layer, each with its line."""
    if not isinstance(fn, types.FunctionType):
        return ()
    try:
        lines, first = inspect.getsourcelines(fn)
        tree = ast.parse("".join(["if True:\n" if lines[0][:1].isspace() else "\n", *lines]))
    except (OSError, TypeError, SyntaxError, ValueError):
        return ()
    closed = {name: _content(cell) for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)}
    names = {**vars(builtins), **fn.__globals__, **closed}
    found: list[tuple[type[Any], int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda) and getattr(node, "name", "<lambda>") == fn.__name__:
            given = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
            needed = given[: len(given) - len(node.args.defaults)]
            if needed and tuple(given) == fn.__code__.co_varnames[: fn.__code__.co_argcount]:
                found += [(k, first + at - 2) for k, at in _questions(node, needed[-1], names)]  # the layer comes last
    return tuple(found)


def _questions(function: ast.AST, layer: str, names: dict[str, Any]) -> Iterator[tuple[type[Any], int]]:
    """The classes that a function asks for of the variable `layer`, with the lines; none, where it is given anew."""
    inside = (node for node in ast.walk(function) if node is not function)
    if any(map(_gives(layer), inside)):
        return
    for node in ast.walk(function):
        asked: list[ast.expr] = []
        match node:
            case ast.Match(ast.Name(id=x)) if x == layer:
                asked = [kind for case in node.cases for kind in _of_pattern(case.pattern)]
            case ast.Call(ast.Name(id="isinstance"), [ast.Name(id=x), kinds]) if x == layer:
                asked = [kinds]
            case ast.Compare(ast.Call(ast.Name(id="type"), [ast.Name(id=x)]), _, [kinds]) if x == layer:
                asked = [kinds]
        for expression in asked:
            for kind in _classes(expression, names):
                yield kind, expression.lineno


def _gives(variable: str) -> Callable[[ast.AST], bool]:
    """Whether a part of a function gives a variable another value: an assignment, a pattern, an inner function."""

    def gives(node: ast.AST) -> bool:
        match node:
            case ast.Name(name, ast.Store()) | ast.MatchAs(name=name) | ast.MatchStar(name):
                return name == variable
            case ast.FunctionDef(args=inner) | ast.Lambda(inner):
                return variable in [a.arg for a in inner.args]
        return False

    return gives


def _of_pattern(pattern: ast.pattern) -> Iterator[ast.expr]:
    """The classes of a pattern for the whole of what is matched, and not for a part of it."""
    match pattern:
        case ast.MatchClass(kind):
            yield kind
        case ast.MatchOr(patterns):
            for each in patterns:
                yield from _of_pattern(each)
        case ast.MatchAs(ast.pattern() as inner):
            yield from _of_pattern(inner)


def _classes(expression: ast.expr, names: dict[str, Any]) -> Iterator[type[Any]]:
    """The classes that an expression names: one, or several in a tuple or a union."""
    match expression:
        case ast.Tuple(several) | ast.List(several):
            for each in several:
                yield from _classes(each, names)
        case ast.BinOp(left, ast.BitOr(), right):
            yield from _classes(left, names)
            yield from _classes(right, names)
        case ast.Name() | ast.Attribute():
            value = _value(expression, names)
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, type):
                    yield each


def _value(expression: ast.expr, names: dict[str, Any]) -> Any:
    """What a name stands for, or a name with attributes; `None` where that is not known."""
    match expression:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(of, name):
            return getattr(_value(of, names), name, None)
    return None


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty yet
        return None
