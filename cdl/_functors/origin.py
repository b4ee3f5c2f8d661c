"""Where constructors come from that were derived: the classes of a user's values, and how a value becomes a tree."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from returns.result import Result


@dataclass(frozen=True, eq=False)
class Origin:
    """What constructors were derived from.

    `constructors` has the constructor of each class. `way` is how a value of these classes becomes a tree. `prefix` is
    what a user writes before the name of a constructor.
    """

    constructors: Mapping[type[Any], type[Any]]
    way: str
    prefix: str = ""

    def constructor(self, own: type[Any]) -> str:
        """How the constructor of a class is written; of a class that others extend, the first of theirs."""
        return self.prefix + next(made.__name__ for kind, made in self.constructors.items() if issubclass(kind, own))


_OWN: dict[type[Any], Origin] = {}  # by users' classes; JAX never frees their constructors either


def originate(constructors: Mapping[Any, type[Any]], way: str, prefix: str = "") -> None:
    """Says of constructors what they were derived from. `constructors`: by class; what is not a class is left out."""
    classes = {own: made for own, made in constructors.items() if isinstance(own, type)}
    origin = Origin(classes, way, prefix)
    for made in constructors.values():
        made.__cdl_origin__ = origin
    _OWN.update({own: origin for own in classes if own.__module__ != "builtins"})


def origin_of(constructor: type[Any]) -> Origin | None:
    """What a constructor was derived from; `None` for one that was written."""
    return getattr(constructor, "__cdl_origin__", None)


def of_constructors(constructor: type[Any]) -> str:
    """What an error says besides of a layer for which there is no case: nothing, or which constructor a case is for."""
    origin = origin_of(constructor)
    if origin is None:
        return ""
    return f" A case is for a constructor, `case {origin.prefix}{constructor.__name__}(…)`, and not for your own class."


def not_yet_a_tree(value: Any, constructors: Iterable[type[Any]] = ()) -> str:
    """What an error says besides, where a value that could be made a tree stands for one: nothing, or a sentence.

    `constructors`: those of the signature in question, where it is known.
    """
    kind = type(value)
    if isinstance(value, Result):
        return " A result holds its tree: `result.unwrap()`. Of what `unfold` gives, `grown.trees()` are all trees."
    known = (origin_of(made) for made in constructors)
    found = [origin for origin in known if origin is not None and issubclass(kind, tuple(origin.constructors))]
    origin = found[0] if found else _OWN.get(kind)
    return "" if origin is None else f" Make the `{kind.__name__}` a tree first: `{origin.way}`."


def written(constructor: type[Any]) -> str:
    """How a program writes a constructor: by its name, and for one that was derived, what it was taken from."""
    origin = origin_of(constructor)
    return f"{'' if origin is None else origin.prefix}{constructor.__name__}"


def not_a_constructor(kind: type[Any]) -> str:
    """What an error says besides, where a class of a user's own stands for a constructor: nothing, or a sentence."""
    origin = _OWN.get(kind)
    if origin is None:
        return ""
    return f" `{kind.__name__}` is your own class: write `{origin.constructor(kind)}`, which was derived from it."
