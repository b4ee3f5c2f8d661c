"""Types of ports: shapes and dtypes, found by `jax.eval_shape`, so that nothing is computed."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._errors import PortMismatch
from ..run._shapes import shaped


def like(value: Any) -> Any:
    """The type of a value, of a shape that is a tuple of numbers, or of what is a type already."""
    if isinstance(value, tuple) and all(isinstance(size, int) for size in value):
        return eqx.filter_eval_shape(jnp.zeros, value)
    return value if value is None else _strong(eqx.filter_eval_shape(lambda x: x, value))


def rows(size: int | None, kind: Any) -> Any:
    """The type of so many, along an axis in front."""
    stacked = lambda x: jnp.broadcast_to(x, (size, *x.shape))
    return eqx.filter_eval_shape(lambda kind: jax.tree.map(stacked, kind), kind)


def value_type(para: Any, source: Any) -> Any:
    """The type that a parametrised optic gives for an input of type `source`.

    **Raises:** `PortMismatch` where it takes no such input.
    """
    try:
        return _strong(eqx.filter_eval_shape(lambda params, x: para.optic.get((params, x)), para.params, source))
    except PortMismatch:
        raise
    except (TypeError, ValueError) as why:
        raise PortMismatch(
            f"`{para.name}`, whose parameters are {', '.join(para.param_types)}, does not take {show(source)}: "
            f"{_first(why)}. Give it an input that it takes, or change its sizes."
        ) from why


def show(kind: Any) -> str:
    """A type, on one line."""
    return " ".join(str(eqx.tree_pformat(kind, struct_as_array=True)).split())


def check(loss: Any, kinds: Any, rate: Any) -> None:
    """That a loss takes a target and a prediction of these types, and that the rate takes what it gives.

    **Raises:** `PortMismatch`.
    """
    try:
        eqx.filter_eval_shape(lambda pair: (loss >> rate).get(pair), tuple(map(like, kinds)))
    except PortMismatch:
        raise
    except (TypeError, ValueError) as why:
        raise PortMismatch(
            f"the loss does not take a target {show(like(kinds[0]))} and a prediction {show(kinds[1])}: "
            f"{_first(why)}. Give it what it takes, or take another loss."
        ) from why


def _strong(kind: Any) -> Any:
    """A type without what it owes to Python's numbers, which is no part of what a port takes."""
    plain = lambda x: shaped(x.shape, x.dtype) if isinstance(x, jax.ShapeDtypeStruct) else x
    return jax.tree.map(plain, kind)


def _first(why: Exception) -> str:
    """What an error says first."""
    return (str(why).splitlines() or [type(why).__name__])[0].rstrip(". ")
