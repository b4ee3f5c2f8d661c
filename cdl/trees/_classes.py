"""A signature from classes that are not dataclasses, such as those of `ast`: `Σ Many(X)`, a summand for each class."""

from collections.abc import Callable, Iterable
from typing import Any, cast, TypeVar, Union

from .._functors import Many
from .._functors.usage import with_usage
from .._functors.words import an
from ..errors import CdlError, SignatureError
from ._constructors import constructor, Constructors
from ._dataclasses import Derived
from ._kinds import by_constructor, Kind, refuse_value, Slot, Table


X = TypeVar("X", covariant=True)  # a recursive place


@with_usage
def of_classes(
    classes: Iterable[type[Any]],
    children: Callable[[Any], Iterable[Any]],
    *,
    build: Callable[[type[Any], list[Any]], Any] | None = None,
    tag: type[Any] | None = None,
) -> Derived:
    """The signature of a family of classes, by a function that lists the children of a value.

    Each class is a constructor of its name with one field, `children`, which has `Many` children. What else is in a
    value is left out.

    ```python
    kinds = [
        kind
        for kind in vars(ast).values()
        if isinstance(kind, type) and issubclass(kind, ast.AST)
    ]
    made = cdl.trees.of_classes(kinds, ast.iter_child_nodes)
    tree = made.to_tree(ast.parse("x = f(1)"))
    ```

    **Arguments:**

    - `classes`: the classes of the values, and not their bases.
    - `children`: the children of a value, in order.
    - `build`: a value from its class and its children, for the way back.
    - `tag`: the name of the functor; without it, a new class.

    **Returns:** a `Derived`, whose `to_value` needs `build`.

    **Raises:** `SignatureError` for an empty list of classes. `to_tree` raises `CdlError` for a value of another class.
    """
    kinds = tuple(dict.fromkeys(classes))
    if not kinds or not all(isinstance(kind, type) for kind in kinds):
        raise SignatureError(
            "`of_classes` takes a list of classes, the first of its arguments, and there is none in it."
        )
    tag = type("Classes", (), {}) if tag is None else tag
    annotations = {"children": cast("Any", Many)[X]}
    made = {kind: constructor(kind.__name__, tag, [X], annotations, tag.__module__) for kind in kinds}
    names = ", ".join(kind.__name__ for kind in kinds[:8]) + ", …" * (len(kinds) > 8)
    there = Table({}, lambda kind: _refuse(kind, names))
    back = Table({}, lambda kind: None)
    listed = lambda value: list(children(value))
    check = lambda value: refuse_value("`children`", "a list", value)
    slots = (Slot("children", "many", listed, there, back, check),)
    there.update({kind: Kind(of, slots, _building(build, kind)) for kind, of in made.items()})
    found = by_constructor("`children`", there.values())
    back.update(found)
    back.refuse = found.refuse
    return Derived(Union[tuple(made.values())], Constructors(made), there, back)


def _building(build: Callable[[type[Any], list[Any]], Any] | None, kind: type[Any]) -> Callable[[list[Any]], Any]:
    if build is None:
        return lambda values: _refuse_back()
    return lambda values: build(kind, values[0])


def _refuse(kind: type[Any], names: str) -> Any:
    raise CdlError(f"{an(kind.__name__)} is not of the classes that the signature was made from: {names}.")


def _refuse_back() -> Any:
    raise CdlError(
        "`of_classes` was given no `build`, so that there is no way back: give a function of a class and children."
    )
