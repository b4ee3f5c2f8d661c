"""Types of ports: shapes and dtypes, found by `jax.eval_shape`, so that nothing is computed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._engine.arrays.shapes import shaped, shown
from .._functors.words import first_line
from ..errors import PortMismatch
from .parametric import keyed


def like(value: Any) -> Any:
    """The type of a value, of a shape that is a tuple of numbers, or of what is a type already."""
    if isinstance(value, tuple) and all(isinstance(size, int) for size in value):
        return eqx.filter_eval_shape(jnp.zeros, value)
    return value if value is None else _strong(eqx.filter_eval_shape(lambda x: x, value))


def rows(size: int | None, kind: Any) -> Any:
    """The type of an array of `n` such values: `(n, …)`."""
    stacked = lambda x: jnp.broadcast_to(x, (size, *x.shape))
    return eqx.filter_eval_shape(lambda kind: jax.tree.map(stacked, kind), kind)


def value_type(para: Any, source: Any) -> Any:
    """The type that a parametrised optic gives for an input of type `source`.

    **Raises:** `PortMismatch` where it takes no such input.
    """
    takes = lambda: f"`{para.name}`, whose parameters are {', '.join(para.param_types)}, does not take {show(source)}"
    with refusing(takes, "Give it an input that it takes, or change its sizes."):
        value: Any = lambda params, x, key: keyed(para.optic, key).get((params, x))
        return _strong(eqx.filter_eval_shape(value, para.params, source, jax.random.key(0)))


def show(kind: Any) -> str:
    """A type, on one line."""
    return " ".join(shown(kind).split())


def check(loss: Any, kinds: Any, rate: Any, *, assumed: bool = False) -> None:
    """That a loss takes a target and a prediction of these types, and that the rate takes what it gives.

    **Arguments:** `assumed`: whether nobody said what the target is, so that it was taken to be like the prediction.

    **Raises:** `PortMismatch`.
    """
    target, prediction = map(like, kinds)
    takes = lambda: f"the loss does not take a target {show(target)} and a prediction {show(prediction)}"
    mend = "Give it what it takes, or take another loss."
    if assumed:
        mend = (
            "Nobody said what a target is, so it was taken to be like the prediction: give `target=`, a target or the "
            "type of one, or take another loss."
        )
    with refusing(takes, mend):
        eqx.filter_eval_shape(lambda pair: (loss >> rate).get(pair), (target, prediction))


def check_rows(loss: Any, row: tuple[Any, Any], rate: Any) -> None:
    """Likewise for any number of rows, given the types of one target and one prediction: tried on two.

    Where the loss takes another number only, nothing is known.

    **Raises:** `PortMismatch`.
    """
    target, prediction = (rows(2, kind) for kind in row)
    if _takes(loss, target, prediction) or (target != prediction and _takes(loss, prediction, prediction)):
        check(loss, (target, prediction), rate)


def _takes(loss: Any, target: Any, prediction: Any) -> bool:
    try:
        eqx.filter_eval_shape(loss.get, (target, prediction))
    except Exception:  # whatever a loss of someone's may say of two rows
        return False
    return True


@contextmanager
def refusing(what: Callable[[], str], mend: str) -> Iterator[None]:
    """Another's refusal of shapes and types as a `PortMismatch`, which says what does not fit and what to do."""
    try:
        yield
    except PortMismatch:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, AssertionError) as why:
        raise PortMismatch(f"{what()}: {first_line(why).rstrip('. ')}. {mend}") from why


def _strong(kind: Any) -> Any:
    """A type without what it owes to Python's numbers, which a port does not look at."""
    plain = lambda x: shaped(x.shape, x.dtype) if isinstance(x, jax.ShapeDtypeStruct) else x
    return jax.tree.map(plain, kind)
