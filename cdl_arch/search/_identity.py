"""What a search is, in words: so that its checkpoint is not taken for that of another.

| a value                               | its words                                                       |
| ------------------------------------- | --------------------------------------------------------------- |
| a dataclass, a method or a space      | its class, and the words of its fields                          |
| a function, a class                   | its module and name; so two functions of one name look alike    |
| arrays, keys of random numbers        | how many there are, and a checksum of their numbers             |
| anything else                         | what `repr` gives                                               |
"""

import dataclasses
import functools
import hashlib
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from ._task import Task


def facts(task: Task, method: Any, keys: Any, budget: int, batch: int) -> dict[str, str]:
    """What two searches have to share for one to go on where the other stopped."""
    how = {name: getattr(task, name) for name in ("steps", "batch", "rate", "optimiser")}
    return {
        "budget": f"{budget} trainings in rounds of {batch}",
        "data": summed((task.train, task.validation, task.test)),
        "keys": summed(keys),
        "method": worded(method),
        "space": worded(task.space),
        "training": ", ".join(f"{name}={value!r}" for name, value in how.items()),
    }


def worded(value: Any) -> str:
    """A value in words that are the same in every process."""
    if isinstance(value, functools.partial):
        given = [*map(worded, value.args), *(f"{name}={worded(x)}" for name, x in value.keywords.items())]
        return f"{worded(value.func)}({', '.join(given)}, …)"
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if dataclasses.is_dataclass(value):
        fields = (f"{field.name}={worded(getattr(value, field.name))}" for field in dataclasses.fields(value))
        return f"{type(value).__name__}({', '.join(fields)})"
    if isinstance(value, jax.Array | np.ndarray):
        return summed(value)
    return repr(value)


def summed(arrays: Any) -> str:
    """The shapes and a checksum of arrays."""
    leaves = [jr.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x for x in _arrays(arrays)]
    found = hashlib.sha256()
    for leaf in map(np.asarray, leaves):
        found.update(f"{leaf.dtype}{leaf.shape}".encode())
        found.update(np.ascontiguousarray(leaf).tobytes())
    rows = [len(x) for x in _arrays(arrays) if x.ndim]
    return f"{'/'.join(map(str, rows[:3]))} rows, {found.hexdigest()[:16]}"


def _arrays(tree: Any) -> list[Any]:
    return [leaf for leaf in jax.tree.leaves(tree) if isinstance(leaf, jax.Array | np.ndarray)]
