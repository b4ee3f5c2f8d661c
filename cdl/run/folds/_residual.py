"""What a reverse pass needs of the forward one, and where it is kept.

`pull` is a program's vjp at one chunk. Its residuals are told apart by tracing, at two sizes of chunk:

| a residual that is …                   | is                                                     |
| -------------------------------------- | ------------------------------------------------------ |
| one of the program's inputs            | read again                                             |
| made of weights alone                  | made again                                             |
| one thing for each row                 | kept in a table of rows, if residuals are saved        |
| one thing for each edge                | kept in a table of edges, if residuals are saved       |

A row belongs to one program, so that all programs keep theirs in the same table of rows, and an edge likewise: one
table for each type of number, as wide as the widest program needs. What is not kept is computed again; `remat` says
what that is:

| `remat`      | kept                      | computed again                        |
| ------------ | ------------------------- | ------------------------------------- |
| `"none"`     | every residual            | nothing                               |
| `"cheap"`    | matrix products           | what stands around them               |
| `"all"`      | nothing                   | the whole forward half of each chunk  |
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp

from ..forests._bucket import Size
from ._program import PROBES, Program


Remat = Literal["none", "cheap", "all"]


def wanted(inputs: Any, perturbed: Any) -> Any:
    """For each array that a rule is differentiated in, whether it is to have a cotangent."""
    return jax.tree.map(lambda x, yes: bool(yes) and jnp.issubdtype(x.dtype, jnp.inexact), inputs, perturbed)


def filled(cotangents: Any, like: Any) -> Any:
    """Cotangents with zeros in the places of those that a rule is not given."""
    return jax.tree.map(
        lambda g, x: jnp.zeros(x.shape, x.dtype) if g is None else g, cotangents, like, is_leaf=lambda g: g is None
    )


@dataclass(frozen=True)
class Kept:
    """A residual that is kept: its number among the residuals, the axis of rows, or of the edges of a `Many`, its shape
    without that axis, and its type; and its table and first column."""

    number: int
    axis: int
    many: int | None
    shape: tuple[int, ...]
    dtype: Any
    column: int

    @property
    def table(self) -> tuple[bool, str]:
        """Which table: of rows or of edges, and of what type."""
        return self.many is None, str(self.dtype)

    @property
    def columns(self) -> int:
        """How many columns it takes."""
        return math.prod(self.shape)

    def as_columns(self, x: Any) -> Any:
        """The residual as rows of a table."""
        return jnp.moveaxis(x, self.axis, 0).reshape(x.shape[self.axis], self.columns)

    def from_columns(self, rows: Any) -> Any:
        """The residual from rows of its table."""
        x = rows[:, self.column : self.column + self.columns]
        return jnp.moveaxis(x.reshape(len(rows), *self.shape), 0, self.axis)


def pull(run: Callable[..., Any], inputs: Any, smooth: Sequence[bool], remat: Remat) -> tuple[list[Any], Any]:
    """The rows' values and the vjp: from the cotangents of the values that are `smooth` to those of the inputs.

    Inputs are the weights, the payload, the slots, the keys, the edges and the node's own. Keys and integers have
    no cotangent.
    """
    differentiable, rest = jax.tree.map(_if_smooth, inputs), inputs
    if remat == "cheap":
        run = jax.checkpoint(run, policy=jax.checkpoint_policies.dots_saveable, prevent_cse=False)

    def of(differentiable: Any) -> tuple[list[Any], list[Any]]:
        merged = jax.tree.map(lambda d, r: r if d is None else d, differentiable, rest, is_leaf=lambda x: x is None)
        out = run(*merged)
        return [x for x, yes in zip(out, smooth, strict=True) if yes], out

    _, back, out = jax.vjp(of, differentiable, has_aux=True)
    return out, back


def residuals(program: Program, inputs: Callable[[Size], Any], smooth: Sequence[bool], remat: Remat) -> list[Kept]:
    """The residuals of a program that belong to rows or to edges."""
    shapes: list[Any] = []
    for size in PROBES:
        traced = jax.make_jaxpr(lambda x, size=size: jax.tree.leaves(pull(program.at[size], x, smooth, remat)[1]))(
            inputs(size)
        )
        shapes.append(traced.jaxpr)
    again = _again(shapes[0], len(jax.tree.leaves(inputs(PROBES[0])[0])))
    kept = []
    used: dict[Any, int] = {}
    for i, (a, b) in enumerate(zip(*([v.aval for v in x.outvars] for x in shapes), strict=True)):
        if i in again or not (jnp.issubdtype(a.dtype, jnp.inexact) or a.dtype == jnp.bool_):
            continue  # integers number rows within a chunk, and another pass has other chunks
        axis = next((j for j, (m, n) in enumerate(zip(a.shape, b.shape, strict=True)) if m != n), None)
        if axis is None:
            continue
        lengths = (a.shape[axis], b.shape[axis])
        many = None if lengths == tuple(s.rows for s in PROBES) else (lengths[0] - PROBES[0].edges) // PROBES[0].spread
        shape = a.shape[:axis] + a.shape[axis + 1 :]
        kept.append(Kept(i, axis, many, shape, a.dtype, used.get((many, a.dtype), 0)))
        used[many, a.dtype] = kept[-1].column + kept[-1].columns
    return kept


def _again(jaxpr: Any, weights: int) -> set[int]:
    """The numbers of the outputs that are inputs, or made of the first few inputs and of constants alone."""
    made: set[Any] = set(jaxpr.invars[weights:])
    for eqn in jaxpr.eqns:
        if any(not hasattr(v, "val") and v in made for v in eqn.invars):
            made.update(eqn.outvars)
    inputs = set(jaxpr.invars)
    return {i for i, v in enumerate(jaxpr.outvars) if hasattr(v, "val") or v in inputs or v not in made}


def _if_smooth(x: Any) -> Any:
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else None
