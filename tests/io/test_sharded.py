"""Values spread over devices: written and read on eight devices of the host, in a Python of their own."""

import builtins
import os
import pathlib
import subprocess
import sys

import jax.numpy as jnp
import pytest

import cdl
from cdl.errors import CheckpointError
from cdl.io import load_sharded, save_sharded


ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "support" / "devices" / "sharded.py"


def test_a_value_of_eight_devices_is_read_on_eight_on_two_and_on_one(tmp_path):
    flags = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(SCRIPT), str(tmp_path)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def test_what_is_not_a_sharded_value_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="is not a folder: give the path that `save_sharded` was given"):
        load_sharded(tmp_path / "none", jnp.ones(1))
    with pytest.raises(CheckpointError, match="is a text, and the file holds numbers"):
        save_sharded(tmp_path / "text", {"a": "words"})
    assert not (tmp_path / "text").exists()


def test_without_the_package_one_is_told_how_to_get_it(monkeypatch, tmp_path):
    original = builtins.__import__

    def without(name, *rest):
        if name.startswith("orbax"):
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(cdl.CdlError, match=r"install `cdl-jax\[sharded\]`"):
        save_sharded(tmp_path / "x", 1.0)
