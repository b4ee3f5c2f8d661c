"""What is not a path, or cannot be saved, is refused at the door."""

import itertools

import jax.numpy as jnp
import pytest
from alone import run_alone
from doors import refused, WRONG

from cdl.io import export_safetensors, import_safetensors, load, load_sharded, save, save_sharded


NOT_SAVED = ("an object", "a set", "a text")
VALUE = {"x": jnp.ones(2)}
fresh = itertools.count()


def anew(path: str | None, tree: object) -> None:
    """`save_sharded` to a folder that does not exist."""
    save_sharded(f"{path}{next(fresh)}" if isinstance(path, str) else path, tree)  # type: ignore[arg-type]


def doors() -> list[str]:
    save("a", VALUE)
    export_safetensors("b", VALUE)
    save_sharded("c", VALUE)
    return [
        *refused(save, "a", VALUE, wrong={1: NOT_SAVED[:2]}),
        *refused(load, "a", VALUE, wrong={1: tuple(WRONG)}),
        *refused(export_safetensors, "b", VALUE, metadata={"a": "b"}, wrong={1: NOT_SAVED}),
        *refused(import_safetensors, "b", VALUE, wrong={1: tuple(WRONG)}),
        *refused(anew, "d", VALUE, wrong={1: NOT_SAVED}),
        *refused(load_sharded, "c", VALUE, wrong={1: tuple(WRONG)}),
    ]


def every_wrong_kind_of_argument():
    found = doors()
    assert found == [], "\n".join(found)


@pytest.mark.slow
def test_every_wrong_kind_of_argument_is_refused_at_the_door(tmp_path):
    run_alone(every_wrong_kind_of_argument, tmp_path)
