"""Growing on two devices of the host: run by `test_shard.py`, in a Python of its own."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import cdl


jax.config.update("jax_enable_x64", True)

SEEDS = jnp.linspace(0.5, 7.0, 10)
NODES = 60


class Splitter(eqx.Module):
    """Numbers are split until they are small."""

    share: Any
    slope: Any

    def __call__(self, x: Any) -> Any:
        scores = jnp.stack([1 - x, x - 1]) * self.slope
        return cdl.choose(scores, cdl.Leaf(self.slope * x), cdl.Fork(self.share * x, (1 - self.share) * x))


@cdl.algebra
def squares(layer: Any) -> Any:
    """Not even in its children, so that their order counts."""
    return layer.label**2 if isinstance(layer, cdl.Leaf) else layer.left + 0.7 * layer.right


def near(mine: Any, true: Any) -> Any:
    """How likely a leaf's label is."""
    return -((mine.label - true.label) ** 2) if isinstance(true, cdl.Leaf) else 0.0


def unfolded(splitter: Splitter, part: Any) -> Any:
    grown = cdl.unfold(splitter, part[0], NODES)
    return (grown.payload[0] ** 2).sum() + (grown.log_prob**2).sum()


def refolded(splitter: Splitter, part: Any) -> Any:
    return (cdl.refold(squares, splitter, part[0], NODES)[0] ** 2).sum()


def followed(splitter: Splitter, part: Any) -> Any:
    return (cdl.follow(splitter, part[1], part[0], payload=near) ** 2).sum()


def main() -> None:
    splitter, mesh = Splitter(jnp.array(0.3), jnp.array(0.9)), jax.make_mesh((2,), ("data",))
    grown = cdl.unfold(Splitter(jnp.array(0.4), jnp.array(1.1)), SEEDS, NODES)
    corpus = cdl.Corpus(cdl.TreeF[float, Any], [tree.unwrap() for tree in grown.results()])
    rows = cdl.compiled.balance(corpus.nodes, len(mesh.devices))
    bucket = corpus[max(rows, key=lambda part: corpus.nodes[part].sum())].bucket
    shards = cdl.compiled.shard([(SEEDS[part], corpus.pack(part, bucket=bucket)) for part in rows], mesh)
    for made in (unfolded, refolded, followed):
        of_part = lambda splitter, part, made=made: (made(splitter, part), jnp.array(5.0))
        of_all = lambda splitter, made=made: made(splitter, (SEEDS, corpus[:])) / 10
        found = eqx.filter_jit(eqx.filter_value_and_grad(cdl.compiled.shard_mean(of_part)))(splitter, shards)
        wanted = eqx.filter_jit(eqx.filter_value_and_grad(of_all))(splitter)
        for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-10)
            assert abs(y) > 0.1, made
    print("agrees")


if __name__ == "__main__":
    main()
