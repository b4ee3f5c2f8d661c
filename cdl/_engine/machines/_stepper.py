"""`start`: a machine that is fed one input at a time, with the same numbers as `run`."""

import functools
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from ..._functors import Base, Mealy, Moore, MooreF
from ..._functors.usage import with_usage
from ..._schemes.algebras import name_of
from ..._schemes.automaton import Automaton
from ..._schemes.compose import layer_of
from ..._schemes.expect import expect_key, expect_machine
from ...errors import CdlError
from ..arrays._carrier import own_of
from ..arrays._given import arrays
from ..arrays._random_keys import keys_at
from ..arrays.shapes import is_weak, shaped
from ..calls._compiled import captured, compiled, rebound
from ._machine_steps import Walk


I = TypeVar("I")
O = TypeVar("O")
S = TypeVar("S")

FIELDS = "machine", "state", "time", "key"


class Stepper(Generic[I, O, S]):
    """A machine in a state: `step` gives an output, and the machine in its next state. From `start`.

    A pytree of `machine`, `state`, `time` and `key`. Not an `eqx.Module`: one is made at every step, and a module takes
    longer to make than a small cell to compute.

    Examples:
        >>> def total(n):
        ...     return cdl.MealyF(lambda x: (n + x, n + x))
        >>> first, machine = cdl.machines.start(total, 0).step(5)
        >>> second, machine = machine.step(2)
        >>> first, second
        (Array(5, dtype=int32), Array(7, dtype=int32))
    """

    __slots__ = "_rules", "_settled", "_state", "_time"

    def __init__(self, machine: Any, state: Any, time: Any, key: Any, *, counts: bool = False) -> None:
        self._rules = Rules(machine, key, counts=counts)
        self._state, self._time = state, time
        self._settled = False  # whether the state comes from a step, and has the types that it keeps

    @property
    def machine(self) -> Callable[[S], Base[Mealy[I, O] | Moore[I, O], S]]:
        return self._rules.machine

    @property
    def state(self) -> S:
        return self._state

    @property
    def time(self) -> Int[Array, ""]:
        """How many inputs there were."""
        return self._counted()

    @property
    def key(self) -> PRNGKeyArray | None:
        return self._rules.key

    def step(self, input: I) -> tuple[O, "Stepper[I, O, S]"]:
        """The answer to one input, and the machine in its next state. A Moore machine answers with the output of that
        state. Compiled at the first step, and once for all.

        **Raises:** as `run` does.
        """
        rules = self._rules
        given: Any = input if isinstance(input, jax.Array) else arrays(input, "an input")
        if rules.reads_letters:
            automaton: Any = rules.machine
            _, given = automaton.expect(automaton.start, given)
        state: Any = self._state if self._settled else self._begun(given)
        found = rules.advance(state, given) if rules.key is None else rules.advance(state, given, rules.key, self.time)
        after: Stepper[I, O, S] = Stepper.__new__(Stepper)
        after._rules, after._state, after._time, after._settled = rules, found[0], self._time + 1, True
        return found[1], after

    def _begun(self, given: Any) -> Any:
        """The state before the first step, where a Python number takes the type of what follows it."""
        if not any(is_weak(x) for x in jax.tree.leaves(self._state)):
            return self._state
        element = jax.tree.map(lambda x: shaped(x.shape, x.dtype, is_weak(x)), given)
        return Walk(self.machine, self._state, element, self.key).state

    def _counted(self) -> Any:
        """The time as an array, or as it was given."""
        return jnp.asarray(self._time, jnp.int32) if self._rules.counts else self._time

    def __repr__(self) -> str:
        return f"Stepper({', '.join(f'{name}={eqx.tree_pformat(getattr(self, name))}' for name in FIELDS)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Stepper, tuple(getattr(self, name) for name in FIELDS)

    @property
    def out(self) -> O:
        """What a Moore machine shows in this state: before any input, the first of `run`'s outputs.

        **Raises:** `CdlError` for a Mealy machine, which shows nothing of itself.
        """
        return _show(self.machine, self._state, self.time, self.key)


@with_usage
def start(
    machine: Callable[[S], Base[Mealy[I, O] | Moore[I, O], S]], state: S, *, key: PRNGKeyArray | None = None
) -> Stepper[I, O, S]:
    """A machine in a state, to be fed one input at a time.

    Step by step it gives the outputs and states that `run` gives for the whole sequence.

    **Arguments:** as of `run`.

    **Raises:** `CdlError` where anything other than a machine, or a key, is given.

    Examples:
        >>> def total(n):
        ...     return cdl.MealyF(lambda x: (n + x, n + x))
        >>> answer, machine = cdl.machines.start(total, 0).step(5)
        >>> answer, machine.state
        (Array(5, dtype=int32), Array(5, dtype=int32))
    """
    expect_machine("start", machine)
    expect_key(key)
    begin = arrays(state, "a state")
    if isinstance(machine, Automaton):
        begin, _ = machine.expect(begin, 0)
    return Stepper(machine, begin, 0, key, counts=True)


class Rules:
    """What stays the same from step to step. `counts`: the time is counted in Python; to others it is an array."""

    __slots__ = "advance", "counts", "key", "machine", "reads_letters"

    def __init__(self, machine: Any, key: Any, *, counts: bool) -> None:
        self.machine, self.key, self.counts = machine, key, counts
        self.reads_letters = isinstance(machine, Automaton)
        # The machine is taken apart once: `eqx.filter_jit` would do it at each step, which takes longer than the step.
        leaves, structure = jax.tree.flatten(captured(machine))
        held = [x if eqx.is_array(x) else None for x in leaves]
        fixed = tuple(None if eqx.is_array(x) else x for x in leaves)
        self.advance = functools.partial(_advance, (structure, fixed), held)


@functools.partial(jax.jit, static_argnums=0)
def _advance(
    fixed: tuple[Any, tuple[Any, ...]], held: list[Any], state: Any, x: Any, key: Any = None, time: Any = 0
) -> Any:
    """The next state and the answer. `fixed` and `held`: what is static of the machine, and its arrays."""
    structure, static = fixed
    machine = rebound(*structure.unflatten([s if h is None else h for s, h in zip(static, held, strict=True)]))
    out, after = Walk(machine, state, x, key).ahead(state, x, time, key)
    return after, out


@compiled
def _show(machine: Callable[..., Any], state: Any, time: jax.Array | int, key: jax.Array | None) -> Any:
    name = name_of(machine)

    def out(state: Any) -> Any:
        layer = layer_of(machine, state, keys_at(key, time))
        if not isinstance(layer, MooreF):
            raise CdlError(f"`{name}` is a Mealy machine, and shows nothing before an input: use `step`.")
        return arrays(layer.out, f"an output of `{name}`")

    own_of(out, state)
    return out(state)


def _flat(stepper: Stepper[Any, Any, Any]) -> Any:
    rules = stepper._rules  # which may hold something else than a machine, as the mask of `eqx.partition` does
    values = rules.machine, stepper._state, stepper._counted(), rules.key
    return [(jax.tree_util.GetAttrKey(name), x) for name, x in zip(FIELDS, values, strict=True)], None


jax.tree_util.register_pytree_with_keys(Stepper, _flat, lambda _, values: Stepper(*values))
