"""Questions of a case that a compiled function would answer silently, and wrongly: every payload is an array there.

| in a case                                                     | write                                             |
| ------------------------------------------------------------- | ------------------------------------------------- |
| `case Word("so")`, `word == "so"`, `word in ("so", "no")`     | `word == words.id("so")`                          |
| `case Sign(Op.ADD, a, b)`, `op == Op.ADD`, of an `enum.Enum`  | `op == list(Op).index(Op.ADD)`                    |
| `case Flag(True)`, `v is True`                                | `jnp.where(v, a, b)`                              |
| `isinstance(v, int)`, `case Num(int(n))`                      | a constructor for each kind                       |

They are looked for in the source of a case, once for each trace; where there is no source, nothing is found. They
are asked of a name that the pattern of a constructor captures, or of an attribute of a variable that is matched against
one.
"""

import ast
import builtins
import contextlib
import enum
import functools
import inspect
import pathlib
import textwrap
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import equinox as eqx

from ..._functors import Base
from ..._schemes.algebras import function_of
from ...errors import CdlError


KINDS = bool, int, float, complex, str
WORD = "compare its index, `word == words.id(…)`, or `list(Op).index(Op.ADD)`"
TRUTH = "write `jnp.where(v, a, b)`"
KIND = "write a constructor for each kind"


def expect_arrays(value: Any) -> None:
    """Looks at each algebra, and at those that it is made of. **Raises:** `CdlError` for a case that asks of a payload
    what has one answer of arrays, with its line."""
    if isinstance(value, tuple | list | dict):
        for x in value.values() if isinstance(value, dict) else value:
            expect_arrays(x)
    elif isinstance(value, eqx.Module):
        _expect(function_of(value))
        for x in vars(value).values():
            expect_arrays(x)
    elif isinstance(value, types.FunctionType):
        _expect(value)


def _expect(fn: Any) -> None:
    fn = inspect.unwrap(fn)
    if not isinstance(fn, types.FunctionType) or (tree := _source(fn.__code__)) is None:
        return
    names = {**vars(builtins), **fn.__globals__}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # a name that has no value yet
            names[name] = cell.cell_contents
    for x in _asked(tree, names):
        if advice := _advice(_value(x, names)):
            at = f"at line {fn.__code__.co_firstlineno + x.lineno - 1} of {pathlib.Path(fn.__code__.co_filename).name}"
            raise CdlError(
                f"`{fn.__qualname__}` asks whether a payload is `{ast.unparse(x)}` {at}: it is an array, and the "
                f"answer is the same for all. So {advice}."
            )


@functools.lru_cache(maxsize=1024)
def _source(code: types.CodeType) -> Any:
    """The definition of a function, or of a lambda that is alone in its lines; `None` where there is no source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return None
    kinds = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    found = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return found[0] if len(found) == 1 or (kinds is ast.FunctionDef and found) else None


def _asked(tree: Any, names: Mapping[str, Any]) -> Iterator[Any]:
    """What a payload is matched against, compared with, or asked to be an instance of."""
    payloads, fields = set[str](), dict[str, set[str]]()  # names of payloads; of what is matched, with its fields
    for node in ast.walk(tree):
        match node:
            case ast.MatchClass() if _constructors(node.cls, names):
                payloads |= {x.name for x in _fields(node) if isinstance(x, ast.MatchAs) and x.name}
            case ast.Match(ast.Name(name), cases):
                for pattern in (x for case in cases for x in ast.walk(case.pattern)):
                    if isinstance(pattern, ast.MatchClass):
                        fields.setdefault(name, set()).update(_constructors(pattern.cls, names))
            case ast.Call(ast.Name("isinstance"), [ast.Name(name), kind]):
                fields.setdefault(name, set()).update(_constructors(kind, names))
    payloads -= {x.id for x in ast.walk(tree) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}

    def is_payload(x: ast.AST) -> bool:
        match x:
            case ast.Name(name):
                return name in payloads
            case ast.Attribute(ast.Name(name), field):
                return field in fields.get(name, ())
        return False

    for node in ast.walk(tree):
        match node:
            case ast.MatchClass() if _constructors(node.cls, names):
                yield from _fields(node)
            case ast.Match(subject, cases) if is_payload(subject):
                yield from _each(case.pattern for case in cases)
            case ast.Compare(left, [op, *_], others) if any(map(is_payload, (left, *others))):
                by_identity = isinstance(op, ast.Is | ast.IsNot)
                yield from (x for x in (left, *others) if by_identity or not isinstance(_value(x, names), bool))
            case ast.Call(ast.Name("isinstance"), [x, kind]) if is_payload(x):
                yield kind


def _advice(value: Any) -> str:
    """What to write where a payload is asked whether it is this; `""` where that may be asked."""
    each = value if isinstance(value, tuple | list | set | frozenset) else (value,)
    if any(isinstance(x, str) or (isinstance(x, enum.Enum) and not isinstance(x, int | float)) for x in each):
        return WORD
    if isinstance(value, bool):
        return TRUTH
    return KIND if each and all(any(x is kind for kind in KINDS) for x in each) else ""


def _constructors(kind: ast.AST, names: Mapping[str, Any]) -> set[str]:
    """The fields of the constructors that an expression names, and `""`; nothing where it names something else."""
    kinds = _value(kind, names)
    each = kinds if isinstance(kinds, tuple) else (kinds,)
    found = [k for k in each if isinstance(k, type) and issubclass(k, Base)]
    return {"", *(field for k in found for field in k.__match_args__)} if found else set()


def _fields(node: Any) -> list[ast.pattern]:
    """The patterns at the fields of a constructor."""
    return _each([*node.patterns, *node.kwd_patterns])


def _each(patterns: Iterable[ast.pattern]) -> list[ast.pattern]:
    """Patterns one by one, where there are several for one, or a name for one."""
    some = [y for x in patterns for y in (x.patterns if isinstance(x, ast.MatchOr) else [x])]
    return [y for x in some for y in ([x.pattern, x] if isinstance(x, ast.MatchAs) and x.pattern else [x])]


def _value(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """What a constant, a name, an attribute, several of these or a pattern stands for; `None` where it is not known."""
    match node:
        case ast.Constant(value) | ast.MatchSingleton(value):
            return value
        case ast.Name(name):
            return names.get(name)
        case ast.Attribute(of, name):
            return getattr(_value(of, names), name, None)
        case ast.MatchValue(of) | ast.MatchClass(of):
            return _value(of, names)
        case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts):
            return tuple(_value(x, names) for x in parts)
        case ast.BinOp(left, ast.BitOr(), right):
            return _value(left, names), _value(right, names)
    return None
