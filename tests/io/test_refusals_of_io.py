"""What no file holds, and what is not of the template, is refused by its leaf: a table."""

import enum
import os
import sys
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from refused_calls import each, refused, table

from cdl import CdlError, Corpus, ListF
from cdl.errors import CheckpointError
from cdl.io import export_safetensors, import_safetensors, load, load_sharded, save, save_sharded


class Level(enum.IntEnum):
    HIGH = 1


TWO: Any = {"a": jnp.zeros(2), "b": jnp.zeros((3, 2))}
LOST = (b"bytes", Level.HIGH, {1, 2}, object(), np.ma.masked_array([1.0], [True]), np.dtype("f4"))
SHAPE = jax.ShapeDtypeStruct((2,), jnp.float32)
DATE = np.array("2026-01-01", "datetime64[D]")
LARGE, OBJECTS, SURROGATE = {"a": 2**100}, {"a": np.array([object()])}, {"\udc80": 1.0}
three: Any = 3


def traced(write: Any) -> Any:
    return lambda path: jax.jit(lambda x: write(path, {"a": x}))(jnp.zeros(2))


def there(write: Any, read: Any, like: Any) -> Any:
    """Reads what was written by another template."""
    return lambda path: (write(path, TWO), read(path, like))


def others(like: Any) -> Any:
    return there(save, load, like)


def of_tensors(like: Any) -> Any:
    return there(export_safetensors, import_safetensors, like)


@table(
    *each(LOST, lambda leaf: save("unwritten", {"a": leaf}), CheckpointError, "`['a']` arrays,"),
    (lambda path: save(path, LARGE), CheckpointError, "`['a']` 64 bits"),
    (lambda path: save(path, OBJECTS), CheckpointError, "objects"),
    (lambda path: save(path, {"a": SHAPE}), CheckpointError, "shape, float32[2]"),
    (traced(save), CheckpointError, "`['a']` traced, `jit`"),
    (lambda path: save(path, "\udc80"), CheckpointError, "'\\udc80'"),
    (lambda path: save(path, "long" * 2**24), CheckpointError, "head 67108864"),
    (lambda path: save(path, Corpus(ListF, [])), CheckpointError, "`Corpus`"),
    (lambda path: save(jnp.zeros(1), path), CheckpointError, "`save` path `save(path,"),
    (lambda path: load(path.parent, TWO), CheckpointError, "folder"),
    (others(Corpus), CheckpointError, "`Corpus` class,"),
    (
        others(TWO | {"b": jnp.zeros((3, 4))}),
        CheckpointError,
        "1 `['b']`: float32[3,2] float32[3,4]",
    ),
    (others({"a": jnp.zeros(2), "c": jnp.zeros((3, 2))}), CheckpointError, "`['b']`: `['c']`:"),
    (others(TWO | {"a": jnp.zeros(2, int)}), CheckpointError, "`['a']`: float32[2] int32[2]"),
    # safetensors.
    (of_tensors({"a": jnp.ones(2)}), CheckpointError, "`b` template"),
    (of_tensors(TWO | {"c": 1.0}), CheckpointError, "`c` file"),
    (lambda path: export_safetensors(path, {"a": "words"}), CheckpointError, "text, `save`"),
    (
        lambda path: export_safetensors(path, {"a.b": 1.0, "a": {"b": 2.0}}),
        CheckpointError,
        "`a.b`",
    ),
    (
        lambda path: export_safetensors(path, {"a": jnp.ones(3, jnp.int4)}),
        CheckpointError,
        "`['a']` `int4`: `save`",
    ),
    (lambda path: export_safetensors(path, DATE), CheckpointError, "datetime64[D][],"),
    (lambda path: export_safetensors(path, {"__metadata__": 1.0}), CheckpointError, "metadata"),
    (lambda path: export_safetensors(path, SURROGATE), CheckpointError, "name characters"),
    (
        lambda path: export_safetensors(path, jr.key(0), metadata={"cdl.keys": "mine"}),
        CheckpointError,
        "cdl.keys",
    ),
    (lambda path: export_safetensors(path, TWO, metadata={"a": three}), CdlError, "metadata"),
    (
        lambda path: import_safetensors(path.write_bytes(b"none") and path, TWO),
        CheckpointError,
        "safetensors",
    ),
    # Folders of orbax.
    (lambda path: load_sharded(path, TWO), CheckpointError, "folder `save_sharded`"),
    (lambda path: save_sharded(path, {"a": "words"}), CheckpointError, "text"),
    (
        lambda path: save_sharded(path, {"a": jnp.ones(3, jnp.uint4)}),
        CheckpointError,
        "`['a']` `uint4`: orbax",
    ),
    (lambda path: save_sharded(path, {"f": jnp.tanh}), CheckpointError, "no array"),
    (traced(save_sharded), CheckpointError, "`['a']` traced"),
)
def test_io_refuses(call, error, words, tmp_path):
    refused(lambda: call(tmp_path / "a") if call.__code__.co_argcount else call(), error, words)


@pytest.mark.parametrize("write", [save, export_safetensors, save_sharded])
def test_writers_leave_nothing_of_what_they_refuse(write, tmp_path):
    value = {"a": jnp.ones(1), "b": 2**100}
    refused(lambda: write(tmp_path / "a", value), CheckpointError, "`['b']`")
    assert list(tmp_path.iterdir()) == []


def test_save_sharded_tells_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "orbax.checkpoint", None)
    refused(lambda: save_sharded(tmp_path / "x", 1.0), CdlError, "`pip install orbax-checkpoint`")


@pytest.mark.parametrize("write", [save, load])
def test_checkpoint_is_a_file(write, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused(lambda: write(tmp_path / "pipe", TWO), CheckpointError, "pipe")
    refused(lambda: write(tmp_path, TWO), CheckpointError, "folder")
    refused(lambda: write(tmp_path / "nowhere" / "a", TWO), FileNotFoundError, "nowhere")
