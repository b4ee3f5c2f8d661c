"""A field of a layer that is compared with a text, where every payload is a number.

| in a case                                       | of a number | write                                             |
| ----------------------------------------------- | ----------- | ------------------------------------------------- |
| `case Word("so")`, `layer.word == "so"`         | never true  | `word == words.id("so")`                          |
| `word in ("so", "no")`, `word in WORDS`         | never true  | `jnp.isin(word, jnp.array([…]))` of their numbers |
| `case Sign(Op.ADD, a, b)`, of an `enum.Enum`    | never true  | `op == list(Op).index(Op.ADD)`                    |

Neither Python nor JAX raises an error: a number is not equal to a text. A traced number that knows where it comes from
(`_as_defined`) refuses the question as it is asked. In a branch that is traced for other children alone it is not asked
at all, so these questions are looked for in the bytecode too, as in `_kinds`. They are refused there where the field is
certainly one of a constructor: where a pattern names it, or where it is an attribute of a variable that is matched
against constructors, asked for one by `isinstance`, or annotated with a signature.
"""

import contextlib
import dis
import enum
import functools
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from ..._functors import Base
from ..._functors.read import tag
from ...errors import SignatureError
from ..code._bytecode import ATTRIBUTES, captured, given, in_class, last, line, named, subject, variable
from ._differing import one_answer


Layers = frozenset[tuple[str, str]]  # variables that may hold a layer, each with the name of a constructor
MADE = "LOAD_CONST", "BUILD_LIST", "BUILD_TUPLE", "BUILD_SET", "LIST_EXTEND", "SET_UPDATE"  # a collection of constants


@dataclass(frozen=True)
class Compared:
    """What may compare a field with words, which are texts or members of an `enum.Enum`.

    `of` names the constructors, `field` is an attribute of the variable `layer`, and the words are constants, or what
    `path` names.
    """

    line: int
    of: tuple[str, ...]
    layer: str = ""
    field: str = ""
    words: tuple[Any, ...] = ()
    path: str = ""

    def asks(self, names: Mapping[str, Any], hints: Mapping[str, Any]) -> tuple[str, str]:
        """The question in words, and what to write instead, where these names make it one; otherwise `""`. `hints`:
        what arguments are annotated with."""
        words = self.words or _words_in(value_of(self.path, names))
        kinds = {k for name in self.of for k in _each(value_of(name, names))} | {*_each(hints.get(self.layer))}
        constructors = {k for k in kinds if isinstance(k, type) and issubclass(k, Base)}
        if not words or not constructors or (self.layer and not _is_field(self.field, constructors)):
            return "", ""
        return question_of(words)


def question_of(words: tuple[Any, ...]) -> tuple[str, str]:
    """The question whether a payload is one of these words, and what to write instead."""
    if isinstance(member := words[0], enum.Enum):
        of = type(member).__name__
        return (
            f"whether a payload is the member `{member}`",
            f"ask for its position, `jnp.where(x == list({of}).index({member}), a, b)`",
        )
    if len(words) == 1:
        return (
            f"whether a payload is the text {member!r}",
            f"ask for the number of the word, `jnp.where(word == words.id({member!r}), a, b)`, or of a `Literal` "
            "for its position",
        )
    few = f"({', '.join(map(repr, words[:2]))}{', …' * (len(words) > 2)})"
    return (
        f"whether a payload is one of the texts {few}",
        "ask for the numbers of the words, "
        f"`jnp.where(jnp.isin(word, jnp.array([words.id(x) for x in {few}])), a, b)`, or of a `Literal` for their "
        "positions",
    )


def expect_no_word(x: Any) -> None:
    """**Raises:** `Differs` where a number is compared with `x`, a text or a member of an `enum.Enum`."""
    if isinstance(x, str | enum.Enum) and (words := _words_in(x)):
        raise one_answer(*question_of(words))


def value_of(path: str, names: Mapping[str, Any]) -> Any:
    """What a name, or one with attributes, stands for; `None` where that is not known."""
    first, *rest = path.split(".")
    return functools.reduce(lambda x, name: getattr(x, name, None), rest, names.get(first))


def layers_in(steps: list[dis.Instruction], local: dict[str, tuple[str, ...]]) -> Layers:
    """The variables that a function matches against a class, or asks for one by `isinstance`, with the class."""
    found = set[tuple[str, str]]()
    for i, s in enumerate(steps):
        before = steps[:i]
        if s.opname == "MATCH_CLASS":
            found |= {(variable(subject(steps, i)), name) for name in named(last(before[:-1], 1), local)}
        elif s.opname == "CALL" and s.arg == 2:
            kinds = last(before, 1)
            asked = last(before[: len(before) - len(kinds)], 1)
            if named(last(before, 4), {})[:1] == ("isinstance",):
                found |= {(variable(asked), name) for name in named(kinds, local)}
    return frozenset((x, name) for x, name in found if x)


def compared(
    steps: list[dis.Instruction], i: int, local: dict[str, tuple[str, ...]], layers: Layers
) -> Iterator[Compared]:
    """What one instruction compares with a text: a field in a pattern, or as named by one, or an attribute."""
    before = steps[:i]
    both, right = last(before, 2), last(before, 1)
    left = both[: len(both) - len(right)]
    for value, other in ((left, right), (right, left)):
        words, path = _words_of(other), _path(other)
        if not (words or path):
            continue
        at = in_class(steps, i, len(other)) if other is right else None
        if at is None and (name := variable(value)):
            at = captured(steps, name)
        if at is not None:
            yield Compared(line(steps[i]), named(last(steps[: at - 1], 1), local), words=words, path=path)
            continue
        of_layer = value if len(value) > 1 else given(steps, variable(value))
        layer, field = _attribute(of_layer)
        if layer:
            of = tuple(name for x, name in sorted(layers) if x == layer)
            yield Compared(line(steps[i]), of, layer, field, words, path)


def _attribute(steps: list[dis.Instruction]) -> tuple[str, str]:
    """The variable and the attribute, of instructions that read one attribute of a variable; otherwise `""`."""
    if len(steps) == 2 and steps[1].opname in ATTRIBUTES:
        return variable(steps[:1]), str(steps[1].argval)
    return "", ""


def _words_of(steps: list[dis.Instruction]) -> tuple[str, ...]:
    """The texts that these instructions leave: one, or those of a collection of constants."""
    if not all(s.opname in MADE for s in steps):
        return ()
    return tuple(text for s in steps if s.opname == "LOAD_CONST" for text in _words_in(s.argval))


def _words_in(value: Any) -> tuple[Any, ...]:
    """The words of a value: itself, or the texts in a collection."""
    if isinstance(value, str):
        return (str.__str__(value),)
    if isinstance(value, enum.Enum) and not isinstance(value, int | float):
        return (value,)
    if isinstance(value, tuple | list | set | frozenset | Mapping):
        return tuple(sorted({str.__str__(x) for x in value if isinstance(x, str)}))
    return ()


def _path(steps: list[dis.Instruction]) -> str:
    """The name that these instructions read, with attributes; `""` where they do more, or it is a variable."""
    if not steps or steps[0].opname not in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"):
        return ""
    return ".".join(str(s.argval) for s in steps) if all(s.opname in ATTRIBUTES for s in steps[1:]) else ""


def _each(kinds: Any) -> Iterator[Any]:
    """Classes, one by one, of one, several, or an annotation."""
    if isinstance(kinds, tuple | list):
        for kind in kinds:
            yield from _each(kind)
    elif isinstance(kinds, type) and not isinstance(kinds, types.GenericAlias):
        yield kinds
    elif isinstance(origin := get_origin(kinds), type) and issubclass(origin, Base):
        yield origin
    elif origin is not None:
        yield from _each(get_args(kinds))


def _is_field(name: str, constructors: set[type[Any]]) -> bool:
    """Whether a name is that of a field in the functor of these constructors, and nothing else that one of them has."""
    if any(hasattr(k, name) and name not in getattr(k, "__match_args__", ()) for k in constructors):
        return False
    tags = {tag(k) for k in constructors}
    for k in Base.__subclasses__():
        if name in k.__match_args__:
            with contextlib.suppress(SignatureError):  # of a constructor that has nothing to do with these
                if tag(k) in tags:
                    return True
    return False
