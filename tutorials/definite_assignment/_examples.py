"""The examples: every distinct tree of the library once, and as many of one answer as of the other.

| the step        | here                                                                                            |
| --------------- | ----------------------------------------------------------------------------------------------- |
| collect         | the trees of each pair of a statement and a name; a file's part is the tree's part              |
| distinct        | equal trees are one example, of the first part that has it: no test example was trained on      |
| label           | whatever says the state after each: the exact algebra, folded                                   |
| balance         | statements that never finish are dropped, and in each part the commoner answer thinned at random |
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from cdl_arch.data import stdlib
from cdl_arch.demo import BOUND, MAX_SIZE, MAYBE, Pair, Reader, Tree


class Source(NamedTuple):
    """Where a tree was first seen: a file, the first and the last line of the statement, and the name watched."""

    path: Path
    line: int
    end: int
    name: str

    def text(self) -> str:
        """The lines of the statement, as they are written."""
        lines = self.path.read_bytes().decode("utf-8", "replace").splitlines()
        return "\n".join(lines[self.line - 1 : self.end])

    def __str__(self) -> str:
        return f"{stdlib.relative(self.path)}:{self.line}: {self.name}"


class Examples(NamedTuple):
    """Trees, with the size of each, its part (`stdlib.TRAIN`, `VALIDATION`, `TEST`) and its source.

    A tuple of four columns of one length: `examples.trees[i]` is the tree that `examples.sources[i]` shows.
    """

    trees: list[Tree]
    sizes: Int[np.ndarray, " n"]
    splits: Int[np.ndarray, " n"]
    sources: list[Source]

    def pick(self, indices: Int[np.ndarray, " m"]) -> "Examples":
        """The examples at these indices."""
        trees, sources = [self.trees[i] for i in indices], [self.sources[i] for i in indices]
        return Examples(trees, self.sizes[indices], self.splits[indices], sources)


def collect(paths: Iterable[Path] | None = None, max_size: int = MAX_SIZE) -> Examples:
    """The distinct trees of the standard library, or of some files of it, the training part first.

    **Arguments:** `paths`: the files, `stdlib.files()` where none are given. `max_size`: the largest statement.
    """
    reader, ordered = Reader(max_size), sorted(stdlib.files() if paths is None else paths, key=stdlib.split_of)
    found: dict[int, tuple[Path, Pair]] = {}
    for path, module in stdlib.syntax(ordered):
        for pair in reader.read(module):
            found.setdefault(id(pair.tree), (path, pair))  # equal trees are one object to one reader
    pairs = [pair for _, pair in found.values()]
    sources = [Source(path, pair.line, pair.end, pair.name) for path, pair in found.values()]
    splits = [stdlib.split_of(path) for path, _ in found.values()]
    sizes = np.array([pair.size for pair in pairs], np.int32)
    return Examples([pair.tree for pair in pairs], sizes, np.array(splits, np.int32), sources)


def balanced(states: Int[np.ndarray, " n"], splits: Int[np.ndarray, " n"], seed: int = 0) -> Int[np.ndarray, " m"]:
    """The indices of as many bound as maybe unbound examples in each part, in order; the rest dropped at random.

    **Arguments:** `states`: `UNREACHABLE`, `BOUND` or `MAYBE`, after each example. `splits`: the part of each.
    """
    chance, kept = np.random.default_rng(seed), []
    for split in np.unique(splits):
        answers = [np.flatnonzero((splits == split) & (states == answer)) for answer in (BOUND, MAYBE)]
        fewest = min(map(len, answers))
        kept += [chance.choice(answer, fewest, replace=False) for answer in answers]
    return np.sort(np.concatenate(kept)) if kept else np.zeros(0, np.int64)
