"""Machines, one step at a time: functors whose final coalgebras are behaviours.

| the mathematics   | here                                                    | its behaviours                 |
| ----------------- | ------------------------------------------------------- | ------------------------------ |
| `O × X`           | `StreamF[O, X]`: `head`, and `tail` when it is asked for| streams `O^ω`                  |
| `O × [I, X]`      | `MooreF[I, O, X]`: `out`, and `step` on an input        | functions `I* → O`             |
| `[I, O × X]`      | `MealyF[I, O, X]`: `step` gives an output and the next  | causal functions `I^ω → O^ω`   |

A place under a function is lazy: `ana` of such a functor gives a value that is observed, step by step, for ever.
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic, overload, TypeVar

from .base import Base, Fix
from .usage import with_types


I_contra = TypeVar("I_contra", contravariant=True)  # an input
O_co = TypeVar("O_co", covariant=True)  # an output
X = TypeVar("X", covariant=True)  # a recursive place
In = TypeVar("In")
Out = TypeVar("Out")


class Stream(Generic[O_co]):
    """The name of the functor `O × X`.

    Examples:
        >>> count = lambda n: cdl.functors.StreamF(n, lambda: n + 1)
        >>> numbers: cdl.Fix[cdl.functors.Stream[int]] = cdl.ana(count)(7)
        >>> cdl.functors.take(3, numbers)
        [7, 8, 9]
    """


class StreamF(Base["Stream[O_co]", X], Generic[O_co, X]):
    """An output now, and the rest when it is asked for.

    Examples:
        >>> ones = cdl.functors.StreamF(1, lambda: ones)
        >>> ones.tail().tail().head
        1
    """

    head: O_co
    tail: Callable[[], X]


class Moore(Generic[I_contra, O_co]):
    """The name of the functor `O × [I, X]`.

    Examples:
        >>> print(cdl.functor(cdl.MooreF))
        O × [I, X]
    """


class MooreF(Base["Moore[I_contra, O_co]", X], Generic[I_contra, O_co, X]):
    """An output that depends on the state alone, and the next state for each input.

    Examples:
        >>> def counter(n):
        ...     return cdl.MooreF(n, lambda step: n + step)
        >>> cdl.run(counter, 0, jnp.array([1, 2, 3]))[0]
        Array([0, 1, 3, 6], dtype=int32)
    """

    out: O_co
    step: Callable[[I_contra], X]


class Mealy(Generic[I_contra, O_co]):
    """The name of the functor `[I, O × X]`.

    Examples:
        >>> print(cdl.functor(cdl.MealyF))
        [I, O × X]
    """


class MealyF(Base["Mealy[I_contra, O_co]", X], Generic[I_contra, O_co, X]):
    """For each input, an output and the next state.

    Examples:
        >>> def total(n):
        ...     return cdl.MealyF(lambda x: (n + x, n + x))
        >>> cdl.run(total, 0, jnp.array([1, 2, 3]))[0]
        Array([1, 3, 6], dtype=int32)
    """

    step: Callable[[I_contra], tuple[O_co, X]]


@with_types
def take(n: int, stream: Fix[Stream[Out]]) -> list[Out]:
    """The first `n` outputs of a stream.

    **Raises:** `CdlError` for what is not a stream.

    Examples:
        >>> doubling = cdl.ana(lambda n: cdl.functors.StreamF(n, lambda: 2 * n))
        >>> cdl.functors.take(5, doubling(1))
        [1, 2, 4, 8, 16]
    """
    outputs: list[Out] = []
    rest: Any = stream
    for i in range(n):
        outputs.append(rest.head)
        rest = rest.tail() if i + 1 < n else rest
    return outputs


@overload
def respond(machine: Fix[Mealy[In, Out]], inputs: Iterable[In]) -> list[Out]: ...
@overload
def respond(machine: Fix[Moore[In, Out]], inputs: Iterable[In]) -> list[Out]: ...
@with_types
def respond(machine: Fix[Mealy[Any, Any]] | Fix[Moore[Any, Any]], inputs: Iterable[Any]) -> list[Any]:
    """The outputs of a machine's behaviour on these inputs.

    A Mealy machine gives one for each input. A Moore machine gives one more: its behaviour is a function of words,
    `I* → O`, and the first output is that of the empty word, before any input.

    **Arguments:** `machine`: a layer of behaviours, as `ana(machine)(state)` gives. `inputs`: one after the other.

    Examples:
        >>> def total(n):
        ...     return cdl.MealyF(lambda x: (n + x, n + x))
        >>> cdl.machines.respond(cdl.ana(total)(0), [1, 2, 3])
        [1, 3, 6]
    """
    outputs: list[Any] = []
    now: Any = machine
    for i in inputs:
        if isinstance(now, MooreF):
            outputs.append(now.out)
            now = now.step(i)
        else:
            output, now = now.step(i)
            outputs.append(output)
    return [*outputs, now.out] if isinstance(now, MooreF) else outputs
