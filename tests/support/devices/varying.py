"""Two devices of the host under `jax.shard_map`: run by `test_shard.py`, in a Python of its own."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P
from smooth_forms import cell, halves, net, W

import cdl


SEQ = cdl.Seq(jnp.ones((2, 3)), jnp.array([3, 1]))


def down(w: Any) -> Any:
    return lambda depth, layer: cdl.fmap(lambda _: depth * w, layer)


FORMS = {
    "fold": lambda w, f: cdl.fold(net(w), f),
    "annotate": lambda w, f: cdl.annotate(net(w), f),
    "inherit": lambda w, f: cdl.inherit(down(w), f, f.payload[0][:2]),
    "follow": lambda w, f: cdl.follow(halves(w), f, f.payload[0][:2]),
    "unfold": lambda w, f: cdl.unfold(halves(w), f.payload[0][:2], 7).log_prob,
    "refold": lambda w, f: cdl.refold(net(w), halves(w), f.payload[0][:2], nodes=7)[0],
    "fold of a Seq": lambda w, f: cdl.fold(cell(w), cdl.Seq(f.payload[0][:6].reshape(2, 3), SEQ.lengths)),
    "gradient": lambda w, f: jax.grad(lambda w: cdl.fold(net(w), f).sum())(w)[None],
}

first = cdl.pack(cdl.TreeF, [cdl.Fork(cdl.Leaf(1.0), cdl.Leaf(2.0)), cdl.Leaf(3.0)])
other = cdl.pack(cdl.TreeF, [cdl.Leaf(5.0), cdl.Fork(cdl.Leaf(1.5), cdl.Leaf(2.0))], bucket=first.bucket)
shards = cdl.compiled.shard([first, other], jax.make_mesh((2,), ("data",)))
arrays, form = eqx.partition(shards.stacked, eqx.is_array)

for name, run in FORMS.items():

    def one(w: Any, arrays: Any, run: Any = run) -> Any:
        return run(w, eqx.combine(jax.tree.map(lambda x: x[0], arrays), form))

    def on_each(check: bool, one: Any = one) -> Any:
        specs = {"in_specs": (P(), P("data")), "out_specs": P("data")}
        return jax.jit(jax.shard_map(one, mesh=shards.mesh, check_vma=check, **specs))(W, arrays)

    alone = np.concatenate([run(W, first), run(W, other)])
    assert np.allclose(on_each(False), alone), name
    with pytest.raises((TypeError, ValueError), match=r"var(y|ies|ying)|manual"):
        on_each(True)
    print(name, "is told")
