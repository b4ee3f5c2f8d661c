"""A stack: pushes and pops as partial functions of what it holds, read by a layer with one parameter for each content.

| the mathematics                                                | here                                       |
| -------------------------------------------------------------- | ------------------------------------------ |
| words of at most `d` symbols, the top first                    | `contents(symbols, depth)`                 |
| `push_a: w ↦ a w`, lost where `w` is full; `pop: a w ↦ w`      | `stack(symbols, depth)`                    |
| `W[m, w] = v(m(w))`, and 0 where `m(w)` is lost                | `foresight(stack(…), key=…).weight`        |
| the symbols forgotten: `push ↦ + 1`, `pop ↦ − 1` on a circle   | `circle(symbols, depth)`                   |

`pop · push_a = 1`, and `push_a · pop` is not: a pop forgets a symbol. A memory outside a network is an action of this
monoid, and a map that commutes with it says of each content what it will give after any pushes and pops.

Examples:
    >>> from cdl_arch.symmetry import stack
    >>> stack.contents(2, 1)
    [(), (0,), (1,)]
"""

import itertools

import numpy as np

from cdl.errors import CdlError
from cdl.symmetry import Action, groups


Content = tuple[int, ...]


def contents(symbols: int, depth: int) -> list[Content]:
    """What a stack can hold: the empty word first, then by length; the top is the first symbol.

    **Arguments:** `symbols`: how many there are. `depth`: the most that a stack holds.

    **Raises:** `CdlError` for fewer than one symbol, or a depth below one.
    """
    if symbols < 1 or depth < 1:
        raise CdlError(f"a stack of {symbols} symbols and depth {depth}: give 1 or more of each.")
    lengths = range(depth + 1)
    return [word for length in lengths for word in itertools.product(range(symbols), repeat=length)]


def stack(symbols: int, depth: int) -> Action:
    """Pushes of each symbol, `push0`, `push1`, …, and `pop`: on vectors with a place for each content.

    **Arguments:** `symbols`: how many there are. `depth`: the most that a stack holds.
    """
    words = contents(symbols, depth)
    place = {word: i for i, word in enumerate(words)}
    action = Action(len(words))
    for symbol in range(symbols):
        action = action.push([place.get((symbol, *word), -1) for word in words], f"push{symbol}")
    return action.push([place[word[1:]] if word else -1 for word in words], "pop")


def circle(symbols: int, depth: int) -> Action:
    """A group on as many places, with the names of `stack(symbols, depth)`: a push is a step, a pop the step back."""
    places = len(contents(symbols, depth))
    (step,) = groups.cyclic(places).generators
    pushes = [step.renamed(f"push{symbol}") for symbol in range(symbols)]
    return Action(places, pushes).perm(np.roll(np.arange(places), 1), "pop")
