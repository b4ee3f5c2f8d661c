"""Models in the format of safetensors: names by path, everything back as it was, and what does not fit refused."""

import builtins
import sys

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
        ({"a": jnp.ones(3), "b": 1.0}, r"`a` is `float32` of shape \(2,\) in the file, and `float32` of shape \(3,\)"),
        ({"a": jnp.ones(2, int), "b": 1.0}, r"`a` is `float32` of shape \(2,\) in the file, and `int32`"),
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


def test_without_the_package_one_is_told_how_to_get_it(monkeypatch, tmp_path):
    original = builtins.__import__

    def without(name, *rest):
        if name.startswith("safetensors"):
            raise ImportError(name)
        return original(name, *rest)

    for name in [n for n in sys.modules if n.startswith("safetensors")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(cdl.CdlError, match=r"install `cdl-jax\[safetensors\]`"):
        export_safetensors(tmp_path / "x", 1.0)
