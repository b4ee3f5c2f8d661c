"""A network as diagrams in diagrams: each layer is a diagram whose weights are its state, around the layer before it.

| the mathematics                                            | here                                                 |
| ---------------------------------------------------------- | ---------------------------------------------------- |
| a layer that learns, `P → [A y^A, B y^B](P)`               | one of `levels`: a `cdl.system.Rewiring`             |
| a network: boxes in boxes                                  | `from_mlp(mlp, rate)`, or `nested(levels)`           |
| a box, opened                                              | `opened(network, name)`                              |

A step of gradient descent is the next state of a diagram. What goes back through it is the gradient of the loss, which
the source calls the change of a value.

Sources: D. Spivak, T. Hosgood, *Deep neural networks as nested dynamical systems*, 2021, figures 1 to 3; B. Fong,
D. Spivak, R. Tuyéras, *Backprop as Functor*, 2019.

Examples:
    >>> from cdl_arch.system import neurons
    >>> mlp = eqx.nn.MLP(2, 1, 3, 1, key=jax.random.key(0))
    >>> network = neurons.from_mlp(mlp, rate=0.1)
    >>> len(jax.tree.leaves(network.params))
    4
"""

from collections.abc import Callable, Sequence
from typing import Any, final

import equinox as eqx
import jax
from jax.core import Tracer
from jaxtyping import Array

from cdl import ParaOptic
from cdl._optics.optic import Named
from cdl._optics.parametric import Sequence as Both
from cdl.checks import with_types
from cdl.errors import CdlError
from cdl.learning import optimisers
from cdl.system import Rewiring
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
    called = [f"layer {k + 1}" for k in range(len(each))] if names is None else distinct("names", names)
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

    **Arguments:** `network`: diagrams in diagrams, as `from_mlp` gives them. `name`: of the box.

    **Raises:** `CdlError` where no box has this name; the message lists the names.
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


def expect_rate(rate: Any) -> None:
    """**Raises:** `CdlError` for a rate of descent that is negative, or not finite; one that is traced is taken."""
    if not isinstance(rate, Tracer):
        known("`rate`, of gradient descent,", rate, zero=True)


def distinct(what: str, names: Sequence[str]) -> list[str]:
    """**Raises:** `CdlError` for one text where several belong, and for a name that is there twice."""
    found = list(names)
    if isinstance(names, str):
        raise CdlError(f"`{what}` is the text {names!r}: give a list of names.")
    if twice := [name for k, name in enumerate(found) if name in found[:k]]:
        raise CdlError(f"`{what}` has {twice[0]!r} twice: give each box another name.")
    return found


def _row(tree: Any, i: int) -> Any:
    return jax.tree.map(lambda x: x[i] if eqx.is_array(x) else x, tree)
