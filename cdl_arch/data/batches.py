"""Batches, packed while the network trains on the batch before.

| the thing              | what it is                                                                             |
| ---------------------- | -------------------------------------------------------------------------------------- |
| `ahead(make, items)`   | `map(make, items)`, in order, some of them made beforehand by threads                  |
| `Batches(corpus, …)`   | epochs of forests; all of them are of a few buckets, and so run in a few programs      |

`corpus.batches` is one epoch in one bucket. With `Batches`, light batches have smaller buckets than heavy ones. An
epoch depends on its number and the seed alone, so it may begin at any step: `batches(epoch, step)`. Packing runs in
threads: it is NumPy and a copy to the device, which let other threads run.

Examples:
    >>> import numpy as np
    >>> from cdl_arch.data.batches import Batches
    >>> corpus = cdl.Corpus(cdl.TreeF, [cdl.Leaf(i) for i in range(5)])
    >>> epochs = Batches(corpus, np.arange(5), 2)
    >>> sum(len(forest) for forest, _ in epochs(0))
    5
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from cdl import CdlError, Corpus, Forest
from cdl._engine.calls._ahead import ahead as ahead
from cdl.checks import whole
from cdl.compiled import Bucket


Rows = Int[np.ndarray, " rows"]

TRIED = 16  # from how many epochs the sizes of batches are learnt


class Batches:
    """Epochs of a corpus: every tree once, in a new order each time, `size` at a time. A value of it is a function from
    the number of an epoch to its batches: what `train` asks for.

    **Arguments:** `corpus`: the trees. `rows`: the numbers of those to take. `size`: how many trees a batch has; what
    is left over at the end of an epoch is a smaller batch, or none. `labels`: arrays with a row for each tree of the
    corpus. `programs`: the most buckets and numbers of trees, together, that there are. `workers`: how many threads
    pack; the batches do not depend on it.

    **Raises:** `CdlError` for a batch of no trees, an epoch of no batches, `labels` without a row for each tree of the
    corpus, and where `programs` is too few.
    """

    def __init__(
        self,
        corpus: Corpus,
        rows: Rows,
        size: int,
        *,
        labels: Any = None,
        seed: int = 0,
        programs: int = 4,
        workers: int = 1,
        keep_last: bool = True,
    ) -> None:
        whole("programs", programs)
        whole("seed", seed, least=0)
        whole("workers", workers, least=0)
        short = [np.shape(x) for x in jax.tree.leaves(labels) if np.shape(x)[:1] != (len(corpus),)]
        if short:
            raise CdlError(
                f"`labels` has an array of shape {short[0]}, and the corpus has {len(corpus)} trees: give a row for "
                "each tree of the corpus, not of `rows` alone."
            )
        rest = len(rows) % size if size > 0 and keep_last else 0
        rungs = programs - (1 if rest and len(rows) > size else 0)
        if size < 1 or not len(rows) or rungs < 1 or (len(rows) < size and not keep_last):
            raise CdlError(
                f"batches of {size} out of {len(rows)} trees in {programs} programs: there must be a tree in a batch, "
                "a batch in an epoch, and a program for whole batches beside that for what is left over."
            )
        self.corpus, self.rows, self.size, self.labels, self.seed = corpus, rows, size, labels, seed
        self.workers, self.keep_last = workers, keep_last
        heaviest = corpus[rows[np.argsort(corpus.nodes[rows], kind="stable")[::-1][:size]]].bucket
        totals = [int(corpus.nodes[some].sum()) for epoch in range(TRIED) for some in self.plan(epoch)]
        ladder = [_rounded(int(np.quantile(totals, (i + 1) / rungs))) for i in range(rungs - 1)] if totals else []
        rooms = sorted({*(min(n, heaviest.nodes) for n in ladder), heaviest.nodes})
        self.buckets: tuple[Bucket, ...] = tuple(dataclasses.replace(heaviest, nodes=n) for n in rooms)

    @property
    def steps(self) -> int:
        """How many batches an epoch has."""
        return -(-len(self.rows) // self.size) if self.keep_last else len(self.rows) // self.size

    def plan(self, epoch: int) -> list[Int[np.ndarray, " _"]]:
        """The trees of each batch of an epoch."""
        mixed = np.random.default_rng([self.seed, epoch]).permutation(self.rows)
        return [mixed[i * self.size : (i + 1) * self.size] for i in range(self.steps)]

    def pack(self, rows: Rows) -> tuple[Forest, Any]:
        """The batch of these trees: in the smallest bucket that has room, or if they are fewer in the largest."""
        total = int(self.corpus.nodes[rows].sum())
        fitting = [b for b in self.buckets if total <= b.nodes] if len(rows) == self.size else [self.buckets[-1]]
        labels = jax.tree.map(lambda x: jnp.asarray(x[rows]), self.labels)
        return self.corpus.pack(rows, bucket=fitting[0]), labels

    def __call__(self, epoch: int, start: int = 0) -> Iterator[tuple[Forest, Any]]:
        """The batches of an epoch from a step on, each a forest and its labels.

        **Raises:** `CdlError` for an epoch or a step below 0.
        """
        whole("epoch", epoch, least=0)
        whole("start", start, least=0)
        return ahead(self.pack, self.plan(epoch)[start:], workers=self.workers)


def _rounded(nodes: int) -> int:
    """Up to a 16th of an octave, so that epochs of other seeds have the same buckets."""
    step = max(1, (1 << nodes.bit_length()) // 32)
    return -(-nodes // step) * step
