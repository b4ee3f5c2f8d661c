"""Boxes of one step at once: `vmap` over their machines, and in it over the boxes that have one machine."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from .._schemes.algebras import wants_key
from .._schemes.compose import layer_of
from ._exact import fitted
from ._interface import Interface
from ._plan import Together


def abreast(
    group: Together, interface: Interface, machine: Any, state: Any, key: Any
) -> Callable[[Any], tuple[Any, Any]]:
    """The outputs and the next states of the boxes of a step, as a function of their inputs.

    **Arguments:** `interface`: that of each. `machine`: theirs, or theirs stacked. `state`: theirs, `(boxes, …)`; of a
    single box without that axis, as are its inputs, outputs and next state.
    """
    numbers = np.asarray(group.numbers, np.uint32)
    key = key if wants_key(machine) else None

    def one(machine: Any, state: Any, number: Any, x: Any) -> Any:
        layer = layer_of(machine, state, None if key is None else jax.random.fold_in(key, number))
        layer = fitted(group.paths[0], interface, state, layer)
        return (layer.out, layer.step(x)) if group.moore else layer.step(x)

    if group.alone:
        return lambda x: one(machine, state, numbers[0], x)
    arrays, rest = eqx.partition(machine, eqx.is_array)
    each: Callable[..., Any] = lambda own, s, n, x: one(eqx.combine(own, rest), s, n, x)
    if group.uses > 1:
        each = jax.vmap(each, in_axes=(None, 0, 0, 0))
    if group.many > 1:
        each = jax.vmap(each, in_axes=0)
    if group.uses == 1 or group.many == 1:
        return lambda x: each(arrays, state, numbers, x)

    def apart(rows: Any) -> Any:
        return jax.tree.map(lambda x: x.reshape(group.many, group.uses, *x.shape[1:]), rows)

    def together(rows: Any) -> Any:
        return jax.tree.map(lambda x: x.reshape(len(numbers), *x.shape[2:]), rows)

    return lambda x: together(each(arrays, apart(state), apart(numbers), apart(x)))
