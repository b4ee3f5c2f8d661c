"""What `train` refuses, before it begins and while it runs."""

from collections.abc import Iterable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from cdl.checks import described, short, takes
from cdl.errors import CdlError


def expect_functions(batches: Any, loss: Any, score: Any) -> None:
    """**Raises:** `CdlError` where one of these is not a function of the arguments that it is called with."""
    for name, given, arguments, write in (
        ("batches", batches, ("epoch",), "`lambda epoch: batches` of a list"),
        (
            "loss",
            loss,
            ("model", "batch", "key"),
            "`def loss(model, batch, key)`, also where it has no use for the key",
        ),
        ("score", score, ("model",), "`lambda model: float(…)`"),
    ):
        if not callable(given) or not takes(given, *arguments):
            raise CdlError(
                f"`{name}` of `train` is {described(given)}, and is called as `{name}({', '.join(arguments)})`: write "
                f"{write}."
            )


def expect_one_number(name: str, given: Any, why: str, advice: str) -> Any:
    """`given`, if it is one real number. **Raises:** `CdlError` for anything other than a real number."""
    number = isinstance(given, int | float | np.number | np.bool_ | np.ndarray | jax.Array) and not np.ndim(given)
    kind = getattr(given, "dtype", np.dtype(float)).kind
    if not number or kind not in "biufV":  # the last is that of a `bfloat16`
        found = "a complex number" if number and kind == "c" else described(given)
        raise CdlError(f"`{name}` of `train` gives {found}, and {why}: {advice}.")
    return given


def expect_weights(model: Any) -> None:
    """**Raises:** `CdlError` where a model has nothing to train."""
    if not any(map(eqx.is_inexact_array, jax.tree.leaves(model))):
        raise CdlError(
            f"`model` of `train` is {described(model)}, and has no array of real numbers to train: make its weights "
            "arrays, `jnp.array(1.0)` for `1.0`, in the fields of a module or in a pytree."
        )


def expect_batches(given: Any) -> Any:
    """`given`, if it can be iterated. **Raises:** `CdlError` otherwise."""
    if not isinstance(given, Iterable):
        raise CdlError(f"`batches` of `train` gives {described(given)}: return the batches of the epoch, as a list.")
    return given


def expect_numbers(batch: Any) -> tuple[Any, ...]:
    """The numbers of Python in a batch. **Raises:** `CdlError` where it has texts."""
    leaves = jax.tree.leaves(batch)
    text = next((x for x in leaves if isinstance(x, str) or (isinstance(x, np.ndarray) and x.dtype.kind in "US")), None)
    if text is not None:
        raise CdlError(
            f"a batch of `train` has texts in it, {short(text)}, and a program computes with numbers: number them, as "
            "`np.unique(texts, return_inverse=True)` does."
        )
    return tuple(x for x in leaves if isinstance(x, int | float) and not isinstance(x, bool))
