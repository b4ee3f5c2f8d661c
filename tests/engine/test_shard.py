"""Many devices: balanced parts, and a weighted loss whose value and gradient are those of one device.

The devices are eight of the host's, in a Python of their own, since how many there are is settled when JAX begins.
"""

import os
import pathlib
import socket
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from alone import run_alone
from doors import refused, WRONG
from hypothesis import given, strategies as st
from jax.sharding import Mesh

import cdl


ROOT = pathlib.Path(__file__).parents[2]
SCRIPTS = ROOT / "tests" / "support" / "devices"


def run(script: str, devices: int, *arguments: str) -> subprocess.Popen[str]:
    flags = f"--xla_force_host_platform_device_count={devices} --xla_backend_optimization_level=0"
    path = os.pathsep.join(map(str, (ROOT, SCRIPTS.parent)))
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": path}
    command = [sys.executable, str(SCRIPTS / script), *arguments]
    return subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def finished(*processes: subprocess.Popen[str]) -> list[str]:
    said = [p.communicate(timeout=300)[0] for p in processes]
    assert [p.returncode for p in processes] == [0] * len(processes), "\n".join(said)
    return said


def test_eight_devices_have_the_value_and_the_gradient_of_one():
    (said,) = finished(run("eight.py", 8))
    assert "agrees" in said


@pytest.mark.slow
def test_two_devices_grow_and_follow_trees_as_one_does():
    (said,) = finished(run("growing.py", 2))
    assert "agrees" in said


@pytest.mark.slow
def test_a_shard_map_that_checks_what_varies_is_told_what_to_write():
    (said,) = finished(run("varying.py", 2))
    assert said.count("is told") == 8


@pytest.mark.slow
def test_two_processes_have_the_value_and_the_gradient_of_one_device():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    for said in finished(*(run("two.py", 2, port, str(i)) for i in range(2))):
        assert "agrees" in said


weights = st.lists(st.integers(1, 1000), min_size=1, max_size=40)


@given(weights, st.integers(1, 8))
def test_parts_have_every_tree_once_and_as_many_each(nodes, parts):
    nodes = nodes * parts
    found = cdl.compiled.balance(nodes, parts)
    assert sorted(np.concatenate(found).tolist()) == list(range(len(nodes)))
    assert {len(part) for part in found} == {len(nodes) // parts}


@given(weights, st.integers(2, 8))
def test_no_part_is_heavier_than_another_by_more_than_the_heaviest_tree(nodes, parts):
    nodes = np.array(nodes * parts)
    loads = [int(nodes[part].sum()) for part in cdl.compiled.balance(nodes, parts)]
    assert max(loads) - min(loads) <= nodes.max()


def test_trees_are_divided_by_what_they_cost_also_in_fractions():
    costs = np.array([0.1, 0.9, 0.9, 0.1, 0.1, 0.9, 0.9, 0.1])
    assert [round(float(costs[part].sum()), 6) for part in cdl.compiled.balance(costs, 2)] == [2.0, 2.0]
    sizes = np.array([0, 3, 1, 2], np.uint8)
    assert [part.tolist() for part in cdl.compiled.balance(sizes, 2)] == [[0, 1], [2, 3]]


@pytest.mark.parametrize("nodes", [[1.0, np.nan], [1.0, np.inf], [1, -1], [1j, 2]])
def test_what_a_tree_costs_is_a_number_from_0_up(nodes):
    with pytest.raises(cdl.CdlError, match="has a number for each tree, 0 or more"):
        cdl.compiled.balance(nodes, 2)


def doors_of_balance() -> None:
    balance = cdl.compiled.balance
    of_no_trees = "balance: an empty tuple for `nodes` is taken"
    assert refused(balance, [3, 1, 2, 4], 2, wrong={0: {*WRONG} - {"a list", "an empty list"}}) == [of_no_trees]
    for nodes, parts in ((1, 2), ([1, 2], "x"), ([1, 2], 0), (["a", "b"], 2)):
        with pytest.raises(cdl.CdlError, match=r"`nodes` is|`parts` is"):
            balance(nodes, parts)


def test_nodes_that_are_not_numbers_of_trees_are_refused():
    run_alone(doors_of_balance)


def test_a_number_of_devices_that_does_not_divide_the_batch_is_refused():
    with pytest.raises(cdl.CdlError, match=r"3 devices do not divide a batch of 8 trees.*Take 6 trees"):
        cdl.compiled.balance([1] * 8, 3)


def mesh() -> Mesh:
    return jax.make_mesh((1,), ("data",))


def forest(*sizes: int) -> cdl.Forest:
    return cdl.pack(cdl.ListF, [cdl.to_list([1.0] * n) for n in sizes])


def test_parts_that_are_not_one_for_each_device_are_refused():
    with pytest.raises(cdl.CdlError, match=r"1 device of this process along `data`, and 2 parts.*`balance\("):
        cdl.compiled.shard([forest(3), forest(3)], mesh())
    with pytest.raises(cdl.CdlError, match=r"give a list with one part|must be a list: write `\[…\]`, also of one"):
        cdl.compiled.shard(forest(3), mesh())


def test_an_axis_that_the_mesh_does_not_have_is_refused():
    with pytest.raises(cdl.CdlError, match=r"has the axes \('data',\), and `rows` is none .* `axis='data'`"):
        cdl.compiled.shard([forest(3)], mesh(), axis="rows")


def test_a_loss_that_gives_no_weight_is_refused():
    shards = cdl.compiled.shard([forest(3)], mesh())
    alone = cdl.compiled.shard_mean(lambda scale, forest: scale)
    with pytest.raises(
        cdl.CdlError, match=r"gives a pair of numbers, and gave an array of shape \(\): return the sum and its"
    ):
        alone(jnp.array(1.0), shards)
    of_arrays = cdl.compiled.shard_mean(lambda scale, forest: (forest.child * scale, 1.0))
    with pytest.raises(cdl.CdlError, match=r"a pair of numbers, and gave a sum that is an array of shape \(\d+,\)"):
        of_arrays(jnp.array(1), shards)
    with pytest.raises(cdl.CdlError, match=r"reads `Shards`, and was given a `Forest`: write `shard\(parts, mesh\)`"):
        alone(jnp.array(1.0), forest(3))


def test_a_loss_that_is_no_function_is_refused():
    assert refused(cdl.compiled.shard_mean, lambda model, part: (jnp.ones(()), jnp.ones(()))) == []


def test_one_device_is_a_mesh_too():
    total = cdl.algebra(lambda layer: layer.head + layer.tail if isinstance(layer, cdl.Cons) else 0.0)
    shards = cdl.compiled.shard([forest(3, 1)], mesh())
    assert (len(shards), shards.nodes.tolist()) == (1, [6])
    loss = cdl.compiled.shard_mean(lambda scale, forest: (scale * jnp.sum(cdl.fold(total, forest)), jnp.array(2.0)))
    assert jax.value_and_grad(loss)(jnp.array(3.0), shards) == (6.0, 2.0)
