"""Types of ports: shapes and dtypes, found by `jax.eval_shape`, so that nothing is computed."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._errors import PortMismatch


def like(value: Any) -> Any:
    """The type of a value, of a shape that is a tuple of numbers, or of what is a type already."""
    if isinstance(value, tuple) and all(isinstance(size, int) for size in value):
        return eqx.filter_eval_shape(jnp.zeros, value)
    return value if value is None else eqx.filter_eval_shape(lambda x: x, value)


def rows(size: int | None, kind: Any) -> Any:
    """The type of so many, along an axis in front."""
    stacked = lambda x: jnp.broadcast_to(x, (size, *x.shape))
    return eqx.filter_eval_shape(lambda kind: jax.tree.map(stacked, kind), kind)


def value_type(para: Any, source: Any) -> Any:
    """The type that a parametrised optic gives for an input of type `source`.

    **Raises:** `PortMismatch` where it takes no such input.
    """
    try:
        return eqx.filter_eval_shape(lambda params, x: para.optic.get((params, x)), para.params, source)
    except PortMismatch:
        raise
    except (TypeError, ValueError) as why:
        raise PortMismatch(
            f"`{para.name}`, whose parameters are {', '.join(para.param_types)}, does not take {show(source)}: "
            f"{str(why).splitlines()[0].rstrip('. ')}. Give it an input that it takes, or change its sizes."
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
            f"{str(why).splitlines()[0].rstrip('. ')}. Give it what it takes, or take another loss."
        ) from why
