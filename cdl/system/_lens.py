"""Maps of polynomials: dependent lenses, which are enumerated, composed and compared, and the polynomial of them.

| the mathematics                           | here                                                                  |
| ----------------------------------------- | --------------------------------------------------------------------- |
| `φ : p → q`                               | `DependentLens(p, q, sent)`                                           |
| all of `Poly(p, q)`                       | `lenses(p, q)`, of which there are `p.count(q)`                       |
| `[p, q] = Σ_{φ: p → q} y^{Σ_i q[φ i]}`    | `hom(p, q)`: a system with this interface wires `p` to `q` as it goes |
| `Poly(r ⊗ p, q) ≅ Poly(r, [p, q])`        | `curry`, `uncurry`                                                    |
| `Poly(S y^S, A y^B)`: the Moore machines  | `of_automaton`, `to_automaton`                                        |

Source: D. Spivak, N. Niu, *Polynomial Functors: A Mathematical Theory of Interaction*, 2023.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from .._functors.usage import with_types
from .._functors.words import short
from .._schemes import Automaton
from ..errors import CdlError, PortMismatch
from ._polynomial import Polynomial


Sent = tuple[Any, tuple[Any, ...]]  # where a position goes, and what each direction there comes back as


@dataclass(frozen=True, eq=False)
class DependentLens:
    """A map of polynomials: each position goes to one, and each direction there comes back as one here.

    **Arguments:** `sent`: for each position of the source, `(j, back)`: a position of the target, and in the order of
    its directions those that they come back as.

    **Raises:** `PortMismatch` for a position that is not sent, or sent to what is none, and for a direction that comes
    back as none.
    """

    source: Polynomial
    target: Polynomial
    sent: Mapping[Any, Sent]

    def __post_init__(self) -> None:
        for i, here in self.source.directions.items():
            if i not in self.sent:
                raise PortMismatch(
                    f"the position {short(i)} is sent nowhere: give `(position, directions back)` for it."
                )
            j, back = self.sent[i]
            if j not in self.target.directions:
                raise PortMismatch(
                    f"the position {short(i)} is sent to {short(j)}, which is no position of the target."
                )
            if len(back) != len(self.target.directions[j]) or not {*back} <= {*here}:
                raise PortMismatch(
                    f"{short(self.target.directions[j])} at {short(j)} come back as {short(back)}: give one of "
                    f"{short(here)} for each."
                )

    @staticmethod
    def identity(p: Polynomial) -> "DependentLens":
        return DependentLens(p, p, {i: (i, each) for i, each in p.directions.items()})

    def back(self, position: Any, direction: Any) -> Any:
        """The direction at a position of the source that one of the target comes back as."""
        j, each = self.sent[position]
        return each[self.target.directions[j].index(direction)]

    def __rshift__(self, other: "DependentLens") -> "DependentLens":
        """One after the other. **Raises:** `PortMismatch` where the first does not end where the second begins."""
        if self.target != other.source:
            raise PortMismatch(
                f"a lens to {self.target} and one from {other.source}: the first ends where the second begins."
            )
        sent: dict[Any, Sent] = {}
        for i, (j, _) in self.sent.items():
            k, back = other.sent[j]
            sent[i] = k, tuple(self.back(i, d) for d in back)
        return DependentLens(self.source, other.target, sent)

    def __matmul__(self, other: "DependentLens") -> "DependentLens":
        """Both at once."""
        source, target = self.source @ other.source, self.target @ other.target
        sent: dict[Any, Sent] = {}
        for (i, (k, _)), (j, (m, _)) in product(self.sent.items(), other.sent.items()):
            sent[i, j] = (k, m), tuple((self.back(i, a), other.back(j, b)) for a, b in target.directions[k, m])
        return DependentLens(source, target, sent)

    def at(self, element: Sent) -> Sent:
        """The map `p(X) → q(X)`, at an element: natural in `X`."""
        i, values = element
        j, back = self.sent[i]
        return j, tuple(values[self.source.directions[i].index(d)] for d in back)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DependentLens):
            return NotImplemented
        return (self.source, self.target, self._maps) == (other.source, other.target, other._maps)

    def __hash__(self) -> int:
        return hash((self.source, self.target, frozenset(self._maps.items())))

    @cached_property
    def _maps(self) -> dict[Any, tuple[Any, frozenset[Any]]]:
        """What it does, whatever the order of directions."""
        return {
            i: (j, frozenset(zip(self.target.directions[j], back, strict=True))) for i, (j, back) in self.sent.items()
        }


@with_types
def lenses(p: Polynomial, q: Polynomial) -> Iterator[DependentLens]:
    """Every lens from one polynomial to another."""
    ways = [
        [(j, back) for j, b in q.directions.items() for back in product(a, repeat=len(b))]
        for a in p.directions.values()
    ]
    return (DependentLens(p, q, dict(zip(p.positions, chosen, strict=True))) for chosen in product(*ways))


@with_types
def hom(p: Polynomial, q: Polynomial) -> Polynomial:
    """`[p, q]`: a lens, and what flows through it, which is a position of `p` and a direction where it goes."""
    return Polynomial({f: [(i, d) for i, (j, _) in f.sent.items() for d in q.directions[j]] for f in lenses(p, q)})


@with_types
def curry(lens: DependentLens, r: Polynomial, p: Polynomial) -> DependentLens:
    """Of `r ⊗ p → q`, the lens `r → [p, q]`: a position of `r` wires `p` to `q`.

    **Raises:** `PortMismatch` where the lens does not begin at `r ⊗ p`.
    """
    if lens.source != r @ p:
        raise PortMismatch(f"a lens from {lens.source} cannot be curried from {r} ⊗ {p}, which is {r @ p}.")
    q = lens.target
    inner = hom(p, q)
    sent: dict[Any, Sent] = {}
    for k in r.positions:
        wired = DependentLens(
            p, q, {i: (lens.sent[k, i][0], tuple(b for _, b in lens.sent[k, i][1])) for i in p.positions}
        )
        at = next(f for f in inner.positions if f == wired)
        sent[k] = at, tuple(lens.back((k, i), d)[0] for i, d in inner.directions[at])
    return DependentLens(r, inner, sent)


@with_types
def uncurry(lens: DependentLens, p: Polynomial, q: Polynomial) -> DependentLens:
    """Of `r → [p, q]`, the lens `r ⊗ p → q`: the other way of `curry`.

    **Raises:** `PortMismatch` where the lens does not end at `[p, q]`.
    """
    if lens.target != hom(p, q):
        raise PortMismatch(f"a lens to {lens.target} cannot be uncurried to [{p}, {q}], which is {hom(p, q)}.")
    r = lens.source
    sent: dict[Any, Sent] = {}
    for k, i in product(r.positions, p.positions):
        wired = lens.sent[k][0]
        assert isinstance(wired, DependentLens)
        j, _ = wired.sent[i]
        sent[k, i] = j, tuple((lens.back(k, (i, d)), wired.back(i, d)) for d in q.directions[j])
    return DependentLens(r @ p, q, sent)


@with_types
def of_automaton(automaton: Automaton) -> DependentLens:
    """A Moore machine as a lens from `S y^S`: a state shows its output, and a letter comes back as the next state.

    **Raises:** `CdlError` for a Mealy machine, whose outputs are not those of its states.
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

    **Raises:** `CdlError` where the source is not of that form, or the positions of the target have other directions.
    """
    states = lens.source.positions
    each = dict.fromkeys(lens.target.directions.values())
    if lens.source != Polynomial.monomial(states, states) or len(each) > 1 or start not in states:
        raise CdlError(
            f"a lens from {lens.source} to {lens.target}, from {short(start)}, is no machine: it goes from states with "
            "all states for directions to positions with the same directions, and begins in a state."
        )
    number = {s: i for i, s in enumerate(states)}
    after = [[number[s] for s in back] for _, back in lens.sent.values()]
    return Automaton(after, [out for out, _ in lens.sent.values()], number[start])
