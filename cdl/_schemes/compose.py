"""Machines put together, as machines: one after another, side by side, and with a loop.

| the mathematics                                   | here                         | its state        |
| ------------------------------------------------- | ---------------------------- | ---------------- |
| a function `I → O`                                | `stateless(f)`               | `()`             |
| `g ∘ f`                                           | `series(f, g)`               | `(S, R)`         |
| `f × g`                                           | `parallel(f, g)`             | `(S, R)`         |
| the unit delay                                    | `delay`                      | the last input   |
| the loop of `I × F → O × F` along `F`             | `feedback(f)`, `f` Moore     | `S`              |
| the same through a Moore machine `F → G`          | `feedback(f, through)`       | `(S, R)`         |
| the inclusion of Moore in Mealy machines          | `as_mealy(f)`                | `S`              |

A series is a Moore machine as soon as one of the two is: its output then does not wait for its input. That is also
what makes a loop well founded. Around a loop the output has to be there before the input is, so a loop has to go
through a Moore machine: `feedback` of a Mealy machine alone is refused.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, overload, TypeVar

import equinox as eqx
import jax

from .. import _terms as t
from .._functors import Base, Mealy, MealyF, Moore, MooreF
from .._functors.described import described
from .._functors.ordered import two
from .._functors.usage import with_types, with_usage
from .._functors.users_line import told
from .._functors.words import an, first_line
from ..errors import CdlError, ForeignLayer
from .algebras import name_of, wants_key
from .expect import expect_machine


A = TypeVar("A")
I = TypeVar("I")  # an input
J = TypeVar("J")
M = TypeVar("M")  # what goes between two machines
O = TypeVar("O")  # an output
P = TypeVar("P")
F = TypeVar("F")  # what goes round a loop
G = TypeVar("G")
S = TypeVar("S")  # a state
R = TypeVar("R")


@with_types
def stateless(f: Callable[[I], O]) -> Callable[[tuple[()]], MealyF[I, O, tuple[()]]]:
    """A function as a Mealy machine, whose state is always `()`. That of the identity is the unit of `series`.

    Examples:
        >>> cdl.machines.run(cdl.machines.stateless(jnp.sqrt), (), jnp.array([1.0, 4.0]))
        (Array([1., 2.], dtype=float32), ())
    """
    return Stateless(f)


@with_usage
def delay(last: A) -> MooreF[A, A, A]:
    """The unit delay: gives its state, and keeps the input as the next one.

    Examples:
        >>> cdl.machines.run(cdl.machines.delay, 0, jnp.array([3, 1, 4]))
        (Array([0, 3, 1, 4], dtype=int32), Array(4, dtype=int32))
    """
    return MooreF(last, _same)


@overload
def series(
    first: Callable[[S], Base[Moore[I, M], S]], second: Callable[[R], Base[Mealy[M, O] | Moore[M, O], R]]
) -> Callable[[tuple[S, R]], MooreF[I, O, tuple[S, R]]]: ...
@overload
def series(
    first: Callable[[S], Base[Mealy[I, M], S]], second: Callable[[R], Base[Moore[M, O], R]]
) -> Callable[[tuple[S, R]], MooreF[I, O, tuple[S, R]]]: ...
@overload
def series(
    first: Callable[[S], Base[Mealy[I, M], S]], second: Callable[[R], Base[Mealy[M, O], R]]
) -> Callable[[tuple[S, R]], MealyF[I, O, tuple[S, R]]]: ...
@with_usage
def series(first: Any, second: Any) -> Any:
    """One machine after another: the outputs of the first are the inputs of the second.

    `run(series(f, g), (s, r), inputs)` has the outputs of `run(g, r, run(f, s, inputs)[0])`; of two Moore machines,
    all of them but the last. Associative up to the regrouping of states, which is a bisimulation.

    **Arguments:** `first`, `second`: machines; the outputs of the first are the inputs of the second.

    **Raises:** `CdlError` where one is not a machine.

    Examples:
        >>> twice = cdl.machines.series(cdl.machines.delay, cdl.machines.delay)
        >>> cdl.machines.run(twice, (0, 0), jnp.array([3, 1, 4]))
        (Array([0, 0, 3, 1], dtype=int32), (Array(4, dtype=int32), Array(1, dtype=int32)))
    """
    expect_machine("series", first)
    expect_machine("series", second)
    return Series(first, second)


@overload
def parallel(
    first: Callable[[S], Base[Moore[I, O], S]], second: Callable[[R], Base[Moore[J, P], R]]
) -> Callable[[tuple[S, R]], MooreF[tuple[I, J], tuple[O, P], tuple[S, R]]]: ...
@overload
def parallel(
    first: Callable[[S], Base[Mealy[I, O], S]], second: Callable[[R], Base[Mealy[J, P], R]]
) -> Callable[[tuple[S, R]], MealyF[tuple[I, J], tuple[O, P], tuple[S, R]]]: ...
@with_usage
def parallel(first: Any, second: Any) -> Any:
    """Two machines side by side: pairs in, pairs out.

    **Arguments:** `first`, `second`: machines, both Mealy or both Moore; inputs, outputs and states are pairs.

    **Raises:** `CdlError` where one is not a machine; when it is run, where one is a Moore and the other a Mealy
    machine.

    Examples:
        >>> sign, root = cdl.machines.stateless(jnp.negative), cdl.machines.stateless(jnp.sqrt)
        >>> xs = jnp.array([1.0, 4.0])
        >>> cdl.run(cdl.machines.parallel(sign, root), ((), ()), (xs, xs))[0]
        (Array([-1., -4.], dtype=float32), Array([1., 2.], dtype=float32))
    """
    expect_machine("parallel", first)
    expect_machine("parallel", second)
    return Parallel(first, second)


@overload
def feedback(
    machine: Callable[[S], Base[Moore[tuple[I, F], tuple[O, F]], S]],
) -> Callable[[S], MooreF[I, O, S]]: ...
@overload
def feedback(
    machine: Callable[[S], Base[Mealy[tuple[I, G], tuple[O, F]], S]], through: Callable[[R], Base[Moore[F, G], R]]
) -> Callable[[tuple[S, R]], MealyF[I, O, tuple[S, R]]]: ...
@with_usage
def feedback(machine: Any, through: Any = None) -> Any:
    """A machine whose second output is its second input.

    **Arguments:** `machine`: from pairs to pairs. `through`: the Moore machine in the loop, such as `delay`; its
    output goes in as its input comes out. A machine that is itself a Moore machine needs none.

    **Raises:** `CdlError` where one is not a machine; when it is run, for a Mealy machine with nothing in the loop.

    Examples:
        >>> def add(_):
        ...     return cdl.MealyF(lambda both: ((both[0] + both[1], both[0] + both[1]), ()))
        >>> running = cdl.machines.feedback(add, cdl.machines.delay)
        >>> cdl.run(running, ((), 0), jnp.array([1, 2, 3]))[0]
        Array([1, 3, 6], dtype=int32)
    """
    expect_machine("feedback", machine)
    if through is not None:
        expect_machine("feedback", through)
    return Loop(machine) if through is None else LoopThrough(machine, through)


@with_usage
def as_mealy(machine: Callable[[S], Base[Moore[I, O], S]]) -> Callable[[S], MealyF[I, O, S]]:
    """A Moore machine as a Mealy machine that answers an input with the output of the state it leads to.

    The output before any input is lost: `run(as_mealy(f), s, inputs)` has the outputs of `run(f, s, inputs)` but the
    first.

    **Raises:** `CdlError`; of a machine that is a Mealy machine already, when it is run.

    Examples:
        >>> def counter(n):
        ...     return cdl.MooreF(n, lambda step: n + step)
        >>> cdl.run(cdl.machines.as_mealy(counter), 0, jnp.array([1, 2, 3]))[0]
        Array([1, 3, 6], dtype=int32)
    """
    expect_machine("as_mealy", machine)
    return AsMealy(machine)


class Composed(eqx.Module):
    """A machine that says how it was put together."""

    @abstractmethod
    def __term__(self) -> t.Term: ...


def term_of(machine: Any) -> t.Term:
    """The term of a machine: of one that is taken as given, a box with a state from above, and the next one back."""
    if isinstance(machine, Composed):
        return machine.__term__()
    return t.box(t.name(machine), t.pair(t.own(machine), t.Space()))


class Stateless(Composed):
    f: Any

    def __call__(self, state: Any, /) -> Any:
        return MealyF(lambda i: (self.f(i), state))

    def __term__(self) -> t.Term:
        return t.box(t.name(self.f), t.own(self.f))


class Series(Composed):
    first: Any
    second: Any

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        first, second = _layers("series", (self.first, self.second), state, key)

        def after(i: Any) -> Any:
            middle, s = first.step(i)
            return second.step(middle), s

        match first, second:
            case MealyF(), MealyF():
                return MealyF(lambda i: _regrouped(*after(i)))
            case MealyF(), MooreF():
                return MooreF(second.out, lambda i: _swapped(*after(i)))
            case MooreF(), MooreF():
                return MooreF(second.out, lambda i: (first.step(i), second.step(first.out)))
            case _:
                out, r = second.step(first.out)
                return MooreF(out, lambda i: (first.step(i), r))

    def __term__(self) -> t.Term:
        return t.then(term_of(self.first), term_of(self.second))


class Parallel(Composed):
    first: Any
    second: Any

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        first, second = _layers("parallel", (self.first, self.second), state, key)

        def both(i: Any) -> Any:
            one, other = two("parallel", i)
            return first.step(one), second.step(other)

        def step(i: Any) -> Any:
            (o, s), (p, r) = both(i)
            return (o, p), (s, r)

        match first, second:
            case MooreF(), MooreF():
                return MooreF((first.out, second.out), both)
            case MealyF(), MealyF():
                return MealyF(step)
            case _:
                kinds = [f"`{name_of(m)}` gives {an(type(x).__name__)}" for m, x in self._each(first, second)]
                raise CdlError(
                    f"{' and '.join(kinds)}: the one answers each input, the other also before any. Give `parallel` "
                    "two of a kind, the Moore machine by `as_mealy`."
                )

    def __term__(self) -> t.Term:
        return t.beside(term_of(self.first), term_of(self.second))

    def _each(self, first: Any, second: Any) -> Any:
        return (self.first, first), (self.second, second)


class Loop(Composed):
    machine: Any

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        layer = layer_of(self.machine, state, key, 0)
        if isinstance(layer, MealyF):
            raise CdlError(
                f"`{name_of(self.machine)}` is a Mealy machine: what it would feed back may depend on the very input "
                "that it is fed, and a loop of that kind has no value. Put a Moore machine in the loop: "
                "`feedback(machine, delay)`."
            )
        out, back = layer.out
        return MooreF(out, lambda i: layer.step((i, back)))

    def __term__(self) -> t.Term:
        return t.loop(term_of(self.machine))


class LoopThrough(Composed):
    machine: Any
    through: Any

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        layer, loop = _layers("feedback", (self.machine, self.through), state, key)
        if not isinstance(layer, MealyF) or not isinstance(loop, MooreF):
            raise CdlError(
                "`feedback(f, g)` loops a Mealy machine `f` through a Moore machine `g`, and "
                f"`{name_of(self.machine)}` gives {an(type(layer).__name__)}, `{name_of(self.through)}` a "
                f"`{type(loop).__name__}`. A Moore machine loops by itself, `feedback(f)`; a loop through a Mealy "
                "machine may have no value."
            )

        def step(i: Any) -> Any:
            (out, back), s = layer.step((i, loop.out))
            return out, (s, loop.step(back))

        return MealyF(step)

    def __term__(self) -> t.Term:
        through = t.beside(t.wires(_same, "x", back=False), term_of(self.through))
        return t.loop(t.then(term_of(self.machine), through))


class AsMealy(Composed):
    machine: Any

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        layer = layer_of(self.machine, state, key, 0)
        if not isinstance(layer, MooreF):
            raise CdlError(
                f"`as_mealy` takes a Moore machine, and {described(self.machine)} gave {described(layer)}: one that "
                "gives `MealyF` is a Mealy machine already."
            )

        def step(i: Any) -> Any:
            after = layer.step(i)
            return layer_of(self.machine, after, key, 1).out, after

        return MealyF(step)

    def __term__(self) -> t.Term:
        return term_of(self.machine)


def _layers(name: str, machines: tuple[Any, Any], states: Any, key: Any) -> tuple[Any, Any]:
    """The layers of two machines at a pair of states."""
    s, r = two(name, states)
    return layer_of(machines[0], s, key, 0), layer_of(machines[1], r, key, 1)


_OF_JAX = jax.errors.JAXTypeError, jax.errors.JAXIndexError  # of a value that is not known yet


def layer_of(machine: Any, state: Any, key: Any, index: int | None = None) -> Any:
    """A machine's layer at a state, with a key from the given one where the machine takes it.

    **Raises:** `ForeignLayer` where it is not a layer of a machine.
    """
    if key is not None and wants_key(machine):
        layer = machine(state, key=key if index is None else jax.random.fold_in(key, index))
    else:
        try:
            layer = machine(state)
        except (AttributeError, IndexError, TypeError) as error:
            if type(state) is not tuple or state or isinstance(error, (CdlError, *_OF_JAX)):
                raise
            raise told(
                f"`{name_of(machine)}` fails for the state `()` ({first_line(error)}): a machine is a function of its "
                "state. Give a function from inputs to outputs as `stateless(f)`.",
                error,
            ) from error
    if not isinstance(layer, MealyF | MooreF):
        function = "" if isinstance(layer, Base) else "; or give `stateless(f)` of a function from inputs to outputs"
        raise ForeignLayer(
            f"`{name_of(machine)}` gives {an(type(layer).__name__)}, which is not a layer of a machine: return "
            f"`MealyF(step)` or `MooreF(out, step)`{function}."
        )
    return layer


def _swapped(r: Any, s: Any) -> Any:
    return s, r


def _regrouped(answer: Any, s: Any) -> Any:
    out, r = answer
    return out, (s, r)


def _same(x: Any) -> Any:
    return x
