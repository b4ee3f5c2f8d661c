"""Actions on pytrees, and on what is inside a layer.

| the mathematics                                    | here                                     |
| -------------------------------------------------- | ---------------------------------------- |
| `m · (x, y) = (m · x, m · y)`, on a pytree         | `moved(word, actions, value)`            |
| `d/dt exp(t A) · x` at `t = 0`                     | `tangent(name, actions, value)`          |
| the elements `exp(t A)` of a Lie algebra           | `flow(actions, t)`                       |
| a function on the payloads of a value of `F X`     | `on_payloads(term, f, value)`            |

`actions` is a pytree of actions, or a prefix of the value's: an action at an inner node acts on every array below it,
and `None` says that nothing moves there.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._functors.poly import Const, ListOf, Maybe, Poly, Product
from .._functors.usage import with_usage
from .._functors.words import short
from ..errors import CdlError
from ._action import Action
from ._generator import of_matrix
from ._held import LEAST
from ._sparse import scipy
from ._squares import varied
from ._word import Word, word_of


Actions: TypeAlias = Any
"""A pytree of actions, with `None` where nothing moves.

Examples:
    >>> shift = cdl.symmetry.groups.cyclic(3)
    >>> carrier: cdl.symmetry.Actions = (shift, None)
    >>> moved, still = cdl.symmetry.moved(("shift",), carrier, (jnp.arange(3.0), 7))
    >>> moved.tolist(), still
    ([2.0, 0.0, 1.0], 7)
"""


@with_usage
def moved(word: str | Word, actions: Actions, value: Any) -> Any:
    """`m · x`, for a word of names, or one name.

    **Arguments:** `word`: a tuple of names. `actions`: a pytree of actions, `None` where nothing moves. `value`: a
    pytree of arrays that matches it.

    **Raises:** `CdlError` for a generator of a Lie algebra, and where the two have different structures.

    Examples:
        >>> C4 = cdl.symmetry.groups.cyclic(4)
        >>> cdl.symmetry.moved(("shift", "shift"), C4, jnp.array([1, 2, 3, 4]))
        Array([3, 4, 1, 2], dtype=int32)
    """
    word = word_of(word)

    def act(action: Action, x: Any) -> Any:
        found = [name for name in word if action[name].lie]
        if found:
            raise CdlError(
                f"`{found[0]}` is an element of a Lie algebra, and does not act on a tree or a layer: take the "
                "elements `exp(t A)`, by `flow(actions, t)`, or by `law.flow(t)` of a distributive law."
            )
        return action(word, x)

    return _each(act, lambda x: x, actions, value)


def tangent(name: str, actions: Actions, value: Any) -> Any:
    """`A x`, 0 where nothing moves, and `None` for what is not a real number."""
    still: Callable[[Any], Any] = lambda x: jnp.zeros_like(x) if _varies(x) else None
    return _each(lambda action, x: action(name, x), still, actions, value)


def along(f: Callable[[Any], Any], x: Any, direction: Any) -> Any:
    """The derivative of a function of pytrees in a direction, which has `None` where `x` does not vary. Whole numbers
    that vary become real."""
    blank = lambda leaf: leaf is None
    arrays = jax.tree.map(lambda d, leaf: leaf if d is None else varied(leaf), direction, x, is_leaf=blank)
    cast: Callable[[Any, Any], Any] = lambda d, leaf: None if d is None else jnp.asarray(d, leaf.dtype)
    value, found = eqx.filter_jvp(f, (arrays,), (jax.tree.map(cast, direction, arrays, is_leaf=blank),))
    zero: Callable[[Any], Any] = lambda leaf: jnp.zeros_like(leaf) if _varies(leaf) else None
    return jax.tree.map(lambda d, leaf: zero(leaf) if d is None else d, found, value, is_leaf=blank)


def _varies(x: Any) -> bool:
    """Whether something is an array or a number that has a derivative, also where it is traced."""
    number = isinstance(x, jax.Array | np.ndarray | np.generic | float | complex)
    return number and bool(jnp.issubdtype(jnp.result_type(x), jnp.inexact))


@with_usage
def flow(actions: Actions, t: float) -> Actions:
    """The elements `exp(t A)` for the generators `A` of a Lie algebra, in an action or a pytree of actions. The other
    generators stay.

    **Arguments:** `actions`: an action of a Lie algebra, or a pytree of actions. `t`: the time.

    **Raises:** `CdlError` for a time that is not a finite number, known before the program runs.

    Examples:
        >>> turn = cdl.symmetry.flow(cdl.symmetry.groups.so(2), jnp.pi / 2)
        >>> turn("turn01", jnp.array([0.0, 1.0])).round(3)
        Array([-1.,  0.], dtype=float32)
    """
    if isinstance(t, Tracer) or not isinstance(t, int | float | np.number | np.ndarray | jax.Array):
        raise CdlError(f"`flow` takes a time that is known before the program runs, not {short(t)}.")
    if np.shape(t) or not np.isfinite(time := float(t)):
        raise CdlError(f"`flow` takes one finite number as its time, not {short(t)}.")

    def element(action: Any) -> Action:
        if not isinstance(action, Action):
            raise CdlError(f"`flow` is of actions, and `{short(action)}` is not one: make one with `Action(shape)`.")
        new = Action(action.shape)
        for generator in action.generators:
            if generator.lie:
                found = scipy.linalg.expm(time * generator.dense)
                made = of_matrix(generator.name, np.where(np.abs(found) < LEAST, 0.0, found), new.size, lie=False)
                known = max(generator.precision, made.precision) * max(1.0, abs(time) * generator.bound)
                new = Action(new.shape, [*new.generators, dataclasses.replace(made, precision=known)])
            else:
                new = Action(new.shape, [*new.generators, generator])
        return new

    return jax.tree.map(element, actions)


def on_payloads(term: Poly, f: Callable[[Any], Any], value: Any) -> Any:
    """A value of `F X` with a function on its payloads; the places are kept."""
    match term:
        case Const():
            return f(value)
        case Product(factors):
            return tuple(on_payloads(factor, f, part) for factor, part in zip(factors, value, strict=True))
        case Maybe(of):
            return None if value is None else on_payloads(of, f, value)
        case ListOf(of):
            return tuple(on_payloads(of, f, part) for part in value)
        case _:
            return value


def _each(act: Callable[[Action, Any], Any], still: Callable[[Any], Any], actions: Actions, value: Any) -> Any:
    """Each array acted on by the action that stands at or above it."""

    def below(action: Any, part: Any) -> Any:
        if action is None:
            return jax.tree.map(still, part)
        if not isinstance(action, Action):
            raise CdlError(
                f"{short(action)} is not an action: give one, or a pytree of them with `None` for what is still."
            )
        return jax.tree.map(lambda x: act(action, x), part)

    try:
        return jax.tree.map(below, actions, value, is_leaf=lambda x: x is None or isinstance(x, Action))
    except CdlError:
        raise
    except ValueError as error:
        found, given = jax.tree.structure(value), jax.tree.structure(actions)
        raise CdlError(
            f"a value of the structure {found} is acted on by actions of the structure {given}: give a pytree of "
            "actions with the structure of the value, or of its outer part, and `None` where nothing moves."
        ) from error
