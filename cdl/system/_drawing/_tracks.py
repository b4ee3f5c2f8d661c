"""Wires between two columns: each turns in a track, and tracks are ordered so that few wires cross and none overlap.

| the drawing                                       | here                                                   |
| ------------------------------------------------- | ------------------------------------------------------ |
| a wire with all its ends in one row               | has no `Piece`: it goes straight                       |
| another one: level, upright in its track, level   | a `Piece`, with the rows of its ends on both sides     |
| one ends on the left where another on the right   | the first turns before the second                      |
| wires of which each must turn before the other    | one of them turns twice, with an odd row between       |

Source: A. Hashimoto, J. Stevens, *Wire routing by optimizing channel assignment within large apertures*, 1971.
"""

from collections.abc import Iterable
from dataclasses import dataclass


MOST = 40  # pieces that are put in order pair by pair


@dataclass
class Piece:
    """An upright stretch of a net, with the rows in which it is joined with what is on its left and on its right."""

    net: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    track: int = 0

    @property
    def low(self) -> int:
        return min((*self.left, *self.right))

    @property
    def high(self) -> int:
        return max((*self.left, *self.right))

    def before(self, other: "Piece") -> bool:
        """Whether it has to turn before another one: it ends on the left in a row where that ends on the right."""
        return self.net != other.net and bool({*self.left} & {*other.right})

    def meets(self, other: "Piece") -> bool:
        """Whether both cannot be in one track."""
        return self.low <= other.high and other.low <= self.high


def tracks(found: Iterable[Piece]) -> list[Piece]:
    """The pieces that turn, each in its track, from 0; some in two parts."""
    pieces = _free([x for x in found if x.low != x.high])
    pieces.sort(key=_slope)
    if len(pieces) <= MOST:
        _improve(pieces)
    done: list[Piece] = []
    while pieces:
        ready = next(x for x in pieces if not any(y.before(x) or _halves(y, x) for y in pieces if y is not x))
        pieces.remove(ready)
        ready.track = max((x.track + 1 for x in done if x.meets(ready)), default=0)
        done.append(ready)
    return done


def _halves(first: Piece, second: Piece) -> bool:
    """Whether these are the parts of one piece, in this order."""
    return first.net == second.net and bool({*first.right} & {*second.left})


def _slope(piece: Piece) -> tuple[bool, float, int]:
    """Those that go up first, from the top; then those that go down, from the bottom."""
    left = sum(piece.left) / max(1, len(piece.left))
    right = sum(piece.right) / max(1, len(piece.right))
    return right > left, left if right <= left else -left, piece.net


def _improve(pieces: list[Piece]) -> None:
    """Exchanges neighbours as long as wires cross less for it."""
    better = True
    while better:
        better = False
        for i in range(len(pieces) - 1):
            a, b = pieces[i : i + 2]
            if _cross(b, a) < _cross(a, b):
                pieces[i : i + 2], better = [b, a], True


def _cross(a: Piece, b: Piece) -> int:
    """How often two pieces cross, where the first is further to the left."""
    return sum(b.low < row < b.high for row in a.right) + sum(a.low < row < a.high for row in b.left)


def _free(pieces: list[Piece]) -> list[Piece]:
    """The same with no circle of pieces of which each has to turn before the next: each is broken at one piece."""
    taken = {row for x in pieces for row in (*x.left, *x.right)}
    waiting, found = list(pieces), list[Piece]()
    while waiting:
        ready = next((x for x in waiting if not any(y.before(x) for y in waiting if y is not x)), None)
        if ready is not None:
            waiting.remove(ready)
            found.append(ready)
            continue
        one = next(x for x in waiting if any(x.before(y) for y in waiting if y is not x) and x.left)
        row = next(r for r in _odd((one.low + one.high) // 2) if r not in taken)
        taken.add(row)
        waiting.remove(one)
        waiting += [Piece(one.net, one.left, (row,)), Piece(one.net, (row,), one.right)]
    return found


def _odd(near: int) -> Iterable[int]:
    """The odd numbers, nearest first."""
    odd = near | 1
    for i in range(10**6):
        yield odd + 2 * i
        yield odd - 2 * i
