"""`run`: a machine on whole sequences of inputs, compiled.

| the mathematics                            | here                                              |
| ------------------------------------------ | ------------------------------------------------- |
| a machine on `S`, `γ : S → [I, O × S]`     | a function from states to `MealyF`                |
| one on `S`, `γ : S → O × [I, S]`           | a function from states to `MooreF`                |
| what it answers from `s` to `i₁ … iₙ`      | `respond(ana(γ)(s), inputs)`: the definition      |
| the same, and the state that it ends in    | `run(γ, s, inputs)`: one `lax.scan`               |

A Mealy machine gives `n` outputs for `n` inputs, a Moore machine `n + 1`: the first is that of the state it begins in.
So do the states that it goes through: `n + 1`, the first and the last among them.

Sequences of several lengths come as a `Seq`. Beyond a sequence's end its state stays as it is, and the machine is
computed on a step that some sequence does take: whatever stands in the padding goes nowhere, gradients included.
"""

from collections.abc import Callable
from typing import Any, Literal, overload, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ..._functors import Base, Mealy, Moore
from ..._functors.described import described
from ..._functors.usage import with_usage
from ..._schemes.automaton import Automaton
from ..._schemes.expect import expect_key, expect_machine
from ...errors import CdlError
from ..arrays._given import arrays
from ..arrays._random_keys import expect_key_of_rows, keys_at
from ..calls._compiled import compiled
from ..forests._corpus import Corpus
from ..forests._forest import Forest
from ..lists._seq import Seq
from ..lists._seq_packed import Packed
from ._machine_steps import element_of, Ends, masked, Walk
from ._state import as_given, leading


I = TypeVar("I")
O = TypeVar("O")
S = TypeVar("S")


@overload
def run(
    machine: Callable[[S], Base[Mealy[I, O] | Moore[I, O], S]],
    state: S,
    inputs: Seq[I],
    *,
    states: Literal[False] = False,
    key: PRNGKeyArray | None = None,
) -> tuple[Seq[O], S]: ...
@overload
def run(
    machine: Callable[[S], Base[Mealy[I, O] | Moore[I, O], S]],
    state: S,
    inputs: Seq[I],
    *,
    states: Literal[True],
    key: PRNGKeyArray | None = None,
) -> tuple[Seq[O], S, Seq[S]]: ...
@overload
def run(
    machine: Callable[[S], Base[Mealy[I, O] | Moore[I, O], S]],
    state: S,
    inputs: I,
    *,
    states: Literal[False] = False,
    key: PRNGKeyArray | None = None,
) -> tuple[O, S]: ...
@overload
def run(
    machine: Callable[[S], Base[Mealy[I, O] | Moore[I, O], S]],
    state: S,
    inputs: I,
    *,
    states: Literal[True],
    key: PRNGKeyArray | None = None,
) -> tuple[O, S, S]: ...
@with_usage
def run(machine: Any, state: Any, inputs: Any, *, states: bool = False, key: PRNGKeyArray | None = None) -> Any:
    """Runs a machine over a sequence of inputs in one compiled scan. It gives the outputs and the last state.

    It works under `jit`, `vmap` and `grad`, and is differentiable in the machine's arrays, in those that it closes
    over, in the state and in the inputs. It is compiled once for each machine and each shape of its inputs. A plain
    function is known by its identity, so define it once.

    **Arguments:** `machine`: from a state to `MealyF(step)` or `MooreF(out, step)`, for one step of one sequence.
    `state`: the state to begin in; with a `Seq`, one for each sequence, along a leading axis. `inputs`: arrays whose
    leading axis is time, or a `Seq` of many sequences. `states`: whether to give every state as well. `key`: for
    machines that take one; the state numbered `t` gets `fold_in(key, t)`, in sequence `b` of a `Seq`
    `fold_in(fold_in(key, b), t)`.

    **Returns:** the outputs `(time, …)` and the last state; with `states=True` also all states, from the first to the
    last. A Moore machine gives one output more, `(time + 1, …)`: the first is from before any input. With a `Seq`,
    outputs and states are a `Seq` each, with zeros in the padding.

    **Raises:** `CarrierMismatch` where a step changes the state's structure, shape or dtype; `ForeignLayer` where the
    machine gives no layer of a machine; `PayloadMismatch` where an input, an output or a state is not a number;
    `CdlError` where leading axes differ, where anything other than sequences is given, and where the machine branches
    on a value.

    Examples:
        >>> cdl.machines.run(cdl.machines.delay, 0, jnp.array([3, 1, 4]))
        (Array([0, 3, 1, 4], dtype=int32), Array(4, dtype=int32))
    """
    expect_machine("run", machine)
    (expect_key_of_rows if isinstance(inputs, Seq) else expect_key)(key)
    if isinstance(state, Seq | Packed):
        raise CdlError(
            f"`run` was given {described(state)} as the state: it comes first, `run(machine, state, inputs)`."
        )
    if isinstance(inputs, Base | Forest | Corpus | Packed):
        write = "`inputs.padded()`" if isinstance(inputs, Packed) else "an array with a row for each step, or a `Seq`"
        raise CdlError(f"`run` was given {described(inputs)} as the inputs, and reads them in time: give {write}.")
    if isinstance(inputs, Seq):
        return _of_many(machine, state, inputs, states, key)
    values, state = arrays(inputs, "an input"), arrays(state, "a state")
    leading(values, "the inputs", "time")
    if isinstance(machine, Automaton):
        state, values = machine.expect(state, values)
    outputs, last, every = _alone(machine, state, values, key, states)
    return (outputs, last, every) if states else (outputs, last)


def _of_many(machine: Callable[..., Any], state: Any, inputs: Any, states: bool, key: jax.Array | None) -> Any:
    """`run` on a `Seq`."""
    values, state = arrays(inputs.values, "an input"), arrays(state, "a state")
    count = len(inputs)
    given = leading(state, "the states", "one for each sequence") if jax.tree.leaves(state) else count
    if count != given:
        raise CdlError(
            f"there are states for {given} sequences, and inputs for {count}: give each sequence the state that it "
            f"begins in, along a leading axis. Of one for all, `jnp.broadcast_to(state, ({count}, *state.shape))`."
        )
    if isinstance(machine, Automaton):
        state, values = machine.expect(state, values, inputs.lengths)
    outputs, last, every, moore = _together(machine, state, values, inputs.lengths, key, states)
    answers: Any = Seq(outputs, inputs.lengths + moore)
    return (answers, last, Seq(every, inputs.lengths + 1)) if states else (answers, last)


@compiled
def _alone(
    machine: Callable[..., Any], state: Any, inputs: Any, key: jax.Array | None, keep: bool
) -> tuple[Any, Any, Any]:
    batch = "; time is the leading axis here: of several sequences, give a `Seq(values, lengths)` and a state for each"
    walk = Walk(machine, state, element_of(inputs), key, batch=batch)
    states, rows, keys = jax.tree.map(lambda x: x[None], (state, inputs, key))
    return jax.tree.map(lambda x: x[0], walk(states, rows, keys, keep))


@compiled
def _together(
    machine: Callable[..., Any], state: Any, inputs: Any, lengths: jax.Array, key: jax.Array | None, keep: bool
) -> tuple[Any, Any, Any, int]:
    walk = Walk(machine, jax.tree.map(lambda x: x[0], state), element_of(element_of(inputs)), key)
    keys = keys_at(key, jnp.arange(lengths.shape[0]))
    longest = jnp.argmax(lengths)  # a sequence whose first step is taken, if one is
    begins, reads = jax.lax.stop_gradient(jax.tree.map(lambda x: x[longest], (state, _first(inputs))))
    begins, reads = as_given(begins, walk.state), masked(lengths[longest] > 0, reads)
    return *walk(state, inputs, keys, keep, Ends(lengths, begins, reads)), int(walk.moore)


def _first(inputs: S) -> S:
    """The first input of each sequence; zeros where there is no time at all."""
    return jax.tree.map(lambda x: x[:, 0] if x.shape[1] else jnp.zeros((x.shape[0], *x.shape[2:]), x.dtype), inputs)
