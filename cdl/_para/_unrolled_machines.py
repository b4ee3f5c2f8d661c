"""Machines in `Para`: the network of one run, untied in time, and tied again.

| the mathematics                                             | here                                                 |
| ----------------------------------------------------------- | ---------------------------------------------------- |
| a parametric Mealy machine `(P, P × S → [I, O × S])`        | `Para[P, S, MealyF[I, O, S]]`                        |
| over `n` inputs: `Pⁿ × S → Oⁿ`                              | `unroll_machine(mealy, state, inputs)`               |
| a parametric Moore machine `(P, P × S → O × [I, S])`        | `Para[P, S, MooreF[I, O, S]]`                        |
| over `n` inputs: `Pⁿ⁺¹ × S → Oⁿ⁺¹`                          | `unroll_machine(moore, state, inputs)`               |
| a parametric stream `(P, P × S → O × S)`                    | `Para[P, S, StreamF[O, S]]`                          |
| its first `n` outputs: `Pⁿ × S → Oⁿ`                        | `unroll_machine(stream, state, n)`                   |
| tying in time, along `Δ : P → Pⁿ`                           | `untied.tied()`: `respond` or `take`, after `ana`    |

This is backpropagation through time, written out: each state that is met has a copy of the parameters, and the gradient
of the machine is the sum of theirs. The last state of a Moore machine gives an output and takes no input.

(Gavranović et al., *Categorical Deep Learning*, 2024, examples I.3 to I.5.)
"""

from collections.abc import Iterable
from typing import Any, overload, TypeVar

import equinox as eqx

from .._functors import MealyF, MooreF, StreamF
from .._functors.described import described
from .._functors.ordered import in_order
from .._functors.usage import whole, with_usage
from .._schemes.unfolds import expect_layer
from ..errors import CdlError, ForeignLayer
from ._unrolled_coalgebras import expect_para
from .para import Para
from .unrolled import Grower, Place, Untied


P = TypeVar("P")
S = TypeVar("S")
I = TypeVar("I")
O = TypeVar("O")


@overload
def unroll_machine(machine: Para[P, S, MealyF[I, O, S]], state: S, inputs: Iterable[I], /) -> Untied[P, list[O]]: ...
@overload
def unroll_machine(machine: Para[P, S, MooreF[I, O, S]], state: S, inputs: Iterable[I], /) -> Untied[P, list[O]]: ...
@overload
def unroll_machine(machine: Para[P, S, StreamF[O, S]], state: S, inputs: int, /) -> Untied[P, list[O]]: ...
@with_usage
def unroll_machine(machine: Any, state: Any, inputs: Any, /) -> Any:
    """The network of a parametric machine on one list of inputs, untied: each state has a copy of the parameters.

    **Arguments:** `state`: the one to begin in. `inputs`: a list, or an array whose leading axis is time; for a stream,
    which has none, how many outputs to take.

    **Returns:** the network, whose value is the list of outputs: one for each input, and of a Moore machine one more,
    the first before any input.

    **Raises:** `CdlError` where the first is not a `Para`, where inputs are given to a stream or a number to a machine,
    and where inputs have no order, as in a set;
    `ForeignLayer` where it gives no layer of a machine, or of another one later.

    Examples:
        >>> counter = cdl.Para(2, lambda p, n: cdl.MealyF(lambda i: (p * i + n, n + 1)))
        >>> cdl.para.unroll_machine(counter, 0, [5, 5])()
        [10, 11]
    """
    expect_para("unroll_machine", "machine", machine)
    kind = type(expect_layer(machine(state)))
    if kind not in (MealyF, MooreF, StreamF):
        raise ForeignLayer(
            f"`unroll_machine` takes a machine, which gives `MealyF`, `MooreF` or `StreamF`, and this one gives "
            f"`{kind.__name__}`: for trees, write `unroll_coalgebra(coalgebra, seed, until)`."
        )
    given: tuple[Any, ...] = ()
    if kind is StreamF:
        count = whole("inputs", inputs, least=0) if isinstance(inputs, int) else None
        if count is None:
            raise CdlError(
                f"a stream takes no inputs, and was given {described(inputs)}: give the number of outputs to take."
            )
    elif isinstance(inputs, Iterable):
        given = in_order("inputs", inputs)
        count = len(given) + (kind is MooreF)
    else:
        raise CdlError(
            f"`{kind.__name__}` takes inputs, and `unroll_machine` was given {described(inputs)}: give a list with an "
            "input for each step, or an array with a row for each."
        )
    places = tuple(Place(t, t, count - 1 - t, kind) for t in range(count))
    return Untied(Para((machine.params,) * count, _Running(machine.fn, state, given, kind, count)), places)


class _Running(Grower):
    """`Pⁿ × 1 → Oⁿ`: each state by its copy."""

    state: Any
    inputs: tuple[Any, ...]
    kind: type[Any] = eqx.field(static=True)
    count: int = eqx.field(static=True)

    def nodes(self) -> tuple[tuple[type[Any], int] | None, ...]:
        return tuple((self.kind, int(t + 1 < self.count)) for t in range(self.count))

    def __call__(self, params: Any, _: Any) -> list[Any]:
        state, outputs = self.state, []
        for t, copy in enumerate(params):
            layer = expect_layer(self.fn(copy, state))
            if type(layer) is not self.kind:
                raise ForeignLayer(
                    f"a machine gave `{self.kind.__name__}` at first, and gives `{type(layer).__name__}` in the state "
                    f"numbered {t}: give the same in every state."
                )
            last = t + 1 == len(params)
            if isinstance(layer, MealyF):
                output, state = layer.step(self.inputs[t])
            elif isinstance(layer, MooreF):
                output, state = layer.out, state if last else layer.step(self.inputs[t])
            else:
                output, state = layer.head, state if last else layer.tail()
            outputs.append(output)
        return outputs
