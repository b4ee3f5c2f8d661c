"""A machine along one sequence, by one scan; the inside of `run`.

Where sequences of several lengths run side by side, each has an end. Beyond it the scan goes on for the others: the
state is kept as it is, outputs are zeros, and what is computed there is a step that some sequence does take. A step on
padding could be infinite, and a gradient of zero times infinity is NaN. Where none takes a step at all, it is
computed on zeros, and has no gradient.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from ..._functors import MooreF
from ..._schemes.algebras import name_of, wants_key
from ..._schemes.compose import layer_of
from ..._schemes.expect import expect_answer, expect_step
from ..arrays._given import arrays
from ..arrays._random_keys import keys_at
from ..arrays.shapes import is_weak, of_lists, shaped, shown
from ..calls._traced import noted
from ._scan_bulk import scan
from ._state import as_given, settled


S = TypeVar("S")  # values of one structure


@dataclass(frozen=True)
class Ends:
    """The end of a sequence, and a state and an input of a step that is really taken, for the steps beyond it."""

    length: jax.Array
    state: Any
    input: Any


class Walk:
    """A machine on states and inputs of certain shapes: what kind of machine it is, and the types of its state."""

    def __init__(
        self,
        machine: Callable[..., Any],
        state: Any,
        element: Any,
        key: jax.Array | None,
        name: str | None = None,
        batch: str = "",
    ) -> None:
        self.machine, self.name = machine, name or name_of(machine)
        given = lambda: f"a state of {shown(state)} and an input of {shown(element)}"
        keyed = ", and a `key`" if key is None and wants_key(machine) else ""
        more = batch + of_lists((state, element))
        advice = f"give it the state, and the inputs, of the shapes that it takes{keyed}{more}"
        with noted(self.name, given, advice):
            moore: list[bool] = []  # traced, so that a state which is known here is as unknown as in the scan
            jax.eval_shape(lambda s: moore.append(isinstance(layer_of(machine, s, key), MooreF)), state)
            self.moore = moore[-1]
            after = lambda s, x: self._after(layer_of(machine, s, key), x)
            self.state = settled(self.name, after, state, element, batch)

    def __call__(
        self, states: Any, inputs: Any, keys: jax.Array | None, keep: bool, ends: Ends | None = None
    ) -> tuple[Any, Any, Any]:
        """The outputs, the last states, and every state where they are to be kept, each `(sequences, …)`.

        **Arguments:** `states`, `inputs`, `keys` and the length of `ends` have a leading axis of the sequences.
        """

        def body(lane: tuple[Any, jax.Array | None], s: Any, now: tuple[jax.Array, Any]) -> tuple[Any, tuple[Any, Any]]:
            (t, x), (length, key) = now, lane
            end = None if ends is None else replace(ends, length=length)
            if end is not None:
                x = pick(t < length, x, end.input)
            layer = layer_of(self.machine, self._taken(s, t, end, 0), keys_at(key, t))
            out, after = self.step(layer, x)
            if self.moore:
                out = self._shown(s, t, key, end, layer)
            elif end is not None:
                out = masked(t < length, out)
            after = as_given(after, s)
            if end is not None:
                after = pick(t < length, after, s)
            return after, (out, self._kept(s, t, end) if keep else None)

        count, steps = jax.tree.leaves(inputs)[0].shape[:2]
        lanes = None if ends is None else ends.length, keys
        states = as_given(states, self.state)
        times = jnp.broadcast_to(jnp.arange(steps, dtype=jnp.int32)[:, None], (steps, count))
        some = None if ends is None else jnp.any(ends.length > 0)
        last, (outputs, every) = scan(body, states, (times, _swapped(inputs)), lanes, some)
        outputs, every = _swapped((outputs, every))
        if not (self.moore or keep):
            return outputs, last, None

        def ended(s: Any, lane: tuple[Any, jax.Array | None]) -> tuple[Any, Any]:
            length, key = lane
            end = None if ends is None else replace(ends, length=length)
            return (self._shown(s, steps, key, end) if self.moore else None), self._kept(s, steps, end)

        shown, kept = jax.vmap(ended, axis_size=count)(last, lanes)
        outputs = _with(outputs, shown) if self.moore else outputs
        if self.moore and steps and some is not None:  # what is shown before any step has a gradient all the same
            begun = jax.vmap(lambda s, lane: self._shown(s, 0, lane[1], None), axis_size=count)(states, lanes)
            outputs = jax.tree.map(lambda x, y: x.at[:, 0].set(jnp.where(some, x[:, 0], y)), outputs, begun)
        return outputs, last, _with(every, kept) if keep else None

    def ahead(self, state: Any, x: Any, t: jax.Array | int, key: jax.Array | None) -> tuple[Any, Any]:
        """One step by itself: the output that follows an input, and the next state."""
        out, after = self.step(layer_of(self.machine, state, keys_at(key, t)), x)
        after = as_given(after, self.state)
        return (self._shown(after, t + 1, key, None) if self.moore else out), after

    def step(self, layer: Any, x: Any) -> tuple[Any, Any]:
        """What a layer answers to an input, and the next state; a Moore machine answers nothing."""
        out, after = self._answer(layer, x)
        return arrays(out, f"an answer of `{self.name}`"), arrays(after, f"a state that `{self.name}` goes to")

    def _after(self, layer: Any, x: Any) -> Any:
        """The next state, as the layer has it."""
        after = self._answer(layer, x)[1]
        arrays(after, f"a state that `{self.name}` goes to")
        return after

    def _answer(self, layer: Any, x: Any) -> tuple[Any, Any]:
        """The same, as the layer has it."""
        expect_step(self.name, layer)
        after = layer.step(x)
        return (None, after) if self.moore else expect_answer(self.name, after)

    def _taken(self, s: S, t: jax.Array | int, ends: Ends | None, beyond: int) -> S:
        """The state at a time, or beyond the end one from which a step is taken."""
        return s if ends is None else pick(t < ends.length + beyond, s, ends.state)

    def _shown(self, s: Any, t: jax.Array | int, key: jax.Array | None, ends: Ends | None, layer: Any = None) -> Any:
        """The output of a state; a sequence of `n` inputs shows `n + 1` of them."""
        if layer is None or ends is not None:  # a state from which no step is taken may be shown
            layer = layer_of(self.machine, self._taken(s, t, ends, 1), keys_at(key, t))
        out = arrays(layer.out, f"an output of `{self.name}`")
        return out if ends is None else masked(t <= ends.length, out)

    def _kept(self, s: S, t: jax.Array | int, ends: Ends | None) -> S:
        return s if ends is None else masked(t <= ends.length, s)


def element_of(inputs: Any) -> Any:
    """The shapes of one of a sequence's inputs."""
    return jax.tree.map(lambda x: shaped(x.shape[1:], x.dtype, is_weak(x)), inputs)


def pick(here: jax.Array, x: S, y: S) -> S:
    """The one value or the other, as a whole."""
    return jax.tree.map(lambda a, b: jnp.where(here, a, b), x, y)


def masked(here: jax.Array, x: S) -> S:
    """The value, or zeros; random keys, for which there are none, stay."""
    return jax.tree.map(lambda a: a if _is_key(a) else jnp.where(here, a, jnp.zeros_like(a)), x)


def _is_key(x: jax.Array) -> bool:
    return bool(jnp.issubdtype(jnp.asarray(x).dtype, jax.dtypes.prng_key))


def _with(rows: S, last: Any) -> S:
    """The rows of each sequence, and one more."""
    return jax.tree.map(lambda x, y: jnp.concatenate([x, jnp.asarray(y, x.dtype)[:, None]], 1), rows, last)


def _swapped(rows: S) -> S:
    """Steps and sequences, each in the place of the other."""
    return jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), rows)
