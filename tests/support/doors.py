"""Wrong kinds of arguments at a public door: each is a `CdlError` that the caller reads, and none an error from inside.

A door is called with arguments that it takes, one of them replaced by something else, at each place and each of the
wrong values that do not fit the annotation there.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_type_hints

import equinox as eqx
import jax.numpy as jnp
from typeguard import check_type, TypeCheckError

import cdl
from cdl._typecheck import ALIASES, expand


@cdl.algebra
def an_algebra(layer: cdl.ListF[float, float]) -> float:
    match layer:
        case cdl.Nil():
            return 0.0
        case cdl.Cons(head, tail):
            return head + tail


def a_machine(state: float) -> cdl.MooreF[float, float, float]:
    return cdl.MooreF(state, lambda i: state + i)


WRONG: Mapping[str, Any] = {
    "None": None,
    "a list": [1, 2, 3],
    "an empty list": [],
    "an empty tuple": (),
    "a dictionary": {"a": 1},
    "a set": {1, 2},
    "a text": "words",
    "a whole number": 3,
    "a negative number": -1,
    "a number": 2.5,
    "an object": object(),
    "a class": int,
    "the class of a module": eqx.nn.Linear,
    "a function of nothing": lambda: None,
    "an array": jnp.ones((2, 3)),
    "a tree": cdl.Cons(1.0, cdl.Nil()),
    "an algebra": an_algebra,
    "a machine": a_machine,
}


def refused(door: Callable[..., Any], *good: Any, wrong: Mapping[int | str, Any] = {}, **named: Any) -> list[str]:
    """What is not refused as it should be, of a door that takes these arguments.

    `wrong` has the names of the wrong values of a place whose annotation does not tell, such as `Any`.
    """
    door(*good, **named)  # these it takes
    signature, hints = inspect.signature(door), _hints(door)
    given = signature.bind(*good, **named).arguments
    found = []
    for place, name in enumerate(given):
        for words, value in _wrong(hints.get(name), wrong.get(place, wrong.get(name, ()))):
            if problem := _problem(door, signature, {**given, name: value}):
                found.append(f"{getattr(door, '__qualname__', door)}: {words} for `{name}` {problem}")
    return found


def _problem(door: Any, signature: inspect.Signature, arguments: dict[str, Any]) -> str | None:
    bound = inspect.BoundArguments(signature, arguments)  # type: ignore[arg-type]
    try:
        door(*bound.args, **bound.kwargs)
    except cdl.CdlError as error:
        return None if str(error) else "is refused without a word"
    except Exception as error:
        return f"gives {type(error).__name__}: {error}"[:150]
    return "is taken"


def _wrong(hint: Any, also: Any) -> Iterator[tuple[str, Any]]:
    for words, value in WRONG.items():
        module = words == "the class of a module" and "Callable" in str(hint)
        if words in also or module or (hint is not None and not _fits(value, hint)):
            yield words, value


def _fits(value: Any, hint: Any) -> bool:
    origin = getattr(hint, "__origin__", None)
    try:
        check_type(value, expand(origin, hint.__args__) if type(origin) in ALIASES else hint)
    except TypeCheckError:
        return False
    except Exception:  # it does not tell
        return True
    return True


def _hints(door: Any) -> dict[str, Any]:
    return get_type_hints(door.__init__ if isinstance(door, type) else inspect.unwrap(door))
