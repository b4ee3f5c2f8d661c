"""What a task and the keys of trainings have to be, said before anything is compiled.

JAX reads an index that is out of range at the last row, or as NaN, and says nothing. So labels, rows and batches are
compared with what the space gives of the inputs.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.core import Tracer

from cdl import Forest
from cdl.checks import whole
from cdl.errors import CdlError


OPTIMISERS = ("momentum", "adam")


def logits_of(space: Any, inputs: Any) -> tuple[int, ...]:
    """The shape of the logits of some inputs."""

    def run(key: Any) -> Any:
        return space.apply(space.init(key), jnp.zeros(len(space.sizes), jnp.int32), inputs)

    return tuple(jax.eval_shape(run, jr.key(0)).shape)


def expect_task(task: Any) -> None:
    """**Raises:** `CdlError` for numbers that no training has, and for parts that do not fit the space."""
    whole("steps", task.steps, least=0)
    if task.batch is not None:
        whole("batch", task.batch)
    if task.optimiser not in OPTIMISERS:
        raise CdlError(f"the optimisers of a task are {', '.join(OPTIMISERS)}: there is no {task.optimiser!r}.")
    if not 0 < task.rate < math.inf:
        raise CdlError(f"`rate` is {task.rate}: give a finite number above 0.")
    for name in ("train", "validation", "test"):
        _expect_part(name, getattr(task, name), task)


def _expect_part(name: str, part: Any, task: Any) -> None:
    labels = part.labels
    if np.ndim(labels) != 1 or not len(labels) or not jnp.issubdtype(labels.dtype, jnp.integer):
        raise CdlError(
            f"the labels of `{name}` are {jnp.result_type(labels)}{list(np.shape(labels))}: give the number of a class "
            "for each of one row or more, as int[rows]."
        )
    count = len(labels)
    if task.batch is not None and not all(_has_rows(x, count) for x in jax.tree.leaves(part.inputs, is_leaf=_forest)):
        raise CdlError(
            f"a batch of {task.batch} is rows of arrays, and the inputs of `{name}` are not arrays with {count} rows, "
            "one for each label: give such arrays, or `batch=None`, which a forest needs."
        )
    rows, classes = logits_of(task.space, part.inputs)
    if rows != count:
        raise CdlError(f"`{name}` has {count} labels, and its inputs have {rows} rows: give a label for each.")
    if isinstance(labels, Tracer):
        return
    known = np.asarray(labels)
    wrong = known[(known < 0) | (known >= classes)]
    if wrong.size:
        raise CdlError(f"`{name}` has the label {wrong[0]}, and those of {classes} classes are 0 to {classes - 1}.")


def _forest(x: Any) -> bool:
    return isinstance(x, Forest)


def _has_rows(x: Any, count: int) -> bool:
    return not _forest(x) and np.shape(x)[:1] == (count,)


def rows_of(space: Any, codes: Any) -> Any:
    """Codes of a space, one for each candidate. **Raises:** as `Space.checked`; and `CdlError` for one code alone."""
    found = space.checked(codes)
    if found.ndim != 2:
        raise CdlError(f"codes are of shape {found.shape}: give `int[n, places]`, one row for each candidate.")
    return found


def expect_keys(keys: Any, count: int | None = None) -> None:
    """**Raises:** `CdlError` where there is not one key for each of `count`; without it, at least one."""
    typed = jnp.issubdtype(jnp.result_type(keys), jax.dtypes.prng_key)
    if not typed or keys.ndim != 1 or (not len(keys) if count is None else len(keys) != count):
        wanted = "one or more" if count is None else f"{count}"
        raise CdlError(
            f"`keys` is {keys.dtype}{list(keys.shape)}, and an array of {wanted} keys along one axis is expected: give "
            "`jax.random.split(jax.random.key(0), n)`."
        )
