"""Values spread over devices: written and read on eight devices of the host, in a Python of their own."""

import os
import pathlib
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl.errors import CheckpointError
from cdl.io import load_sharded, save_sharded


ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "support" / "devices" / "sharded.py"


@pytest.mark.slow
def test_load_sharded_reads_eight_devices_on_eight_two_and_one(tmp_path):
    flags = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
    environment = {
        **os.environ,
        "XLA_FLAGS": flags,
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, str(SCRIPT), str(tmp_path)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def values(make):
    """Every type of numbers that orbax writes, with and without elements, and other leaves."""
    from cdl.io._sharded import KNOWN

    wide = ("int64", "uint64", "float64", "complex128") if make is jnp.asarray else ()
    types = [jnp.dtype(name) for name in sorted(KNOWN - set(wide))]
    return {f"{t} {n}": make(np.arange(1, 1 + n).astype(t).reshape(n, 1)) for t in types for n in (0, 3)}


@pytest.mark.parametrize("make", [np.asarray, jnp.asarray])
def test_every_type_of_numbers_comes_back_bit_for_bit(tmp_path, make):
    value = values(make) | {
        "count": 3,
        "complex": 1j,
        "weak": jnp.asarray(0.5),
        "one": np.float32(0.5),
    }
    save_sharded(tmp_path / "a", value)
    zeros = lambda x: np.zeros(x.shape, x.dtype) if isinstance(x, np.ndarray) else jnp.zeros_like(x)
    blank = lambda x: zeros(x) if eqx.is_array(x) and x.ndim else x * 0
    found = load_sharded(tmp_path / "a", jax.tree.map(blank, value))
    for name, x in value.items():
        assert type(found[name]) is type(x), name
        assert getattr(found[name], "dtype", None) == getattr(x, "dtype", None), name
        assert np.asarray(found[name]).tobytes() == np.asarray(x).tobytes(), name
    assert found["weak"].weak_type


def test_a_folder_of_orbax_with_other_contents_is_refused(tmp_path):
    import orbax.checkpoint

    with orbax.checkpoint.StandardCheckpointer() as files:
        files.save(tmp_path / "nested", {"a": {"b": np.ones(1)}})
    with pytest.raises(CheckpointError, match="does not hold a sharded value"):
        load_sharded(tmp_path / "nested", {"a": {"b": np.ones(1)}})
