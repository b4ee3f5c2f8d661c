"""Jaxprs whose constants are inputs, as functions."""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun, Literal, Var


Atom = Var | Literal  # what an equation reads


def without_constants(jaxpr: Jaxpr) -> Jaxpr:
    """The jaxpr with its constants as the first of its inputs."""
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    return jaxpr.replace(constvars=(), invars=inputs)


def opened(case: ClosedJaxpr) -> Callable[..., list[jax.Array]]:
    """A jaxpr as a function of its constants and its inputs."""
    run: Callable[..., Any] = jaxpr_as_fun(ClosedJaxpr(without_constants(case.jaxpr), ()))
    return run
