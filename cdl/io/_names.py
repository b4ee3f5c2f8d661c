"""The leaves of a value by names, which are the paths to them; and whether a file has the same ones."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from jax.tree_util import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey

from ..errors import CheckpointError
from ._leaves import is_saved, Leaf, leaves, plain


Shapes = Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]


def named(tree: Any) -> dict[str, Leaf]:
    """The leaves that are saved, by their names. **Raises:** `CheckpointError` for a text, and for a name twice."""
    paths = [path for path, x in jax.tree_util.tree_flatten_with_path(tree)[0] if is_saved(x)]
    found: dict[str, Leaf] = {}
    for path, leaf in zip(paths, leaves(tree), strict=True):
        name = ".".join(map(_part, path)) or "value"
        if isinstance(leaf.value, str):
            raise CheckpointError(f"`{leaf.name}` is a text, and the file holds numbers: use `save`.")
        if name in found:
            raise CheckpointError(
                f"`{found[name].name}` and `{leaf.name}` have one name, `{name}`: rename one of them."
            )
        found[name] = leaf
    return found


def _part(key: Any) -> str:
    match key:
        case GetAttrKey(name):
            return str(name)
        case SequenceKey(i):
            return str(i)
        case DictKey(k) | FlattenedIndexKey(k):
            return str(k)
        case _:
            return str(key)


def expect_same(path: str, found: Shapes, wanted: Mapping[str, Leaf]) -> None:
    """**Raises:** `CheckpointError` where a file's numbers, by shape and type, are not those of a template."""
    missing, more = sorted(wanted.keys() - found.keys()), sorted(found.keys() - wanted.keys())
    if missing or more:
        raise CheckpointError(
            f"`{path}` has other arrays than the template: the template's {_some(missing)} not in the file, and the "
            f"file's {_some(more)} not in the template. Make the template as the value was made that was saved."
        )
    for name, leaf in wanted.items():
        there, here = found[name], plain(leaf.value)
        if there != here:
            raise CheckpointError(
                f"`{name}` is `{there[1]}` of shape {there[0]} in the file, and `{here[1]}` of shape {here[0]} in the "
                "template. Make the template as the value was made that was saved."
            )


def _some(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:3]) + ", …" * (len(names) > 3)
    return f"{shown} {'is' if len(names) == 1 else 'are'}" if names else "none is"
