"""What `run` takes of machines it takes of systems: sequences of many lengths, streams, files, and several devices."""

import os
import pathlib
import subprocess
import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ensembles import LENGTHS, listeners, states, words, world

import cdl
from cdl.machines import start


ROOT = pathlib.Path(__file__).parents[2]
SUPPORT = ROOT / "tests" / "support"
INPUTS = {"u": jnp.linspace(-1.0, 1.0, 7)}


def at(tree: Any, i: Any) -> Any:
    return jax.tree.map(lambda x: x[i], tree)


def by_hand(system: Any, state: Any, inputs: Any, ticks: int) -> Any:
    """Each output, and the last state, by the layers alone."""
    found = []
    for t in range(ticks):
        out, state = system(state).step(at(inputs, t))
        found.append(out)
    return found, state


def close(found: Any, wanted: Any) -> None:
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_sequences_of_many_lengths_run_as_each_does_alone():
    system, begin, inputs = world(), states(len(LENGTHS)), words()
    outputs, last = cdl.run(system, begin, inputs)
    assert outputs.lengths.tolist() == list(LENGTHS)
    for k, n in enumerate(LENGTHS):
        alone, end = by_hand(system, at(begin, k), at(inputs.values, k), n)
        close(at(last, k), end)
        for t in range(n):
            close(at(at(outputs.values, k), t), alone[t])
        assert not any(x[k, n:].any() for x in jax.tree.leaves(outputs.values))


def test_the_gradient_of_many_lengths_is_the_sum_of_those_of_each():
    system, begin, inputs = world(), states(len(LENGTHS)), words()

    def total(system: Any, k: Any, n: Any) -> Any:
        return sum(
            jnp.sum(x) for out in by_hand(system, at(begin, k), at(inputs.values, k), n)[0] for x in out.values()
        )

    found = eqx.filter_grad(lambda s: sum(jnp.sum(x) for x in cdl.run(s, begin, inputs)[0].values.values()))(system)
    wanted = eqx.filter_jit(eqx.filter_grad(lambda s: sum(total(s, k, n) for k, n in enumerate(LENGTHS) if n)))(system)
    close(found, wanted)


@pytest.mark.parametrize("system", [world(), listeners()], ids=["answers at once", "shows its state"])
def test_a_stream_gives_what_the_whole_sequence_gives(system):
    inputs = {next(iter(system.interface.inputs)): INPUTS["u"]}
    outputs, last = cdl.run(system, system.state, inputs)
    stream, found = start(system, system.state), []
    for t in range(7):
        out, stream = stream.step(at(inputs, t))
        found.append(out)
    close(stream.state, last)
    close(at(outputs, slice(-7, None)), jax.tree.map(lambda *xs: jnp.stack(xs), *found))


def test_a_run_goes_on_from_a_file(tmp_path):
    system = world()
    outputs, last = cdl.run(system, system.state, INPUTS)
    first, state = cdl.run(system, system.state, at(INPUTS, slice(0, 3)))
    cdl.io.save(tmp_path / "run", (system, state))
    other = world()
    again, begin = cdl.io.load(tmp_path / "run", (other, other.state))
    rest, end = cdl.run(again, begin, at(INPUTS, slice(3, 7)))
    close(jax.tree.map(lambda a, b: jnp.concatenate([a, b]), first, rest), outputs)
    close(end, last)


def test_what_is_computed_again_on_the_way_back_has_the_same_gradient():
    system = world()
    total = lambda s: sum(jnp.sum(x) for x in cdl.run(s, s.state, INPUTS)[0].values())
    wanted = eqx.filter_value_and_grad(total)(system)
    policy = jax.checkpoint_policies.dots_saveable
    close(eqx.filter_value_and_grad(eqx.filter_checkpoint(total, policy=policy))(system), wanted)


@pytest.mark.slow
def test_several_devices_have_the_value_and_the_gradient_of_one():
    flags = "--xla_force_host_platform_device_count=4 --xla_backend_optimization_level=0"
    path = os.pathsep.join(map(str, (ROOT, SUPPORT)))
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": path}
    command = [sys.executable, str(SUPPORT / "devices" / "systems.py")]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "agrees" in done.stdout
