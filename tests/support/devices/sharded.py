"""A network spread over eight devices, written, and read on eight, on two and on one: `python sharded.py FOLDER`."""

import pathlib
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from cdl.errors import CheckpointError
from cdl.io import load_sharded, save_sharded


folder = pathlib.Path(sys.argv[1])
assert len(jax.devices()) == 8


def spread(tree, count):
    """The tree with its arrays cut along their first axis over so many devices, where they can be."""
    mesh = Mesh(np.array(jax.devices()[:count]), "d")
    along = lambda x: PartitionSpec("d" if x.ndim and x.shape[0] % count == 0 else None)
    return jax.tree.map(lambda x: jax.device_put(x, NamedSharding(mesh, along(x))) if eqx.is_array(x) else x, tree)


net = eqx.nn.MLP(8, 8, 16, 1, key=jr.key(0))
state = spread({"net": net, "step": 7, "half": jnp.ones((8, 2), jnp.bfloat16), "key": None}, 8) | {"key": jr.key(3)}
assert len(state["net"].layers[0].weight.sharding.device_set) == 8
save_sharded(folder / "state", state)

fresh = {"net": eqx.nn.MLP(8, 8, 16, 1, key=jr.key(1)), "step": 0, "half": jnp.zeros((8, 2), jnp.bfloat16)}
for count in (8, 2, 1):
    like = spread(fresh, count) | {"key": jr.key(0)}
    found = load_sharded(folder / "state", like)
    assert found["step"] == 7
    assert type(found["step"]) is int
    assert found["half"].dtype == jnp.bfloat16
    assert jr.key_data(found["key"]).tolist() == jr.key_data(jr.key(3)).tolist()
    for x, y, z in zip(
        *(jax.tree.leaves(eqx.filter(t["net"], eqx.is_array)) for t in (found, state, like)), strict=True
    ):
        assert np.array_equal(np.asarray(x), np.asarray(y))
        assert x.sharding == z.sharding

shapes = jax.tree.map(
    lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding) if eqx.is_array(x) else x, spread(net, 4)
)
with pytest.raises(CheckpointError, match="the file's `half`, `key`, `step` are not in the template"):
    load_sharded(folder / "state", {"net": shapes})
save_sharded(folder / "net", net)
assert len(load_sharded(folder / "net", shapes).layers[0].weight.sharding.device_set) == 4
with pytest.raises(CheckpointError, match="exists, and a sharded value is written to a new folder"):
    save_sharded(folder / "net", net)
