"""Laws of machines, along a word of inputs.

| the law             | the two sides                                                                    |
| ------------------- | -------------------------------------------------------------------------------- |
| a map of machines   | `F h ∘ γ = δ ∘ h`: the same outputs, and `h` of the next state is the next of `h` |
| `run`               | the outputs of `run γ s` are those of the behaviour `ana γ s`                    |

What is under a function cannot be compared as a whole, only where it is asked: so these are laws at a word.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .._engine import run as the_run
from .._functors import MooreF, respond
from .._functors.usage import with_usage
from .._schemes import ana
from ._hold import hold
from ._in_place import maps_of_coalgebras


Machine = Callable[[Any], Any]


@with_usage
def machine_map(
    h: Callable[[Any], Any],
    machine: Machine,
    other: Machine,
    state: Any,
    inputs: Sequence[Any],
    *,
    tolerance: float = 0.0,
) -> None:
    """That `h` is a map of machines from `machine` to `other`, at every state that a word leads to.

    **Arguments:** `h`: from the states of `machine` to those of `other`. `state`: one of `machine`. `inputs`: the word.

    A relation that is a map on one side is a bisimulation: the two behave alike from `state` and from `h(state)`.

    **Raises:** `LawBroken`; `CdlError` where one of the three stands in the place of another.

    Examples:
        >>> fours = lambda n: cdl.MooreF(n % 2 == 1, lambda i: (n + i) % 4)
        >>> parity = lambda odd: cdl.MooreF(odd, lambda i: odd ^ (i % 2 == 1))
        >>> cdl.laws.machine_map(lambda n: n % 2 == 1, fours, parity, 0, [1, 3, 2])
    """
    law, usage = "`F h ∘ γ = δ ∘ h`", "machine_map(h, machine, other, state, inputs)"
    h, machine, other = maps_of_coalgebras(usage, h, machine, other, of="machine")
    for i in inputs:
        (out, after), (answer, next_of_h) = _step(machine, state, i), _step(other, h(state), i)
        hold(f"{law}, outputs", out, answer, tolerance)
        hold(f"{law}, next states", h(after), next_of_h, tolerance)
        state = after


@with_usage
def run(
    machine: Machine,
    state: Any,
    inputs: Sequence[Any],
    *,
    by: Callable[[Any, Any, Any], Any] = the_run,
    tolerance: float = 0.0,
) -> None:
    """That running a machine gives the outputs of its behaviour.

    **Arguments:** `machine`: the machine. `state`: its first state. `inputs`: one after the other. `by`: what runs it,
    as `cdl.run` does.

    **Raises:** `LawBroken`.

    Examples:
        >>> total = lambda s: cdl.MealyF(lambda i: (s + i, s + i))
        >>> cdl.laws.run(total, jnp.array(0), [jnp.array(i) for i in (1, 2, 3)])
    """
    outputs = by(machine, state, jax.tree.map(lambda *xs: jnp.stack(xs), *inputs))[0]
    rows = range(jax.tree.leaves(outputs)[0].shape[0])
    found = [jax.tree.map(lambda x: x[t], outputs) for t in rows]  # noqa: B023
    hold("`run γ s = respond (ana γ s)`", found, respond(ana(machine)(state), inputs), tolerance)


def _step(machine: Machine, state: Any, i: Any) -> tuple[Any, Any]:
    layer = machine(state)
    return (layer.out, layer.step(i)) if isinstance(layer, MooreF) else layer.step(i)
