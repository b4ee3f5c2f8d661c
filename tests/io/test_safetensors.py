"""Models in the format of safetensors: names by path, everything back as it was, and what does not fit refused."""

import inspect
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
from cdl.io import export_safetensors, import_safetensors
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
        lambda x: x * 0 if not jnp.issubdtype(getattr(x, "dtype", int), jax.dtypes.prng_key) else jr.key(0), VALUES
    )
    like["truth"] = np.array([False, False])
    found = import_safetensors(path, like)
    assert (found["number"], found["count"], type(found["count"])) == (2.5, 3, int)
    assert jr.key_data(found["key"]).tolist() == jr.key_data(jr.key(7)).tolist()
    rest = lambda x: {k: v for k, v in x.items() if k != "key"}
    assert eqx.tree_equal(rest(found), rest(VALUES), typematch=True)


@pytest.mark.parametrize(
    ("like", "words"),
    [
        ({"a": jnp.ones(2)}, "none is not in the file, and the file's `b` is not in the template"),
        ({"a": jnp.ones(2), "b": 1.0, "c": 1.0}, "the template's `c` is not in the file, and the file's none is"),
        ({"a": jnp.ones(3), "b": 1.0}, r"`a` is `float32\[2\]` in the file, and `float32\[3\]` in the template"),
        ({"a": jnp.ones(2, int), "b": 1.0}, r"`a` is `float32\[2\]` in the file, and `int32\[2\]`"),
    ],
)
def test_another_template_is_refused(tmp_path, like, words):
    path = tmp_path / "values"
    export_safetensors(path, {"a": jnp.ones(2), "b": 1.0})
    with pytest.raises(CheckpointError, match=words):
        import_safetensors(path, like)


def test_what_cannot_be_written_is_refused_and_leaves_what_was_there(tmp_path):
    path = tmp_path / "values"
    export_safetensors(path, {"a": 1.0})
    with pytest.raises(CheckpointError, match="is a text, and the file holds numbers: use `save`"):
        export_safetensors(path, {"a": "words"})
    with pytest.raises(CheckpointError, match=r"have one name, `a\.b`"):
        export_safetensors(path, {"a.b": 1.0, "a": {"b": 2.0}})
    assert import_safetensors(path, {"a": 0.0}) == {"a": 1.0}
    path.write_bytes(b"no tensors")
    with pytest.raises(CheckpointError, match="is not a file of safetensors"):
        import_safetensors(path, {"a": 0.0})


FLOATS = ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz", "bfloat16", "float16")


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "uint8", "int16", "uint32"])
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


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys_come_back_with_their_implementation_and_no_other(tmp_path, impl):
    value, path = {"key": jr.split(jr.key(7, impl=impl), 3)}, tmp_path / "a"
    export_safetensors(path, value, metadata={"made by": "hand"})
    found = import_safetensors(path, {"key": jr.split(jr.key(0, impl=impl), 3)})["key"]
    assert (jr.key_impl(found), jr.key_data(found).tolist()) == (impl, jr.key_data(value["key"]).tolist())
    others = [jr.split(jr.key(0, impl=other), 3) for other in ("threefry2x32", "rbg", "unsafe_rbg") if other != impl]
    for like in (*others, jr.key_data(value["key"])):
        with pytest.raises(CheckpointError, match=r"`key` is `key<\w+>\[3\] as uint32\[3,\d\]` in the file, and `"):
            import_safetensors(path, {"key": like})
    export_safetensors(path, {"key": jr.key_data(value["key"])})
    with pytest.raises(CheckpointError, match=r"`key` is `uint32\[3,\d\]` in the file, and `key<\w+>\[3\] as uint32"):
        import_safetensors(path, value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": jnp.ones(3, jnp.int4)}, r"`\['a'\]` is int4\[3\], and safetensors has no tensors of `int4`: use `save`"),
        ({"a": 1j}, r"`\['a'\]` is complex, and safetensors has no tensors of `complex128`"),
        (np.array("2026-01-01", "datetime64[D]"), r"the value is datetime64\[D\]\[\], and safetensors has no tensors"),
        ({"__metadata__": 1.0}, "has the name that safetensors has for its metadata"),
        ({"\udc80": 1.0}, "has a name that is not of whole characters"),
        ({"a": 2**70}, r"`\['a'\]` is 1180591620717411303424, and an integer in a checkpoint has 64 bits"),
        (2**70, "the value is 1180591620717411303424, and"),
        ("words", "the value is a text"),
        (jax.ShapeDtypeStruct((2,), jnp.float32), "the value is only a shape"),
    ],
)
def test_what_the_format_does_not_have_is_refused_before_anything_is_written(tmp_path, value, words):
    with pytest.raises(CheckpointError, match=words):
        export_safetensors(tmp_path / "a", value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("metadata", [{"cdl.keys": "mine"}, {"a": 1}, {1: "a"}, {"a": "\udc80"}])
def test_metadata_are_texts_under_other_names_than_that_of_cdl(tmp_path, metadata):
    with pytest.raises(cdl.CdlError, match=r"metadata|whole|surrogates"):
        inspect.unwrap(export_safetensors)(tmp_path / "a", {"key": jr.key(0)}, metadata=metadata)
    assert list(tmp_path.iterdir()) == []


WHOLE = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "array",
    [WHOLE.T, WHOLE[:, ::2], WHOLE[::-1], WHOLE[:, 0], np.asfortranarray(WHOLE), np.broadcast_to(WHOLE[0], (2, 3))],
    ids=["transposed", "every other column", "backwards", "a column", "by columns", "repeated"],
)
def test_an_array_that_lies_in_memory_in_another_order_comes_back_as_it_was(array, tmp_path):
    path = tmp_path / "array.safetensors"
    export_safetensors(path, {"w": array})
    assert np.array_equal(import_safetensors(path, {"w": np.zeros(array.shape, np.float32)})["w"], array)
