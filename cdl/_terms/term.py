"""Terms: how a map was put together, with wires on three sides.

| the mathematics                           | here             | its wires                                             |
| ----------------------------------------- | ---------------- | ----------------------------------------------------- |
| a map that is taken as given              | `Box`            | from above, from the left, and to the right           |
| the identity, the symmetry, `x ↦ (x, x)`  | `Wires`          | those on the left, each once or more, in some order   |
| `f >> g`, `f @ g`                         | `Then`, `Beside` | those above are paired, in reading order              |
| `⟨f, g⟩`                                  | `fan(f, g)`      | `Wires`, which copy, and then both side by side       |
| a reparametrisation                       | `Along`          | the cell stands above, and ends in those of the map   |
| a map with a name                         | `Named`          | those of the map                                      |
| `I × F → O × F`, along `F`                | `Loop`           | those of `I` and of `O`                               |
| `P × X`, with other wires of it above     | `Turned`         | those that wires lead to the map's left and its top   |

Parameters are above; `above` is `None` for an optic that takes none. Wires go one way in a parametric map, and there
and back in an optic: without its way back, an optic is a parametric map. A machine has its state above, with the next
state for its way back.

An architecture gives its term by a method `__term__`, and a function of parameters and an input by `__term_at__`, which
takes the parameters. What a box is called may be said by a property `__called__`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

from .names import name, numbers
from .space import join, none, pair, parameters, Space


@dataclass(frozen=True, eq=False)
class Sides:
    """What is on the left, on the right, and above."""

    source: Space
    target: Space
    above: Space | None

    @property
    def parts(self) -> "tuple[Term, ...]":
        """The terms that it is made of, without cells."""
        return ()


@dataclass(frozen=True, eq=False)
class One(Sides):
    inner: "Term"

    @property
    def parts(self) -> "tuple[Term, ...]":
        return (self.inner,)


@dataclass(frozen=True, eq=False)
class Two(Sides):
    first: "Term"
    second: "Term"

    @property
    def parts(self) -> "tuple[Term, ...]":
        return self.first, self.second


@dataclass(frozen=True, eq=False)
class Box(Sides):
    name: str


@dataclass(frozen=True, eq=False)
class Wires(Sides):
    """The source is made of `blocks`, of which the first `up` are in the first of a pair, if it is a pair. The target
    is made of those that `order` says."""

    blocks: tuple[Space, ...]
    order: tuple[int, ...]
    up: int | None = None

    @property
    def name(self) -> str:
        return {(0,): "identity", (1, 0): "swap"}.get(self.order, "wires")

    @property
    def copies(self) -> bool:
        """Whether a wire becomes several."""
        return len(set(self.order)) < len(self.order)


class Then(Two):
    pass


class Beside(Two):
    pass


@dataclass(frozen=True, eq=False)
class Along(One):
    cell: "Term"


@dataclass(frozen=True, eq=False)
class Named(One):
    name: str


@dataclass(frozen=True, eq=False)
class Loop(One):
    """What goes out last comes in last."""

    fed: Space


@dataclass(frozen=True, eq=False)
class Turned(One):
    """What wires lead to the inner term: to what is above it, and then to its left. The first `up` blocks of the wires
    come from above, the others from the left."""

    wires: Wires
    up: int


Term: TypeAlias = Union[Box, Wires, Then, Beside, Along, Named, Loop, Turned]


def term_of(fn: Callable[..., Any], params: Any) -> Term:
    """The term of a function of parameters and an input: what it says of itself in `__term_at__`, or a box."""
    says = None if isinstance(fn, type) else getattr(fn, "__term_at__", None)
    return box(name(fn), own(params)) if says is None else says(params)


def box(words: str, above: Space | None, *, back: bool = False) -> Box:
    """A map that is taken as given. `back`: whether its wires have a way back."""
    return Box(Space(back=back), Space(back=back), above, words)


def own(given: Any) -> Space:
    """The parameters of a module, which have no way back."""
    return parameters(numbers(given), back=False)


def wires(move: Callable[[Any], Any], pattern: Any, *, back: bool = True) -> Wires:
    """What a function does that only moves its input: `pattern` is an input, nested tuples of one letter for each
    part."""
    letters = _letters(pattern)
    blocks = tuple(Space(back=back) for _ in letters)

    def typed(of: Any) -> Space:
        return Space(tuple(map(typed, of))) if isinstance(of, tuple) else blocks[letters.index(of)]

    moved = move(pattern)
    up = len(_letters(pattern[0])) if isinstance(pattern, tuple) and len(pattern) == 2 else None
    return Wires(typed(pattern), typed(moved), None, blocks, tuple(map(letters.index, _letters(moved))), up)


def then(f: Term, g: Term) -> Then:
    """One after the other."""
    join(f.target, g.source)
    return Then(f.source, g.target, _both(f, g), f, g)


def beside(f: Term, g: Term) -> Beside:
    """One below the other."""
    return Beside(pair(f.source, g.source), pair(f.target, g.target), _both(f, g), f, g)


def fan(f: Term, g: Term) -> Then:
    """Both of one input."""
    return then(wires(lambda x: (x, x), "x", back=False), beside(f, g))


def along(inner: Term, cell: Term) -> Along:
    """With the parameters that a cell gives."""
    join(cell.target, inner.above or none())
    return Along(inner.source, inner.target, cell.source, inner, cell)


def loop(inner: Term) -> Loop:
    """With the second of what comes out for the second of what comes in."""
    x, y, fed = Space(back=False), Space(back=False), Space(back=False)
    join(inner.source, pair(x, fed))
    join(inner.target, pair(y, fed))
    return Loop(x, y, inner.above, inner, fed)


def named(inner: Term, words: str) -> Term:
    """With a name, which a box takes for its own."""
    if isinstance(inner, Box):
        return Box(inner.source, inner.target, inner.above, words)
    return Named(inner.source, inner.target, inner.above, inner, words)


def boxes(term: Term) -> list[Box]:
    """Every map that is taken as given, in the order of their parameters; those of cells are not among them."""
    return [term] if isinstance(term, Box) else [box for part in term.parts for box in boxes(part)]


def _both(f: Term, g: Term) -> Space | None:
    return f.above if g.above is None else g.above if f.above is None else pair(f.above, g.above)


def _letters(pattern: Any) -> list[str]:
    return [letter for part in pattern for letter in _letters(part)] if isinstance(pattern, tuple) else [pattern]
