"""Yes or no, for trees: batches, a loss and answers, for networks that read trees and for one that reads them written.

| the reader               | a batch is                                                                          |
| ------------------------ | ----------------------------------------------------------------------------------- |
| `Judge`, by `Trees`      | a forest of so many trees and about so many nodes, all in one program               |
| `GruReader`, by `Texts`  | texts of like length                                                                |

Both are asked in the same way: `batches(seed, epoch)`, `loss(model, batch, key)`, `answers(model, rows)`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from cdl import Corpus, Forest
from cdl.compiled import Bucket
from cdl_arch.data.batches import ahead
from cdl_arch.demo import Judge as Judge

from . import baselines


Rows = Int[np.ndarray, "*rows"]


class Trees:
    """Trees with their answers, as a `Judge` learns from them. `rows` are those to learn from.

    All batches are of one bucket, that of the heaviest one that can be drawn, or one that is given: so the steps of
    every epoch, and of every task with that bucket, are one program.
    """

    def __init__(
        self, corpus: Corpus, truth: Bool[np.ndarray, " n"], rows: Rows, size: int, bucket: Bucket | None = None
    ) -> None:
        self.corpus, self.truth, self.rows, self.size = corpus, truth, rows, size
        self.nodes = corpus.nodes
        self.steps = len(rows) // size
        by_nodes = rows[np.argsort(self.nodes[rows], kind="stable")]
        heaviest = by_nodes[::-1][: size * self.steps : max(self.steps, 1)]
        self.bucket = corpus[heaviest].bucket if bucket is None else bucket

    def batches(self, seed: int, epoch: int) -> Iterator[tuple[Forest, Array]]:
        """An epoch's batches, each a forest with its answers, packed ahead."""
        return ahead(self._packed, self.drawn(seed, epoch))

    def _packed(self, rows: Rows) -> tuple[Forest, Array]:
        return self.corpus.pack(rows, bucket=self.bucket), jnp.asarray(self.truth[rows], jnp.float32)

    def drawn(self, seed: int, epoch: int) -> Rows:
        """The trees of each batch: `size`, drawn so as to be equal in nodes; those left over have no part in it."""
        chance = np.random.default_rng([seed, epoch])
        mixed = chance.permutation(self.rows)[: self.steps * self.size]
        strata = mixed[np.argsort(self.nodes[mixed], kind="stable")].reshape(self.size, self.steps)
        return chance.permuted(strata, axis=1).T

    @staticmethod
    def loss(judge: Judge, batch: tuple[Forest, Array], key: PRNGKeyArray) -> Float[Array, ""]:
        """The mean cross-entropy."""
        return optax.sigmoid_binary_cross_entropy(judge(batch[0], key), batch[1]).mean()

    def answers(self, judge: Judge, rows: Rows) -> Bool[np.ndarray, " rows"]:
        """Yes or no for some trees, asked in forests like those of training: one program, where they fit its bucket."""
        many, found = -(-len(rows) // self.size), np.zeros(len(self.corpus), bool)
        padded = np.resize(rows[np.argsort(self.nodes[rows], kind="stable")], many * self.size)
        for some in (padded[i::many] for i in range(many)):
            fits = self.nodes[some].sum() <= self.bucket.nodes
            forest = self.corpus.pack(some, bucket=self.bucket if fits else None)
            found[some] = np.asarray(_logits(judge, forest)) > 0
        return found[rows]


class Texts:
    """The same trees written out, as a `GruReader` learns from them."""

    def __init__(
        self, texts: Sequence[Int[np.ndarray, " _"]], truth: Bool[np.ndarray, " n"], rows: Rows, size: int
    ) -> None:
        self.texts, self.truth, self.rows, self.size = texts, truth, rows, size
        self.steps = sum(1 for _ in self._batches(rows, 0))

    def batches(self, seed: int, epoch: int) -> Iterator[baselines.Batch]:
        """Every text once, in batches of like length."""
        return self._batches(self.rows, 1000 * seed + epoch)

    @staticmethod
    def loss(reader: baselines.GruReader, batch: Any, key: PRNGKeyArray) -> Float[Array, ""]:
        """The mean cross-entropy of the rows of a `Batch` that are texts."""
        logits = reader(batch.texts, key=key)
        real = jnp.asarray(batch.real, jnp.float32)
        wrong = optax.sigmoid_binary_cross_entropy(logits, jnp.asarray(batch.answers, jnp.float32))
        return jnp.sum(wrong * real) / jnp.sum(real)

    def answers(self, reader: baselines.GruReader, rows: Rows) -> Bool[np.ndarray, " rows"]:
        """Yes or no for some texts."""
        found = np.zeros(len(rows), bool)
        for batch in self._batches(rows, None):
            logits = np.asarray(_logits(reader, batch.texts))
            found[batch.indices[batch.real]] = logits[batch.real] > 0
        return found

    def _batches(self, rows: Rows, seed: int | None) -> Iterator[baselines.Batch]:
        return baselines.batches([self.texts[i] for i in rows], self.truth[rows], self.size, seed)


@eqx.filter_jit
def _logits(model: Any, batch: Any) -> Array:
    return model(batch)
