"""Two processes with two devices each: run by `test_shard.py`, once for each process."""

import sys

import eight
import equinox as eqx
import jax
import numpy as np

import cdl


def main() -> None:
    jax.distributed.initialize(f"localhost:{sys.argv[1]}", 2, int(sys.argv[2]))
    assert (jax.process_count(), jax.device_count(), jax.local_device_count()) == (2, 4, 2)
    eight.DEVICES = 4
    mesh = jax.make_mesh((4,), ("data",))
    made = eight.parts()
    own = [i for i, device in enumerate(mesh.devices) if device.process_index == jax.process_index()]
    shards = cdl.compiled.shard([made[i] for i in own], mesh)
    value, slope = eqx.filter_jit(eqx.filter_value_and_grad(cdl.compiled.shard_mean(eight.loss)))(eight.model(), shards)
    found = jax.tree.map(lambda x: np.asarray(x.addressable_data(0)), eqx.filter((value, slope), eqx.is_array))
    eight.expect_equal(found, eqx.filter(eight.slope_of_one_device(eight.model()), eqx.is_array))
    print("agrees")


if __name__ == "__main__":
    main()
