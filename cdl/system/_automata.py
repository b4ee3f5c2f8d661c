"""Moore machines as maps of polynomials.

| the mathematics                              | here                                |
| -------------------------------------------- | ----------------------------------- |
| `Poly(S y^S, A y^B)` are the Moore machines  | `of_automaton`, `to_automaton`      |
"""

from typing import Any

from .._functors.usage import with_types
from .._functors.words import short
from .._schemes import Automaton
from ..errors import CdlError
from ._lens import DependentLens, Sent
from ._polynomial import Polynomial


@with_types
def of_automaton(automaton: Automaton) -> DependentLens:
    """A Moore machine as a lens from `S y^S`: a state shows its output, and a letter comes back as the next state.

    **Raises:** `CdlError` for a Mealy machine, whose outputs are not those of its states.

    Examples:
        >>> even = cdl.Automaton([[0, 1], [1, 0]], [True, False])
        >>> cdl.system.to_automaton(cdl.system.of_automaton(even), 0).next
        array([[0, 1],
               [1, 0]], dtype=int32)
    """
    if automaton.is_mealy:
        raise CdlError(f"{automaton} answers letters, and a lens shows what a state does: give a Moore machine.")
    states, letters = range(automaton.states), range(automaton.letters)
    outputs = [x.item() for x in automaton.outputs]
    target = Polynomial.monomial(dict.fromkeys(outputs), letters)
    sent: dict[Any, Sent] = {s: (outputs[s], tuple(int(x) for x in automaton.next[s])) for s in states}
    return DependentLens(Polynomial.monomial(states, states), target, sent)


@with_types
def to_automaton(lens: DependentLens, start: Any) -> Automaton:
    """A lens from `S y^S` to `A y^B` as a Moore machine, whose letters are the numbers of the directions.

    **Arguments:** `lens`: from the states to the interface. `start`: the first state.

    **Raises:** `CdlError` where the source is not of that form, or the positions of the target have other directions.

    Examples:
        >>> even = cdl.Automaton([[0, 1], [1, 0]], [True, False])
        >>> cdl.system.to_automaton(cdl.system.of_automaton(even), 0).outputs
        array([ True, False])
    """
    states = lens.source.positions
    each = dict.fromkeys(lens.target.directions.values())
    if lens.source != Polynomial.monomial(states, states) or len(each) > 1 or start not in states:
        raise CdlError(
            f"a lens from {lens.source} to {lens.target}, from {short(start)}, is not a machine: it goes from states "
            "with all states for directions to positions with the same directions, and begins in a state."
        )
    number = {s: i for i, s in enumerate(states)}
    after = [[number[s] for s in back] for _, back in lens.sent.values()]
    return Automaton(after, [out for out, _ in lens.sent.values()], number[start])
