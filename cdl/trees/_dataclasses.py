"""A signature from dataclasses, and the way there and back.

| the user's types                                     | the signature                                              |
| ---------------------------------------------------- | ---------------------------------------------------------- |
| a dataclass                                          | a constructor of its name, with its fields                 |
| classes that may stand at one place                  | constructors of one sort                                   |
| a payload, a list or `None`, where others may stand  | a constructor too: `Str`, `Int`, `List`, `Nothing`, …      |
"""

import dataclasses
import sys
from dataclasses import dataclass
from typing import Any, Union

from .._functors import constructors, Fix
from .._functors.described import described
from .._functors.poly import name
from .._functors.usage import whole, with_usage
from ..errors import SignatureError
from ._constructors import Constructors, constructors_of, sorts_of
from ._fields import Fields, fields_of
from ._kinds import by_constructor, MAX_NODES, Table, to_tree, to_value
from ._parts import Choice, NONE, Place, place, Scalar, Several
from ._tables import kinds_of, table


@dataclass(frozen=True, eq=False, repr=False)
class Derived:
    """A signature that was read from classes, with functions from their values to trees and back.

    - `signature`: what `pack` and `functor` take: a union of constructors, or a tuple of unions, one for each sort.
    - `constructors`: the constructor of each class. `made.constructors[Num]` is the one of your class `Num`, and
      `made.constructors.Num` the one of that name, which a pattern can have: `case made.constructors.Num(value)`. Those
      of payloads, lists and `None` are found by `int`, `str`, `list`, `None`, or as `Int`, `Str`, `List`, `Nothing`.

    An algebra of these trees matches the constructors. Your own classes, which layers are never instances of, are
    refused in it.

    Examples:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Point:
        ...     x: float
        >>> @dataclass
        ... class Line:
        ...     start: Point
        ...     end: Point
        >>> made = cdl.trees.of_dataclasses(Line | Point, sorts=False)
        >>> made.to_tree(Line(Point(1.0), Point(4.0)))
        Line(Point(1.0), Point(4.0))
    """

    signature: Any
    constructors: Constructors
    _there: Table
    _back: Table

    @with_usage
    def to_tree(self, value: Any, *, max_nodes: int = MAX_NODES) -> Fix[Any]:
        """The tree of a value of any of the classes, which may be as deep as memory allows.

        **Raises:** `CdlError` where a value is not what its field's annotation says, with the class and the field;
        `TreeTooLarge` where a value is inside itself, or has more than `max_nodes` nodes.
        """
        return to_tree(self._there, value, whole("max_nodes", max_nodes))

    def to_value(self, tree: Fix[Any]) -> Any:
        """The value that a tree is of: `to_value(to_tree(value)) == value`.

        Fields are set as `pickle` sets them: `__init__` and `__post_init__` are not called, because the fields already
        hold what they did. Attributes that are not fields are not kept.

        **Raises:** `ForeignLayer` where a constructor stands at a place of another sort, `CdlError` where a payload is
        not what its field's annotation says: the number of a word, say, which a `Vocabulary` can `decode`.
        """
        return to_value(self._back, tree)

    def __repr__(self) -> str:
        sorts = self.signature if isinstance(self.signature, tuple) else (self.signature,)
        named = (", ".join(kind.__name__ for kind in constructors(some)) for some in sorts)
        return f"Derived({'; '.join(named)})"


@with_usage
def of_dataclasses(of: Any, *, sorts: bool = True) -> Derived:
    """Derives a signature from your dataclasses, with functions from your objects to trees and back.

    ```python
    @dataclass
    class Lit:
        value: float


    @dataclass
    class Add:
        left: "Lit | Add"
        right: "Lit | Add"


    made = cdl.trees.of_dataclasses(Lit | Add)
    forest = cdl.pack(made.signature, [made.to_tree(Add(Lit(1.0), Lit(2.0)))])
    ```

    | a field                                         | in the tree                                                |
    | ----------------------------------------------- | ---------------------------------------------------------- |
    | a dataclass, a union, a class that they extend  | a child                                                    |
    | `list[A]`, `tuple[A, ...]`                      | `Many` children                                            |
    | `Optional[A]`                                   | a child, or `None`                                         |
    | `tuple[A, B]`                                   | two fields                                                 |
    | `int`, `float`, `complex`, `bool`, `str`, an array | a payload, unchanged                                    |
    | an `Enum`, `Literal["a", "b"]`                  | a payload: its position, from 0                            |

    Where a list, a union or an option is of payloads, these have constructors: `list[str]` is `Many` of `Str`.

    **Arguments:**

    - `of`: a dataclass, a class that dataclasses extend, or a union of these. A class that is abstract, or that has no
      fields and others below it, has no constructor.
    - `sorts`: whether classes that never stand at one place are of different sorts. Otherwise all are constructors of a
      single functor, so that one network reads them all, and any may stand anywhere as far as `pack` can tell.

    **Returns:** a `Derived`. The same classes give the same one again.

    **Raises:** `SignatureError` for a field that has no reading, with its class, its name and what to write instead.
    """
    if isinstance(of, list | tuple) and of:
        raise SignatureError(
            f"`of_dataclasses` was given {described(of)}: of several classes, give the union, "
            f"`{' | '.join(map(name, of))}`."
        )
    if dataclasses.is_dataclass(of) and not isinstance(of, type):
        raise SignatureError(
            f"`of_dataclasses` was given {described(of)}, a value: give its class, `of_dataclasses(type(value))`."
        )
    root = place(of, f"`{name(of)}`", scope := _scope_of_caller())
    fields: dict[Any, Fields] = {}
    places, todo = [root], [*root.of]
    for alternative in todo:
        if alternative not in fields:
            fields[alternative] = fields_of(alternative, scope)
            for field in fields[alternative].flat:
                below = field.what.of if isinstance(field.what, Several) else field.what
                if isinstance(below, Place):
                    places.append(below)
                    todo += below.of
    said = tuple((a, tuple((f.name, f.where, f.what) for f in found.flat)) for a, found in fields.items())
    if (key := (root, said, bool(sorts))) not in _KNOWN:
        _KNOWN[key] = _derived(root, places, fields, bool(sorts))
    return _KNOWN[key]


_KNOWN: dict[Any, Derived] = {}  # constructors are never freed by JAX, and trees of other ones would be foreign


def _derived(root: Place, places: list[Place], fields: dict[Any, Fields], sorts: bool) -> Derived:
    by_sort = sorts_of(fields, places) if sorts else [list(fields)]
    made = constructors_of(by_sort, fields)
    kinds = kinds_of(made, fields)
    unions = tuple(Union[tuple(made[a] for a in some)] for some in by_sort)
    anywhere = Place(tuple(dict.fromkeys([*root.of, *(a for a in made if isinstance(a, type) and a is not NONE)])))
    back = by_constructor("the root", (kinds[a] for a in anywhere.of))
    public = {_key(a): constructor for a, constructor in made.items()}
    return Derived(
        unions[0] if len(unions) == 1 else unions, Constructors(public), table(anywhere, "the root", kinds), back
    )


def _key(alternative: Any) -> Any:
    """What a user finds a constructor by."""
    if isinstance(alternative, Scalar | Choice):
        return alternative.annotation
    if isinstance(alternative, type):
        return None if alternative is NONE else alternative
    return alternative.container if isinstance(alternative, Several) else tuple


def _scope_of_caller() -> dict[str, Any]:
    """The names that are known where the signature is derived, for annotations of classes that a function defines."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("cdl", "jaxtyping"):
        frame = frame.f_back
    return {**frame.f_globals, **frame.f_locals}
