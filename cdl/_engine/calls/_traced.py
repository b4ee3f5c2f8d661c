"""A user's function, traced for many nodes at once: JAX's errors come through, with a note of what was traced."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from ..._functors.described import described
from ..._functors.many import Many, source_of
from ..._schemes.algebras import apply, name_of
from ...errors import CarrierMismatch, CdlError
from ..arrays.shapes import shown


@contextlib.contextmanager
def noted(name: str, given: Callable[[], str], advice: str = "") -> Iterator[None]:
    """Around a call of the user's function `name`: an error is noted with what it was called for, and some advice."""
    try:
        yield
    except CdlError:
        raise
    except Exception as error:
        error.add_note(f"cdl called `{name}` for {given()}" + (f": {advice}." if advice else "."))
        raise


def applied(alg: Any, layer: Any, key: Any = None) -> Any:
    """The algebra at a layer of traced values.

    **Raises:** `CarrierMismatch` where it returns anything other than numbers; other errors with a note.
    """
    name, kind = name_of(alg), type(layer).__name__
    with noted(
        name,
        lambda: f"`{_without_children(layer)}`",
        "its fields are traced: decide by `jnp.where`, not `if`",
    ):
        value = apply(alg, layer, key)
    for x in jax.tree.leaves(value):
        if not is_number(x):
            raise CarrierMismatch(
                f"`{name}` returns {described(x)} at `{kind}`, and a compiled carrier is made of numbers and arrays: "
                "number the values, or read one tree at a time with `cata`."
            )
    return value


class _Children:
    """In place of a `Many`, whose children cannot be listed: the shapes of one."""

    def __init__(self, many: Many[Any]) -> None:
        child = getattr(source_of(many), "child", None)
        self.shown = "" if child is None else f"{' '.join(shown(child).split())}, "

    def __repr__(self) -> str:
        return f"Many({self.shown}…)"


def _without_children(layer: Any) -> str:
    """A layer with the shapes of its fields; of a `Many` those of one child."""
    is_many: Any = lambda x: isinstance(x, Many)
    fields = {n: getattr(layer, n) for n in layer.__match_args__}
    plain = {
        n: jax.tree.map(lambda x: _Children(x) if is_many(x) else x, x, is_leaf=is_many) for n, x in fields.items()
    }
    each = ", ".join(f"{n}={' '.join(shown(x).split())}" for n, x in plain.items())
    return f"{type(layer).__name__}({each})"


def is_number(x: Any) -> bool:
    """Whether a leaf is a number or an array of numbers, or of keys."""
    if isinstance(x, bool | int | float | complex | jax.Array):
        return True
    kind = getattr(x, "dtype", None)
    return kind is not None and (jnp.issubdtype(kind, jnp.number) or jnp.issubdtype(kind, jnp.bool_))


@contextlib.contextmanager
def reverse_only(of: str, instead: str) -> Iterator[None]:
    """Around a reverse rule. JAX's error is noted where forward mode meets it. `instead`: what to write."""
    try:
        yield
    except TypeError as error:
        if "custom_vjp" in str(error) and "jvp" in str(error):
            error.add_note(f"`{of}` has a rule for reverse mode alone: {instead}.")
        raise
