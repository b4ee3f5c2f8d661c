"""Types of ports: shapes and dtypes, found by `jax.eval_shape`, so that nothing is computed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._errors import first_line, PortMismatch
from ..run._shapes import shaped, shown


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
    takes = lambda: f"`{para.name}`, whose parameters are {', '.join(para.param_types)}, does not take {show(source)}"
    with refusing(takes, "Give it an input that it takes, or change its sizes."):
        return _strong(eqx.filter_eval_shape(lambda params, x: para.optic.get((params, x)), para.params, source))


def show(kind: Any) -> str:
    """A type, on one line."""
    return " ".join(shown(kind).split())


def check(loss: Any, kinds: Any, rate: Any) -> None:
    """That a loss takes a target and a prediction of these types, and that the rate takes what it gives.

    **Raises:** `PortMismatch`.
    """
    takes = lambda: f"the loss does not take a target {show(like(kinds[0]))} and a prediction {show(kinds[1])}"
    with refusing(takes, "Give it what it takes, or take another loss."):
        eqx.filter_eval_shape(lambda pair: (loss >> rate).get(pair), tuple(map(like, kinds)))


@contextmanager
def refusing(what: Callable[[], str], mend: str) -> Iterator[None]:
    """JAX's refusal of shapes and types as a `PortMismatch`, which says what does not fit and what to do."""
    try:
        yield
    except PortMismatch:
        raise
    except (TypeError, ValueError) as why:
        raise PortMismatch(f"{what()}: {first_line(why).rstrip('. ')}. {mend}") from why


def _strong(kind: Any) -> Any:
    """A type without what it owes to Python's numbers, which is no part of what a port takes."""
    plain = lambda x: shaped(x.shape, x.dtype) if isinstance(x, jax.ShapeDtypeStruct) else x
    return jax.tree.map(plain, kind)
