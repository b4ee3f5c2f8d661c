"""What a state will be worth after each element of a monoid: all linear maps to these values that commute with it.

| the mathematics                                               | here                                               |
| ------------------------------------------------------------- | -------------------------------------------------- |
| a monoid `M` of functions on states, `e_s ↦ e_{m(s)}`         | an action `X` by `push` and `perm`                 |
| `ℝ^M` with `(n · φ)(m) = φ(m n)`                              | `futures(X)`                                       |
| the maps `e_s ↦ (m ↦ v(m s))`, for each `v` on the states     | `foresight(X, key=…)`, of `X.size` parameters      |
| the element that a word is, and a word for each element       | `number(futures(X), word)`, `words(futures(X))`    |
| the largest group in `M`: the generators with an inverse      | `units(X)`                                         |

A map `f` of actions has `f(x)(m) = (m · f(x))(1) = f(m · x)(1)`, so its values at the unit determine it. Therefore
`hom(X, futures(X))` has one dimension for each state, for every monoid: this is Yoneda's lemma. No inverse is used, and
nothing here is special to groups. Source: Gavranović et al., Categorical Deep Learning (2024), remark 2.9.

Examples:
    >>> from cdl_arch.symmetry import futures
    >>> counts = cdl.symmetry.monoids.saturating_counter(3)
    >>> futures.futures(counts).size, futures.words(futures.futures(counts))
    (3, [(), ('up',), ('up', 'up')])
"""

import functools
from collections.abc import Callable
from typing import TypeAlias

import jax
import numpy as np

from cdl.errors import CdlError
from cdl.symmetry import Action, Equivariant, generated, groups, Word, word_of


Element: TypeAlias = tuple[int, ...]


@functools.lru_cache(maxsize=64)
def futures(X: Action, limit: int = 10_000) -> Action:
    """The monoid that the generators of `X` generate, on functions of its elements; element 0 is the unit.

    **Arguments:** `X`: an action by functions of places, partial ones too: `push` and `perm`. `limit`: the most
    elements that there may be.

    **Raises:** `CdlError` where there are more elements than the limit, and for generators of other kinds.
    """
    letters = [_function(X, name) for name in X.names]
    times: Callable[[int, Element], Element] = lambda letter, at: tuple(-1 if i < 0 else at[i] for i in letters[letter])
    elements, targets = generated(tuple(range(X.size)), len(letters), times, limit, X)
    action = Action(len(elements))
    for name, goes in zip(X.names, targets, strict=True):
        action = action.pull(goes, name)
    return action


def number(future: Action, word: str | Word) -> int:
    """The number of the element that a word is, in `futures(X)`; the last letter acts first.

    **Arguments:** `future`: the action `futures(X)`. `word`: generators.
    """
    at = 0
    for name in word_of(word):
        at = int(future[name].columns[at])
    return at


def words(future: Action) -> list[Word]:
    """A shortest word for each element of `futures(X)`, by its number: `number(F, words(F)[i]) == i`.

    **Raises:** `CdlError` for another action.
    """
    return [
        word[::-1] for word in groups.words(future.transposed)
    ]  # products there are from the left, here from the right


def foresight(X: Action, channels: int | None = None, *, key: jax.Array) -> Equivariant:
    """The layer from states to their futures, `float[X.size] → float[elements]`: its parameters are one value for each
    state, and `channels` times as many with an axis of channels on what comes out."""
    return Equivariant(X, futures(X), None, channels, bias=False, key=key)


def units(X: Action) -> Action:
    """The same carrier with those generators alone that have an inverse in the monoid: permutations of the places."""
    return Action(X.shape, [x for x in X.generators if x.by_row and x.by_column and len(x.rows) == X.size])


def foresight_of_units(X: Action, channels: int | None = None, *, key: jax.Array) -> Equivariant:
    """The layer from states to futures that commutes with the invertible generators, and need not with others.

    **Arguments:** as of `foresight`.
    """
    kept = units(X)
    future = futures(X)
    known = Action(future.shape, [future[name] for name in kept.names])
    return Equivariant(kept, known, None, channels, bias=False, key=key)


def _function(X: Action, name: str) -> Element:
    """Where a generator sends each place; -1 for nowhere."""
    x = X[name]
    if x.lie or not x.by_column or np.any(x.values != 1):
        raise CdlError(f"`futures` takes functions of places, and generator `{name}` is none: give `push` or `perm`.")
    goes = np.full(x.size, -1)
    goes[x.columns] = x.rows
    return tuple(goes.tolist())
