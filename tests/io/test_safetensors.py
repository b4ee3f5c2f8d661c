"""Models in the format of safetensors: names by path, everything back as it was, and what does not fit refused."""

import os
import threading

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from safetensors import safe_open

import cdl
from cdl.errors import CheckpointError
from cdl.io import export_safetensors, import_safetensors, load_sharded, save_sharded
from cdl_arch.recursive import n_ary


def nets():
    first, second = (n_ary(cdl.TreeF[float, jax.Array], 3, key=jr.key(i), payload={cdl.Leaf: 1}) for i in (0, 1))
    return first, second


def test_a_network_goes_there_and_back_by_names(tmp_path):
    trained, fresh = nets()
    path = tmp_path / "net.safetensors"
    export_safetensors(path, trained, metadata={"made by": "n_ary(TreeF, 3)"})
    assert not eqx.tree_equal(trained, fresh)
    assert eqx.tree_equal(import_safetensors(path, fresh), trained)
    with safe_open(path, "numpy") as file:
        names = set(file.keys())
        assert file.metadata() == {"made by": "n_ary(TreeF, 3)"}
    assert len(names) == len(jax.tree.leaves(eqx.filter(trained, eqx.is_array)))
    assert any(name.endswith("gates.weight") for name in names)


def test_a_file_is_read_once(tmp_path):
    """A pipe gives its bytes to one reader, and once."""
    trained, fresh = nets()
    export_safetensors(tmp_path / "net", trained)
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(
        target=lambda: (tmp_path / "pipe").write_bytes((tmp_path / "net").read_bytes()), daemon=True
    )
    writer.start()
    assert eqx.tree_equal(import_safetensors(tmp_path / "pipe", fresh), trained)


VALUES = {
    "bfloat16": jnp.array([1.5, -2.0], jnp.bfloat16),
    "float16": np.float16(0.25),
    "whole": jnp.arange(3),
    "truth": np.array([True, False]),
    "number": 2.5,
    "count": 3,
    "key": jr.key(7),
    "empty": jnp.zeros((0, 2)),
    "nested": [{"a": jnp.ones(1)}, (jnp.zeros(()),)],
}


def test_every_kind_of_number_comes_back(tmp_path):
    path = tmp_path / "values"
    export_safetensors(path, VALUES)
    like = jax.tree.map(
        lambda x: x * 0 if not jnp.issubdtype(getattr(x, "dtype", int), jax.dtypes.prng_key) else jr.key(0),
        VALUES,
    )
    like["truth"] = np.array([False, False])
    found = import_safetensors(path, like)
    assert (found["number"], found["count"], type(found["count"])) == (2.5, 3, int)
    assert jr.key_data(found["key"]).tolist() == jr.key_data(jr.key(7)).tolist()
    rest = lambda x: {k: v for k, v in x.items() if k != "key"}
    assert eqx.tree_equal(rest(found), rest(VALUES), typematch=True)


@pytest.mark.parametrize(
    "dtype",
    [
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e8m0fnu",
        "bfloat16",
        "float16",
        "complex64",
        "uint8",
        "int16",
    ],
)
@pytest.mark.parametrize("make", [np.asarray, jnp.asarray])
def test_a_type_of_numbers_comes_back_bit_for_bit(tmp_path, make, dtype):
    value = {"a": make(np.array([[1, 2], [4, 0.5]]).astype(jnp.dtype(dtype)))}
    export_safetensors(tmp_path / "a", value)
    found = import_safetensors(tmp_path / "a", jax.tree.map(jnp.zeros_like if make is jnp.asarray else blank, value))
    assert type(found["a"]) is type(value["a"])
    assert found["a"].dtype == value["a"].dtype
    assert np.asarray(found["a"]).tobytes() == np.asarray(value["a"]).tobytes()


def blank(x):
    return np.zeros(x.shape, x.dtype)


@pytest.mark.parametrize(
    ("write", "read"),
    [(export_safetensors, import_safetensors), (save_sharded, load_sharded)],
    ids=["file", "folder"],
)
@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_keys_are_read_with_their_implementation_alone(tmp_path, write, read, impl):
    make = lambda impl, seed: {"key": jr.split(jr.key(seed, impl=impl), 3)}
    value, other = make(impl, 7), make("rbg" if impl == "threefry2x32" else "unsafe_rbg", 7)
    data = {"key": jr.key_data(value["key"])}
    write(tmp_path / "a", value)
    found = read(tmp_path / "a", make(impl, 0))["key"]
    assert (jr.key_impl(found), jr.key_data(found).tolist()) == (impl, data["key"].tolist())
    for like in (other, data):
        with pytest.raises(CheckpointError, match=r"`key` is `key<"):
            read(tmp_path / "a", like)
    write(tmp_path / "b", data)
    with pytest.raises(CheckpointError, match=r"`key` is `uint32\["):
        read(tmp_path / "b", value)


WHOLE = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "array",
    [
        WHOLE.T,
        WHOLE[:, ::2],
        WHOLE[::-1],
        WHOLE[:, 0],
        np.asfortranarray(WHOLE),
        np.broadcast_to(WHOLE[0], (2, 3)),
    ],
    ids=["transposed", "every other column", "backwards", "a column", "by columns", "repeated"],
)
def test_export_safetensors_takes_any_order_in_memory(array, tmp_path):
    path = tmp_path / "array.safetensors"
    export_safetensors(path, {"w": array})
    assert np.array_equal(import_safetensors(path, {"w": np.zeros(array.shape, np.float32)})["w"], array)
