"""Maps of polynomials: dependent lenses, which are enumerated, composed and compared, and the polynomial of them.

| the mathematics                           | here                                                                  |
| ----------------------------------------- | --------------------------------------------------------------------- |
| `φ : p → q`                               | `DependentLens(p, q, sent)`                                           |
| all of `Poly(p, q)`                       | `lenses(p, q)`, of which there are `p.count(q)`                       |
| `[p, q] = Σ_{φ: p → q} y^{Σ_i q[φ i]}`    | `hom(p, q)`: a system with this interface wires `p` to `q` as it goes |

Source: D. Spivak, N. Niu, *Polynomial Functors: A Mathematical Theory of Interaction*, 2023.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from .._functors.usage import with_types
from .._functors.words import short
from ..errors import PortMismatch
from ._polynomial import Polynomial


Sent = tuple[Any, tuple[Any, ...]]  # where a position goes, and what each direction there comes back as


@dataclass(frozen=True, eq=False)
class DependentLens:
    """A map of polynomials: each position goes to one, and each direction there comes back as one here.

    **Arguments:** `sent`: for each position of the source, `(j, back)`: a position of the target, and in the order of
    its directions those that they come back as.

    **Raises:** `PortMismatch` for a position that is not sent, or not sent to a position, and for a direction whose
    image is not a direction.

    Examples:
        >>> table = cdl.system.of_automaton(cdl.Automaton([[1, 0], [0, 1]], [False, True]))
        >>> table.sent  # for each state: what it shows, and where each letter leads
        {0: (False, (1, 0)), 1: (True, (0, 1))}
    """

    source: Polynomial
    target: Polynomial
    sent: Mapping[Any, Sent]

    @with_types
    def __init__(self, source: Polynomial, target: Polynomial, sent: Mapping[Any, Any]) -> None:
        if extra := [i for i in sent if i not in source.directions]:
            raise PortMismatch(
                f"{short(extra[0])} is sent, and is none of the positions {short(list(source.positions))}."
            )
        if lost := [i for i in source.positions if i not in sent]:
            raise PortMismatch(
                f"the position {short(lost[0])} is sent nowhere: give `(position, directions back)` for it."
            )
        for name, value in (
            ("source", source),
            ("target", target),
            ("sent", {i: _sent(i, sent[i]) for i in source.positions}),
        ):
            object.__setattr__(self, name, value)
        for i, here in self.source.directions.items():
            j, back = self.sent[i]
            if j not in self.target.directions:
                raise PortMismatch(
                    f"the position {short(i)} is sent to {short(j)}, which is not a position of the target."
                )
            if len(back) != len(self.target.directions[j]) or not {*back} <= {*here}:
                raise PortMismatch(
                    f"{short(self.target.directions[j])} at {short(j)} come back as {short(back)}: give one of "
                    f"{short(here)} for each."
                )

    @staticmethod
    @with_types
    def identity(p: Polynomial) -> "DependentLens":
        return DependentLens(p, p, {i: (i, each) for i, each in p.directions.items()})

    def back(self, position: Any, direction: Any) -> Any:
        """The direction at a position of the source that one of the target comes back as.

        **Arguments:** `position`: one of the source. `direction`: one of the target, at the position that it is taken
        to.

        **Raises:** `PortMismatch` for what is not a position of the source, or no direction where that is sent.
        """
        expect_among("position", position, self.sent)
        j, each = self.sent[position]
        expect_among("direction", direction, self.target.directions[j])
        return each[self.target.directions[j].index(direction)]

    @with_types
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

    @with_types
    def __matmul__(self, other: "DependentLens") -> "DependentLens":
        """Both at once."""
        source, target = self.source @ other.source, self.target @ other.target
        sent: dict[Any, Sent] = {}
        for (i, (k, _)), (j, (m, _)) in product(self.sent.items(), other.sent.items()):
            sent[i, j] = (k, m), tuple((self.back(i, a), other.back(j, b)) for a, b in target.directions[k, m])
        return DependentLens(source, target, sent)

    @with_types
    def at(self, element: Sent) -> Sent:
        """The map `p(X) → q(X)`, at an element: natural in `X`.

        **Raises:** `PortMismatch` for what is not an element of `p(X)`.
        """
        i, values = element
        expect_among("position", i, self.sent)
        if len(values) != len(self.source.directions[i]):
            raise PortMismatch(
                f"{short(element)} has {len(values)} values, and {short(i)} has {len(self.source.directions[i])} "
                "directions: give a value for each."
            )
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


def expect_among(what: str, given: Any, every: Any) -> None:
    """**Raises:** `PortMismatch` for a value that is not among them."""
    try:
        there = given in every
    except TypeError:  # without a hash
        there = False
    if not there:
        raise PortMismatch(f"{short(given)} is not a {what} of this lens here: these are {short(list(every))}.")


def _sent(of: Any, given: Any) -> Sent:
    """Where a position goes. **Raises:** `PortMismatch` for what is not a pair, and for values without a hash."""
    try:
        at, back = given
        found = at, tuple(back)
        hash(found)
    except (TypeError, ValueError):
        raise PortMismatch(
            f"{short(of)} goes with {short(given)}: give `(position, directions back)`, hashable values."
        ) from None
    return found


@with_types
def lenses(p: Polynomial, q: Polynomial) -> Iterator[DependentLens]:
    """Every lens from one polynomial to another.

    **Arguments:** `p`, `q`: the source and the target.

    Examples:
        >>> p = cdl.system.Polynomial({"open": ["a", "b"], "shut": []})
        >>> q = cdl.system.Polynomial.monomial([0, 1], ["tick"])
        >>> len(list(cdl.system.lenses(q, p))), q.count(p)
        (4, 4)
    """
    ways = [
        [(j, back) for j, b in q.directions.items() for back in product(a, repeat=len(b))]
        for a in p.directions.values()
    ]
    return (DependentLens(p, q, dict(zip(p.positions, chosen, strict=True))) for chosen in product(*ways))


@with_types
def hom(p: Polynomial, q: Polynomial) -> Polynomial:
    """`[p, q]`: a lens, and what flows through it, which is a position of `p` and a direction where it goes.

    **Arguments:** `p`, `q`: the source and the target of the lenses.

    Examples:
        >>> p = cdl.system.Polynomial({"open": ["a", "b"], "shut": []})
        >>> q = cdl.system.Polynomial.monomial([0, 1], ["tick"])
        >>> print(cdl.system.hom(q, p))
        y⁴ + 2y² + 1
    """
    return Polynomial({f: [(i, d) for i, (j, _) in f.sent.items() for d in q.directions[j]] for f in lenses(p, q)})
