"""The leaves of a value by names, which are the paths to them; and whether a file has the same ones."""

from collections.abc import Mapping
from typing import Any

from jax.tree_util import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey

from ..errors import CheckpointError
from ._leaves import by_path, is_saved, Leaf, leaves


def named(tree: Any) -> dict[str, Leaf]:
    """The leaves that are saved, by their names.

    **Raises:** `CheckpointError` for a text, and for a name that is there twice or has half a character in it.
    """
    paths = [path for path, x in by_path(tree) if is_saved(x)]
    found: dict[str, Leaf] = {}
    for path, leaf in zip(paths, leaves(tree), strict=True):
        name = ".".join(map(_part, path)) or "value"
        if isinstance(leaf.value, str):
            raise CheckpointError(f"{leaf.shown} is a text, and the file holds numbers: use `save`.")
        if name in found:
            raise CheckpointError(f"{found[name].shown} and {leaf.shown} have one name, `{name}`: rename one of them.")
        if not name.isascii() and name.encode(errors="ignore").decode() != name:
            raise CheckpointError(f"{leaf.shown} has a name that is not of whole characters, {name!a}: rename it.")
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


def written_as(kind: str, numbers: str) -> str:
    """The type of a leaf and that of the numbers which stand for it, where these differ: `key<fry>[] as uint32[2]`."""
    return numbers if kind == numbers else f"{kind} as {numbers}"


def expect_same(path: str, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """**Raises:** `CheckpointError` where a file's leaves, by name and type, are not those of a template."""
    missing, more = sorted(wanted.keys() - found.keys()), sorted(found.keys() - wanted.keys())
    if missing or more:
        raise CheckpointError(
            f"`{path}` has other arrays than the template: the template's {_some(missing)} not in the file, and the "
            f"file's {_some(more)} not in the template. Make the template as the value was made that was saved."
        )
    for name, here in wanted.items():
        if found[name] != here:
            raise CheckpointError(
                f"`{name}` is `{found[name]}` in the file, and `{here}` in the template. Make the template as the "
                "value was made that was saved."
            )


def _some(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:3]) + ", …" * (len(names) > 3)
    return f"{shown} {'is' if len(names) == 1 else 'are'}" if names else "none is"
