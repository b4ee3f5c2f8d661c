"""Systems of a user's, whose layers may read the state to begin in: it stays there, and is not a parameter."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from .._schemes.compose import layer_of
from ..system import System


class Begun(eqx.Module):
    """A machine, whose systems have `None` for the state to begin in, and these states, which are not its arrays."""

    machine: Any
    begin: Callable[[], list[Any]]

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        return layer_of(_with_states(self.machine, self.begin()), state, key)


def without_beginnings(machine: Any) -> Any:
    """A machine whose arrays are its parameters; the same where no system of a user's is in it."""
    begin = [x.state for x in _own(machine)]
    return Begun(_with_states(machine, [None] * len(begin)), lambda: begin) if begin else machine


def _own(machine: Any) -> list[Any]:
    is_own: Callable[[Any], bool] = lambda x: isinstance(x, System) and x.reads_state
    return [x for x in jax.tree.leaves(machine, is_leaf=is_own) if is_own(x)]


def _with_states(machine: Any, states: list[Any]) -> Any:
    where: Callable[[Any], list[Any]] = lambda m: [x.state for x in _own(m)]
    return eqx.tree_at(where, machine, states, is_leaf=lambda x: x is None)
