"""What `train` refuses, before it begins and while it runs."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from cdl.checks import described, takes
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
    number = isinstance(given, int | float | np.generic | np.ndarray | jax.Array) and not np.ndim(given)
    is_complex = number and jnp.issubdtype(jnp.result_type(given), jnp.complexfloating)
    if not number or is_complex:
        found = "a complex number" if is_complex else described(given)
        raise CdlError(f"`{name}` of `train` gives {found}, and {why}: {advice}.")
    return given
