"""A network as diagrams in diagrams: its nerve cells are the boxes, and its weights are how they are wired.

| the mathematics                                            | here                                                 |
| ---------------------------------------------------------- | ---------------------------------------------------- |
| a layer that learns, `P → [A y^A, B y^B](P)`               | one of `levels`: a `cdl.system.Rewiring`             |
| its inputs are boxes inside, its outputs a box around them | `unfold(level, cells)`, and back `folded`            |
| a network: boxes in boxes                                  | `from_mlp(mlp, rate)`, or `nested(levels)`           |
| a box, opened                                              | `opened(network, name)`                              |
| what fills the innermost boxes                             | `cell(values)`: a stream of values                   |

A nerve cell shows a value and takes the change of it. The box around it shows what the weights make of the values, and
takes the change of that; the weights are the state of the diagram, and a step of gradient descent is its next state.
A layer is the same optic in both pictures: unfolding moves no number. A cell that several neurons read is one box, and
takes the sum of their changes.

Sources: D. Spivak, T. Hosgood, *Deep neural networks as nested dynamical systems*, 2021, figures 1 to 3; B. Fong,
D. Spivak, R. Tuyéras, *Backprop as Functor*, 2019.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float

from cdl import MooreF, Optic, ParaOptic
from cdl._functors.usage import with_types
from cdl._optics.optic import Named
from cdl._optics.parametric import Sequence as Both
from cdl.errors import CdlError, PortMismatch
from cdl.learning import optimisers
from cdl.system import Box, box, Rewiring
from cdl.system._numbers import known


@final
class Dense(eqx.Module):
    """`x ↦ σ(M x + b)`, of a layer and of an activation that may have an own weight for each neuron."""

    linear: Callable[[Array], Array]
    activation: Callable[[Any], Any] | None

    def __call__(self, x: Array) -> Array:
        z = self.linear(x)
        if self.activation is None:
            return z
        return self.activation(z) if z.ndim == 0 else eqx.filter_vmap(lambda f, z: f(z))(self.activation, z)


@with_types
def layers(mlp: eqx.nn.MLP) -> tuple[Dense, ...]:
    """The layers of a network of Equinox, each with its activation."""
    each, hidden = list(mlp.layers), mlp.activation
    if mlp.scan and mlp.depth:
        first, stacked, last = each
        each = [first, *(_row(stacked, i) for i in range(mlp.depth - 1)), last]
    if not mlp.depth:
        return (Dense(each[0], None),)
    return (*(Dense(x, _row(hidden, i)) for i, x in enumerate(each[:-1])), Dense(each[-1], mlp.final_activation))


@with_types
def levels(
    network: eqx.nn.MLP | Sequence[Callable[..., Any]], rate: float, names: Sequence[str] | None = None
) -> tuple[Rewiring, ...]:
    """Each layer of a network as a diagram that learns, by gradient descent, from the inside to the outside.

    **Arguments:** `network`: of Equinox, or its layers, each a module from an array to an array. `rate`: of descent.
    `names`: of the box around each layer.

    **Raises:** `CdlError` for another number of names than of layers, for one that is there twice, and for a rate that
    is negative or not finite.
    """
    each = layers(network) if isinstance(network, eqx.nn.MLP) else tuple(network)
    expect_rate(rate)
    called = [f"layer {k + 1}" for k in range(len(each))] if names is None else _distinct("names", names)
    if len(called) != len(each) or not each:
        raise CdlError(f"{len(called)} names for {len(each)} layers: give a layer at least, and a name for each.")
    learn = optimisers.descent(rate)
    models = [ParaOptic.of(layer) for layer in each]
    made = [model.reparametrise(learn.optic, at=learn.start(model.params)) for model in models]
    return tuple(level.named(name) for level, name in zip(made, called, strict=True))


@with_types
def nested(levels: Sequence[Rewiring]) -> Rewiring:
    """Diagrams, each in the one box of the next: their boxes are nested, and named as they are.

    **Raises:** `CdlError` for none.
    """
    if not levels:
        raise CdlError("`nested` was given no diagram: give one at least.")
    whole = levels[0]
    for level in levels[1:]:
        whole = (whole >> level).named(level.name)
    return whole


@with_types
def from_mlp(mlp: eqx.nn.MLP, rate: float, names: Sequence[str] | None = None) -> Rewiring:
    """A network of Equinox as diagrams in diagrams; one step of it is one step of gradient descent.

    Its forward map is the network's, what comes back is the change of the input, and its next state the parameters
    after the step. Arguments as of `levels`.
    """
    return nested(levels(mlp, rate, names))


@with_types
def opened(network: Rewiring, name: str) -> Rewiring:
    """The diagram in the box of this name, with its state.

    **Raises:** `CdlError` where there is none; it names those that there are.
    """
    found, model = [], network
    while True:
        optic: Any = model.optic
        if isinstance(optic, Named):
            found.append(optic.name)
            if optic.name == name:
                return model
            optic = optic.optic
        if not isinstance(optic, Both):
            raise CdlError(f"there is no box `{name}` to open: from the outside in they are {', '.join(found)}.")
        model = ParaOptic(model.params[0], optic.first)


@with_types
def unfold(model: Rewiring, cells: Sequence[str], *, hears: bool = False) -> Rewiring:
    """A model from vectors to arrays between ports: its inputs are boxes inside, its output is the box around them.

    Each cell shows a `value` and takes the `change` of it; so does the whole. `cdl.system.rewire` puts systems into
    the cells, such as those that `cell` gives.

    **Arguments:** `cells`: the names of the boxes, in the order of the vector. `hears`: whether the model is one of
    `peers`, whose boxes take also what they have `heard`.

    **Raises:** `PortMismatch` where the model takes another number of values; `CdlError` for a name that is there
    twice.
    """
    names, ports = _distinct("cells", cells), ("change", "heard") if hears else ("change",)
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
def folded(diagram: Rewiring, cells: Sequence[str], *, hears: bool = False) -> Rewiring:
    """The network of a diagram between ports, from the values of its cells, as a vector: the other way of `unfold`.

    Any diagram whose boxes and whose outside have the ports of nerve cells is a network so; arguments as of `unfold`.
    """
    names, ports = _distinct("cells", cells), ("change", "heard") if hears else ("change",)

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


def expect_rate(rate: Any) -> None:
    """**Raises:** `CdlError` for a rate of descent that is negative, or not finite; one that is traced is taken."""
    if not isinstance(rate, Tracer):
        known("`rate`, of gradient descent,", rate, zero=True)


def _distinct(what: str, names: Sequence[str]) -> list[str]:
    """**Raises:** `CdlError` for one text where several belong, and for a name that is there twice."""
    found = list(names)
    if isinstance(names, str):
        raise CdlError(f"`{what}` is the text {names!r}: give a list of names.")
    if twice := [name for k, name in enumerate(found) if name in found[:k]]:
        raise CdlError(f"`{what}` has {twice[0]!r} twice: give each box a name of its own.")
    return found


def _row(tree: Any, i: int) -> Any:
    return jax.tree.map(lambda x: x[i] if eqx.is_array(x) else x, tree)
