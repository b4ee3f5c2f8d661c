"""Nerve cells as boxes: a network between vectors is a diagram around its inputs, and the other way round.

| the mathematics                                            | here                                                 |
| ---------------------------------------------------------- | ---------------------------------------------------- |
| its inputs are boxes inside, its outputs a box around them | `as_diagram(level, cells)`, and back `as_network`    |
| what fills the innermost boxes                             | `cell(values)`: a stream of values                   |

A cell shows a value and takes the gradient of the loss with respect to it, as its `change`. The box around it shows
what the weights make of the values, and takes the change of that. A layer is the same optic in both pictures, so no
number differs. A cell that several neurons read is one box, and takes the sum of their changes.

Source: D. Spivak, T. Hosgood, *Deep neural networks as nested dynamical systems*, 2021, figures 1 to 3, where to make a
diagram of a network is to unfold it.

Examples:
    >>> from cdl_arch.system import cells
    >>> stream = cells.cell(jnp.array([1.0, 2.0]))
    >>> cdl.run(stream, stream.state, {"change": jnp.zeros(2)})[0]
    {'value': Array([1., 2., 1.], dtype=float32)}
"""

from collections.abc import Sequence
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from cdl import MooreF, Optic, ParaOptic
from cdl.checks import with_types
from cdl.errors import CdlError, PortMismatch
from cdl.system import Box, box, Rewiring

from .neurons import distinct


@with_types
def as_diagram(model: Rewiring, cells: Sequence[str], *, hears: bool = False) -> Rewiring:
    """A model from vectors to arrays between ports: its inputs are boxes inside, its output is the box around them.

    Each cell shows a `value` and takes the `change` of it; so does the whole. `cdl.system.rewire` puts systems into
    the cells, such as those that `cell` gives.

    **Arguments:** `cells`: the names of the boxes, in the order of the vector. `hears`: whether the model is one of
    `peers`, whose boxes take also what they have `heard`.

    **Raises:** `PortMismatch` where the model takes another number of values; `CdlError` for a name that is there
    twice.
    """
    names, ports = distinct("cells", cells), ("change", "heard") if hears else ("change",)
    dtypes = [x.dtype for x in jax.tree.leaves(model.params) if eqx.is_inexact_array(x)]
    expect_cells(model, len(names), dtypes[0] if dtypes else jnp.zeros(0).dtype)

    def within(given: Any) -> Any:
        s, i = given
        return s, jnp.stack([i[name]["value"] for name in names])

    def to_cells(back: Any) -> Any:
        after, d = back
        each = d if hears else {"change": d}
        return after, {name: {port: each[port][k] for port in ports} for k, name in enumerate(names)}

    around: Optic[Any, Any, Any, Any] = Optic.iso(
        lambda y: {"value": y}, lambda d: {port: d[port] for port in ports} if hears else d["change"]
    )
    return ParaOptic(model.params, Optic.iso(within, to_cells) >> model.optic >> around)


@with_types
def as_network(diagram: Rewiring, cells: Sequence[str], *, hears: bool = False) -> Rewiring:
    """The network of a diagram between ports, from the values of its cells, as a vector: the other way of `as_diagram`.

    Any diagram whose boxes and outside have the ports of `cell` is such a network; arguments as of `as_diagram`.
    """
    names, ports = distinct("cells", cells), ("change", "heard") if hears else ("change",)

    def apart(given: Any) -> Any:
        s, v = given
        if jnp.shape(v)[:1] != (len(names),):
            raise PortMismatch(
                f"{jnp.shape(v)} is the shape of what {len(names)} cells are to show: give a value for each of them."
            )
        return s, {name: {"value": v[k]} for k, name in enumerate(names)}

    def together(back: Any) -> Any:
        after, d = back
        each = {port: jnp.stack([d[name][port] for name in names]) for port in ports}
        return after, each if hears else each["change"]

    around: Optic[Any, Any, Any, Any] = Optic.iso(lambda out: out["value"], lambda d: d if hears else {"change": d})
    return ParaOptic(diagram.params, Optic.iso(apart, together) >> diagram.optic >> around)


@with_types
def cell(values: Float[Array, " time"], *, hears: bool = False) -> Box:
    """A nerve cell: shows a value at each tick, one after the other and again from the first.

    Its state has the tick, `at`, the `change` that it was given last, and what it has `heard`, which it adds to the
    value that it shows.

    **Raises:** `CdlError` for no values.
    """
    if not len(values):
        raise CdlError("`cell` was given no values, and shows one at each tick: give one at least.")
    ports = ("change", "heard") if hears else ("change",)
    none = jnp.zeros_like(values, shape=())
    state = {"at": jnp.array(0), **dict.fromkeys(ports, none)}
    return box(_Shows(values, ports), state, inputs=dict.fromkeys(ports, none), outputs={"value": none}, name="cell")


@final
class _Shows(eqx.Module):
    values: Array
    ports: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, s: Any, /) -> MooreF[Any, Any, Any]:
        value = self.values[s["at"]] + s.get("heard", 0)
        after = {"at": (s["at"] + 1) % len(self.values)}
        return MooreF({"value": value}, lambda i: {**after, **{port: i[port] for port in self.ports}})


def expect_cells(level: Rewiring, cells: int, dtype: Any) -> Any:
    """The type of what a level shows. **Raises:** `PortMismatch` where it does not take a value of each cell."""
    try:
        return eqx.filter_eval_shape(level, jax.ShapeDtypeStruct((cells,), dtype))
    except (TypeError, ValueError) as error:
        raise PortMismatch(
            f"`{level.name}` does not take {cells} values, one of each inner box: give as many boxes, or rows of a "
            "matrix, as it takes values."
        ) from error
