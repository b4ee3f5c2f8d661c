"""Files with stacks of cells: their rows are those of constructors, in an order that the file has too."""

from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import pytest

import cdl
from cdl.errors import CheckpointError
from cdl.io import export_safetensors, import_safetensors, load, load_sharded, save, save_sharded


X = TypeVar("X", covariant=True)


class Shape:
    """The name of a functor."""


class Dot(cdl.Base[Shape, Never]):
    size: Any


class Over(cdl.Base[Shape, X], Generic[X]):
    above: X
    below: X


class Beside(cdl.Base[Shape, X], Generic[X]):
    left: X
    right: X


WAYS = {
    "checkpoint": (save, load),
    "safetensors": (export_safetensors, import_safetensors),
    "sharded": (save_sharded, load_sharded),
}


def stack(signature, seed):
    return {"net": cdl.stacked(signature, lambda key: eqx.nn.Linear(2, 2, key=key), key=jr.key(seed))}


@pytest.mark.parametrize("way", WAYS)
def test_load_takes_a_stack_of_the_same_constructors_alone(way, tmp_path):
    write, read = WAYS[way]
    saved = stack(Union[Dot, Over[X], Beside[X]], 0)
    path = str(tmp_path / "file")
    write(path, saved)
    found = read(path, stack(Union[Dot, Over[X], Beside[X]], 1))
    assert jnp.array_equal(found["net"][Over].weight, saved["net"][Over].weight)
    for other in (Union[Dot, Beside[X], Over[X]], cdl.ListF[Any, X] | Dot):
        with pytest.raises(CheckpointError, match=r"cells\[Dot,Over,Beside\]"):
            read(path, stack(other, 1))
