"""A tree as a text: every symbol of it in order, with brackets, and texts of like length in one array.

| the tree                              | written                                        |
| ------------------------------------- | ---------------------------------------------- |
| a constructor without places          | its name                                       |
| one with places                       | its name, what stands at the places, a bracket |
| one that goes on a list (`spines`)    | its name and its places, with no bracket       |

So with `spines=(Cons,)` a list is `Cons a Cons b Nil`: `Cons` for a comma and `Nil` for the end, and no heap of
brackets at its end. It can be read back, since every constructor has a fixed number of places.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Int

from cdl import functor, Seq
from cdl.functors import constructors, holes


PADDING, BRACKET = 0, 1


class Alphabet:
    """The symbols of a signature: padding, the closing bracket, and one for each constructor."""

    def __init__(self, signature: Any, spines: Sequence[type[Any]] = ()) -> None:
        functor(signature)  # refuses what is no signature
        self.codes = {kind: code for code, kind in enumerate(constructors(signature), BRACKET + 1)}
        self.spines = frozenset(spines)

    def __len__(self) -> int:
        return len(self.codes) + BRACKET + 1

    def write(self, tree: Any) -> Int[np.ndarray, " length"]:
        """The codes of a tree's symbols, from left to right."""
        text: list[int] = []
        stack = [tree]
        while stack:
            node = stack.pop()
            if node is None:
                text.append(BRACKET)
                continue
            inside = holes(node)
            text.append(self.codes[type(node)])
            stack += [None] if inside and type(node) not in self.spines else []
            stack += reversed(inside)
        return np.array(text, np.int32)


class Batch(NamedTuple):
    """Texts of like length with their answers; `real` is false in the rows that only fill the batch up."""

    texts: Seq[Int[Array, ""]]
    answers: Bool[np.ndarray, " batch"]
    real: Bool[np.ndarray, " batch"]
    indices: Int[np.ndarray, " batch"]


def batches(
    texts: Sequence[Int[np.ndarray, " _"]], answers: Bool[np.ndarray, " n"], size: int, seed: int | None = None
) -> Iterator[Batch]:
    """Every text once, in batches of one shape for each of a few lengths: powers of two from 32.

    **Arguments:** `size`: rows in a batch. `seed`: of the order, which is that of the lengths where it is `None`.
    """
    lengths = np.array([len(text) for text in texts], np.int32)
    ordered = np.arange(len(texts)) if seed is None else np.random.default_rng(seed).permutation(len(texts))
    buckets = np.array([_bucket(int(length)) for length in lengths])
    groups = [ordered[buckets[ordered] == bucket] for bucket in np.unique(buckets)]
    rows = [group[i : i + size] for group in groups for i in range(0, len(group), size)]
    for k in range(len(rows)) if seed is None else np.random.default_rng(seed).permutation(len(rows)):
        some, filler = rows[k], np.zeros(size - len(rows[k]), np.int64)
        indices = np.concatenate([some, filler]).astype(np.int64)
        padded = np.full((size, buckets[some[0]]), PADDING, np.int32)
        for row, i in enumerate(some):
            padded[row, : lengths[i]] = texts[i]
        real = np.arange(size) < len(some)
        yield Batch(Seq(padded, np.where(real, lengths[indices], 0)), answers[indices] & real, real, indices)


def _bucket(length: int) -> int:
    """The least of 32, 64, 128 … that holds a length: each is one more program to compile."""
    return max(32, 1 << (length - 1).bit_length())
