"""`start`: a machine that is fed one input at a time, with the same numbers as `run`."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from ..._errors import CdlError
from ...algebra._algebra import name_of
from ...algebra._automaton import Automaton
from ...algebra._compose import layer_of
from ...algebra._expect import expect_key, expect_machine
from ...functor import Base, Mealy, Moore, MooreF
from ...functor._usage import with_usage
from .._compiled import compiled
from .._shapes import is_weak, shaped
from .._types import own_of
from ._machine_steps import Walk
from ._state import arrays


I = TypeVar("I")
O = TypeVar("O")
S = TypeVar("S")


class Stepper(eqx.Module, Generic[I, O, S]):
    """A machine in a state: `step` gives an output, and the machine in its next state. From `start`."""

    machine: Callable[[S], Base[Mealy[I, O] | Moore[I, O], S]]
    state: S
    time: Int[Array, ""]
    key: PRNGKeyArray | None

    def step(self, input: I) -> tuple[O, "Stepper[I, O, S]"]:
        """The answer to one input, and the machine in its next state. A Moore machine answers with the output of that
        state. Compiled at the first step, and once for all.

        **Raises:** as `run` does.
        """
        given = arrays(input, "an input")
        if isinstance(self.machine, Automaton):
            _, given = self.machine.expect(self.machine.start, given)
        state: Any = self.state
        if any(x.weak_type for x in jax.tree.leaves(state)):  # a Python number takes the type of what follows it
            element = jax.tree.map(lambda x: shaped(x.shape, x.dtype, is_weak(x)), given)
            state = Walk(self.machine, state, element, self.key).state
        out, after, time = _advance(self.machine, state, given, self.time, self.key)
        return out, Stepper(self.machine, after, time, self.key)

    @property
    def out(self) -> O:
        """What a Moore machine shows in this state: before any input, the first of `run`'s outputs.

        **Raises:** `CdlError` for a Mealy machine, which shows nothing of itself.
        """
        return _show(self.machine, self.state, self.time, self.key)


@with_usage
def start(
    machine: Callable[[S], Base[Mealy[I, O] | Moore[I, O], S]], state: S, *, key: PRNGKeyArray | None = None
) -> Stepper[I, O, S]:
    """A machine in a state, to be fed one input at a time.

    Step by step it gives the outputs and states that `run` gives for the whole sequence.

    **Arguments:** as of `run`.

    **Raises:** `CdlError` where something else than a machine, or a key, is given.
    """
    expect_machine("start", machine)
    expect_key(key)
    begin = arrays(state, "a state")
    if isinstance(machine, Automaton):
        begin, _ = machine.expect(begin, 0)
    return Stepper(machine, begin, jnp.asarray(0, jnp.int32), key)


@compiled
def _advance(machine: Any, state: Any, x: Any, time: Any, key: Any) -> Any:
    return *Walk(machine, state, x, key).ahead(state, x, time, key), time + 1


@compiled
def _show(machine: Any, state: Any, time: Any, key: Any) -> Any:
    name = name_of(machine)

    def out(state: Any) -> Any:
        layer = layer_of(machine, state, None if key is None else jax.random.fold_in(key, time))
        if not isinstance(layer, MooreF):
            raise CdlError(f"`{name}` is a Mealy machine, and shows nothing before an input: use `step`.")
        return arrays(layer.out, f"an output of `{name}`")

    own_of(out, state)
    return out(state)
