"""JSON as trees, without loss: whole numbers stay whole, and keys keep their order.

| the mathematics         | here                                                                           |
| ----------------------- | ------------------------------------------------------------------------------ |
| `Many(X)`               | `Object`: its members; `Array`: its items                                      |
| `A × X`                 | `Member`: a key, and the value under it; it stands in an `Object` alone        |
| `A`, a number, `2`, `1` | `String`, `Number`, `Boolean`, `Null`                                          |

`A` is what stands for a text: `str` at first, and a whole number once a `Vocabulary` has numbered the words.
"""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, cast, Generic, Never, TypeAlias, TypeVar, Union

from .._functors import Base, Fix, Many
from .._functors.origin import originate
from .._functors.usage import with_usage
from .._functors.words import an, short
from ..errors import CdlError, TreeTooLarge
from ._kinds import by_constructor, Kind, refuse_value, Slot, Table, to_tree, to_value


A = TypeVar("A", covariant=True)  # a text, or its number
X = TypeVar("X", covariant=True)  # a recursive place


class JSON(Generic[A]):
    """The name of the functor of JSON values, whose texts are of type `A`.

    Examples:
        >>> record: cdl.Fix[cdl.trees.JSON[str]] = cdl.trees.of_json([1, True])
        >>> record
        Array(Many([Number(1), Boolean(True)]))
    """


class Object(Base["JSON[A]", X], Generic[A, X]):
    """`{…}`: its members, in order.

    Examples:
        >>> cdl.trees.of_json({})
        Object(Many([]))
    """

    members: Many[X]


class Member(Base["JSON[A]", X], Generic[A, X]):
    """A key and the value under it, in an `Object`.

    Examples:
        >>> cdl.trees.of_json({"a": 1}).members.items[0]
        Member('a', Number(1))
    """

    key: A
    value: X


class Array(Base["JSON[A]", X], Generic[A, X]):
    """`[…]`: its items, in order.

    Examples:
        >>> cdl.trees.of_json([1, "b"])
        Array(Many([Number(1), String('b')]))
    """

    items: Many[X]


class String(Base["JSON[A]", Never], Generic[A]):
    """A text.

    Examples:
        >>> cdl.trees.of_json("a")
        String('a')
    """

    value: A


class Number(Base[Never, Never]):
    """A number: an `int` or a `float` in the tree, and a float once it is packed.

    Examples:
        >>> cdl.trees.of_json(2.5)
        Number(2.5)
    """

    value: float


class Boolean(Base[Never, Never]):
    """`true` or `false`.

    Examples:
        >>> cdl.trees.of_json(True)
        Boolean(True)
    """

    value: bool


class Null(Base[Never, Never]):
    """`null`.

    Examples:
        >>> cdl.trees.of_json(None)
        Null()
    """


JSONF: TypeAlias = Union[Object[A, X], Member[A, X], Array[A, X], String[A], Number, Boolean, Null]
"""One layer of JSON: `Object`, `Member`, `Array`, `String`, `Number`, `Boolean` or `Null`.

Examples:
    >>> str(cdl.functor(cdl.trees.JSONF))
    'Many(X) + A × X + Many(X) + A + float + bool + 1'
"""


@with_usage
def of_json(value: Any) -> Fix[JSON[str]]:
    """A value as the module `json` reads it, as a tree of `JSON`.

    ```python
    tree = cdl.trees.of_json(json.loads('{"a": [1, 2.5, null]}'))
    forest = cdl.pack(cdl.trees.JSONF, [cdl.trees.Vocabulary.of([tree]).encode(tree)])
    ```

    **Arguments:** `value`: a `dict` with texts as keys, a `list`, `str`, `int`, `float`, `bool` or None, of any depth.

    **Raises:** `CdlError` for a value of another type, also of a subclass, with the path to it; `TreeTooLarge` for a
    value inside itself.

    Examples:
        >>> cdl.trees.of_json({"a": [1, True]})
        Object(Many([Member('a', Array(Many([Number(1), Boolean(True)])))]))
    """
    try:
        return cast("Fix[JSON[str]]", to_tree(_VALUES, value))
    except TreeTooLarge:
        raise
    except CdlError as error:
        raise CdlError(_foreign(value) or str(error)) from None


@with_usage
def to_json(tree: Fix[JSON[str]]) -> Any:
    """The value that `of_json` makes the tree of: `to_json(of_json(value)) == value`, and each number keeps its type.

    **Raises:** `ForeignLayer` where a `Member` stands outside an `Object`, or another tree in one; `CdlError` where an
    object has one key twice, or a text is a number that stands for it.

    Examples:
        >>> cdl.trees.to_json(cdl.trees.of_json({"a": [1, True]}))
        {'a': [1, True]}
    """
    return to_value(_TREES, tree)


def _object(values: list[Any]) -> dict[str, Any]:
    (members,) = values
    found = dict(members)
    if len(found) < len(members):
        keys = [key for key, _ in members]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise CdlError(f"an `Object` has the key {short(twice)} twice, of which a `dict` keeps one: leave one out.")
    return found


def _foreign(value: Any) -> str | None:
    """What an error says of the first part that is not JSON."""
    todo: list[tuple[Any, Any]] = [(value, None)]
    while todo:
        x, path = todo.pop()
        if type(x) is dict:
            if (key := next((k for k in x if type(k) is not str), None)) is not None or None in x:
                return (
                    f"`{_text(path)}` has the key {short(key)}, {an(type(key).__name__)}: a key of JSON is a `str`. "
                    "Write the key as a text."
                )
            todo += [(v, (path, f".{k}" if k.isidentifier() else f"[{k!r}]")) for k, v in reversed(x.items())]
        elif type(x) is list:
            todo += [(v, (path, f"[{i}]")) for i, v in reversed(list(enumerate(x)))]
        elif type(x) not in _KINDS:
            return (
                f"`{_text(path)}` is {short(x)}, {an(type(x).__name__)}, and a JSON value is a `dict`, `list`, `str`, "
                "`int`, `float`, `bool` or None, and of no subclass: convert it first."
            )
    return None


def _text(path: Any) -> str:
    """A path as it is written, `$.users[3].name`; of a long one, the end."""
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(step)
    return "$" + "".join(["…", *steps[9::-1]] if len(steps) > 10 else steps[::-1])


def _tables() -> Iterator[Any]:
    """The kinds of the values by their types, and by their constructors."""
    anything: Table = Table({}, lambda kind: refuse_value("a part", "a JSON value", kind))
    trees: Table = Table({}, lambda kind: None)
    text = lambda v: refuse_value("a text of JSON", "a `str`", v)
    number = lambda v: refuse_value("a number of JSON", "an `int` or a `float`", v)
    truth = lambda v: refuse_value("a truth value of JSON", "a `bool`", v)
    same, first, whole = lambda v: v, lambda values: values[0], frozenset({int, float})
    key = Slot("key", "payload", itemgetter(0), {str}, {str}, text)
    member = Kind(Member, (key, Slot("value", "one", itemgetter(1), anything, trees)), tuple)
    pairs, members = Table({tuple: member}, anything.refuse), by_constructor("an `Object`", [member])
    entries = lambda found: list(found.items())
    kinds = {
        dict: Kind(Object, (Slot("members", "many", entries, pairs, members),), _object),
        list: Kind(Array, (Slot("items", "many", same, anything, trees),), first),
        str: Kind(String, (Slot("value", "payload", same, {str}, {str}, text),), first),
        int: (numbers := Kind(Number, (Slot("value", "payload", same, whole, whole, number),), first)),
        float: numbers,
        bool: Kind(Boolean, (Slot("value", "payload", same, {bool}, {bool}, truth),), first),
        type(None): Kind(Null, (), lambda values: None),
    }
    anything.update(kinds)
    by_value = by_constructor("a JSON value", kinds.values())
    trees.update(by_value)
    trees.refuse = by_value.refuse
    yield anything
    yield trees
    yield frozenset(kinds)


_VALUES, _TREES, _KINDS = _tables()
originate({"member": Member} | {kind: _VALUES[kind].constructor for kind in _KINDS}, "cdl.trees.of_json(value)")
