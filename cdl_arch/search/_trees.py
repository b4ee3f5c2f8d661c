"""Trees of four operations as they are written, and as a signature with fewer constructors reads them.

| the functor                      | here                                                                             |
| -------------------------------- | -------------------------------------------------------------------------------- |
| `F(X) = 2 + 4 X²`, as written    | `WRITTEN`: `Bit`, `First`, `Second`, `Third`, `Fourth`                           |
| `G(X) = 2 + m X²`, as read       | `Leaf`, and some of `A`, `B`, `C`, `D`                                           |
| an algebra of `F` on bits        | `meaning`: what the operations mean, which a search does not know                |

`First` and `Second` are two names of "not both"; `Third` and `Fourth` are two names of "the left one alone". So two
constructors are enough, and the second has to tell its children apart: `RIGHT`.
"""

from typing import Generic, Never, TypeVar, Union

import numpy as np

from cdl import algebra, Base, cata, Fix


X = TypeVar("X", covariant=True)


class Written:
    """Trees as they are written: the name of the functor."""


class Bit(Base[Written, Never]):
    """A leaf."""

    value: float


class First(Base[Written, X], Generic[X]):
    """An operation of two children."""

    left: X
    right: X


class Second(Base[Written, X], Generic[X]):
    """Another one."""

    left: X
    right: X


class Third(Base[Written, X], Generic[X]):
    """Another one."""

    left: X
    right: X


class Fourth(Base[Written, X], Generic[X]):
    """Another one."""

    left: X
    right: X


class Read:
    """Trees as a candidate reads them: the name of its functor."""


class Leaf(Base[Read, Never]):
    """A leaf."""

    value: float


class A(Base[Read, X], Generic[X]):
    """A constructor of two children."""

    left: X
    right: X


class B(Base[Read, X], Generic[X]):
    """Another one."""

    left: X
    right: X


class C(Base[Read, X], Generic[X]):
    """Another one."""

    left: X
    right: X


class D(Base[Read, X], Generic[X]):
    """Another one."""

    left: X
    right: X


WRITTEN = Union[Bit, First[X], Second[X], Third[X], Fourth[X]]
CONSTRUCTORS = (A, B, C, D)
OPERATIONS = (First, Second, Third, Fourth)
RIGHT = (0, 0, 1, 1, 0, 1, 0, 0)  # the constructor of each operation, then each constructor's cell
"""The code of the signature that made the trees of `tree_task`.

Examples:
    >>> from cdl_arch.search import RIGHT, Signatures
    >>> list(Signatures(4).described(jnp.array(RIGHT)).items())[:4]
    [('First', 'A'), ('Second', 'A'), ('Third', 'B'), ('Fourth', 'B')]
"""


@algebra
def meaning(layer: WRITTEN[bool]) -> bool:
    """What comes out of a tree."""
    match layer:
        case Bit(value):
            return value > 0.5
        case First(left, right) | Second(left, right):
            return not (left and right)
        case Third(left, right) | Fourth(left, right):
            return left and not right


def grown(count: int, depth: int, seed: list[int]) -> tuple[list[Fix[Written]], np.ndarray]:
    """Trees of random shape, of up to `depth` operations one after the other, and what each means: half are on."""
    chance = np.random.default_rng(seed)

    def one(depth: int, root: bool = True) -> Fix[Written]:
        if depth == 0 or (not root and chance.random() < 0.2):
            return Bit(float(chance.integers(2)))
        kind = OPERATIONS[chance.integers(len(OPERATIONS))]
        return kind(one(depth - 1, False), one(depth - 1, False))

    found: dict[bool, list[Fix[Written]]] = {False: [], True: []}
    wanted = {False: count - count // 2, True: count // 2}
    while any(len(found[on]) < wanted[on] for on in wanted):
        tree = one(depth)
        on = bool(cata(meaning)(tree))
        if len(found[on]) < wanted[on]:
            found[on].append(tree)
    return [*found[False], *found[True]], np.repeat([0, 1], [wanted[False], wanted[True]])
