"""Systems that rewire themselves: their diagram depends on a state, and what flows changes that.

| the mathematics                                        | here                                                        |
| ------------------------------------------------------ | ----------------------------------------------------------- |
| a coalgebra `S → [p, q](S)`                            | `Rewiring`: a `ParaOptic` whose parameters are the state    |
| its maps `φ₁(s, i)` and `φ♯(s, i, d)`, the next state  | `rewiring(forward, back, update, state)`                    |
| one after the other, side by side                      | `>>` and `@` of parametric optics                           |
| a fixed diagram: the state is `1`                      | `fixed(wiring)`                                             |
| one of finitely many diagrams                          | `among(wirings, choose, update, state)`                     |
| a learner `A → B` is one, `P → [A y^A, B y^B](P)`      | `model.reparametrise(descent(ε).optic, at=p)`               |

What comes back for the parameters of the optic is the next state.

Here `i` are the outputs of all boxes, `{box: {port: value}}`, and `d` the inputs from outside.

Source: D. Spivak, T. Hosgood, *Deep neural networks as nested dynamical systems*, 2021; B. Shapiro, D. Spivak,
*Dynamic categories, dynamic operads*, 2022.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from .._engine.arrays._given import arrays
from .._engine.arrays.shapes import shown
from .._functors.usage import with_types, with_usage
from .._optics import Optic, ParaOptic
from ..errors import CdlError, PortMismatch
from ._exact import strong
from ._numbers import one_of, whole_number
from ._wiring import Wiring


Rewiring = ParaOptic[Any, Any, Any, Any, Any, Any]
"""A diagram that depends on a state, which what flows changes: made by `rewiring`, `among` and `fixed`.

Examples:
    >>> ports = cdl.system.Interface(inputs={"x": float}, outputs={"y": float})
    >>> same: cdl.system.Rewiring = cdl.system.fixed(cdl.system.Wiring.identity(ports))
    >>> inside, outside = {"box": {"y": 3.0}}, {"x": 5.0}
    >>> same.optic.get((same.params, inside))
    {'y': Array(3., dtype=float32, weak_type=True)}
    >>> same.optic.put((same.params, inside), outside)
    ((), {'box': {'x': Array(5., dtype=float32, weak_type=True)}})
"""


@with_types
def rewiring(
    forward: Callable[[Any, Any], Any],
    back: Callable[[Any, Any, Any], Any],
    update: Callable[[Any, Any, Any], Any],
    state: Any,
) -> Rewiring:
    """A diagram that depends on a state.

    **Arguments:** `forward(s, i)`: the outputs outside. `back(s, i, d)`: the inputs of the boxes. `update(s, i, d)`:
    the next state. `state`: the one to begin in.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> turns = cdl.system.rewiring(
        ...     lambda s, inner: {"out": inner["d"]["out"]},
        ...     lambda s, inner, outer: {
        ...         "d": {"x": jnp.where(s, inner["d"]["out"], outer["x"])}
        ...     },  # hold, or read
        ...     lambda s, inner, outer: ~s,
        ...     jnp.array(False),
        ... )
        >>> every_second = cdl.system.rewire(turns, {"d": delay}, {"out": int}, inputs={"x": int})
        >>> cdl.run(every_second, every_second.state, {"x": jnp.array([1, 2, 3, 4])})[0]
        {'out': Array([0, 1, 1, 3, 3], dtype=int32)}
    """
    return ParaOptic(strong(state), Optic.of(Ahead(forward), Back(back, update)))


class Ahead(eqx.Module):
    """What a diagram shows, and the state and the outputs of boxes, which its way back reads."""

    forward: Callable[[Any, Any], Any]

    def __call__(self, x: tuple[Any, Any]) -> tuple[Any, tuple[Any, Any]]:
        return self.forward(*x), x


class Back(eqx.Module):
    """The next state, and what goes into the boxes."""

    back: Callable[[Any, Any, Any], Any]
    update: Callable[[Any, Any, Any], Any]

    def __call__(self, seen: tuple[Any, Any], d: Any) -> tuple[Any, Any]:
        return self.update(*seen, d), self.back(*seen, d)


@with_types
def fixed(wiring: Wiring) -> Rewiring:
    """A diagram that stays as it is: the state is `()`.

    Examples:
        >>> gate = cdl.system.Interface(inputs={"x": int}, outputs={"out": int})
        >>> stays = cdl.system.fixed(cdl.system.Wiring.identity(gate))
        >>> stays.params
        ()
    """
    return among([wiring], _first, _stays, ())


@with_types
def among(
    wirings: Sequence[Wiring],
    choose: Callable[[Any], Any],
    update: Callable[[Any, Any, Any], Any],
    state: Any,
) -> Rewiring:
    """A diagram that is one of several at each tick. Each of them is checked when it is built.

    **Arguments:** `wirings`: diagrams of the same boxes with the same interface outside. `choose(s)`: the number of
    the one that a state stands for, from 0. `update(s, i, d)`: the next state. `state`: the one to begin in.

    **Raises:** `PortMismatch` where diagrams have other boxes, or another interface outside; `CdlError` for an
    empty list, and for an index out of range; from a compiled program, Equinox's error when it runs.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> p_then_q, q_then_p = (
        ...     cdl.system.Wiring(
        ...         {"p": delay.interface, "q": delay.interface},
        ...         {f"{a}.x": "x", f"{b}.x": f"{a}.out"},
        ...         {"out": f"{b}.out"},
        ...         {"x": int},
        ...     )
        ...     for a, b in ("pq", "qp")
        ... )
        >>> turns = cdl.system.among(
        ...     [p_then_q, q_then_p], lambda s: s, lambda s, inner, outer: 1 - s, jnp.array(0)
        ... )
        >>> both = cdl.system.rewire(
        ...     turns, {"p": delay, "q": delay}, {"out": int}, inputs={"x": int}
        ... )
        >>> cdl.run(both, both.state, {"x": jnp.array([1, 2, 3, 4])})[0]
        {'out': Array([0, 1, 2, 3, 4], dtype=int32)}
    """
    if not wirings:
        raise CdlError("`among` was given no diagram: give one at least.")
    for number, x in enumerate(wirings):
        if (x.boxes, x.outside) != (wirings[0].boxes, wirings[0].outside):
            raise PortMismatch(
                f"the diagram numbered {number} has other boxes, or another interface, than the first: {x.outside} and "
                f"{wirings[0].outside}. Give all of them the same."
            )
    chosen = Chosen(choose, tuple(wirings))
    return ParaOptic(strong(state), Optic.of(Ahead(chosen.get), Back(chosen.put, update)))


class Chosen(eqx.Module):
    """The diagram that a state stands for. All of them are computed, and one is taken."""

    choose: Callable[[Any], Any]
    wirings: tuple[Wiring, ...] = eqx.field(static=True)

    def get(self, s: Any, i: Any) -> Any:
        return self._one(s, [x.lens().get(i) for x in self.wirings])

    def put(self, s: Any, i: Any, d: Any) -> Any:
        return self._one(s, [x.lens().put(i, d) for x in self.wirings])

    def _one(self, s: Any, values: list[Any]) -> Any:
        number = one_of(self.choose(s), len(values), "`choose` of `among`", "diagrams")
        return jax.tree.map(lambda *xs: jnp.stack(xs)[number], *values)


def wirings_of(diagram: Rewiring) -> tuple[Wiring, ...]:
    """The diagrams that one is chosen from; of another rewiring, none are known."""
    ahead = getattr(diagram.optic, "ahead", None)
    chosen = getattr(ahead.forward, "__self__", None) if isinstance(ahead, Ahead) else None
    return chosen.wirings if isinstance(chosen, Chosen) else ()


def _first(s: Any) -> Any:
    return jnp.array(0)


def _stays(s: Any, i: Any, d: Any) -> Any:
    return s


@with_usage
def route(sources: Any, number: Int[Array, ""]) -> tuple[Any, Bool[Array, ""]]:
    """Picks one of several values by a number that is data, and says whether there is one.

    **Arguments:** `sources`: a pytree of arrays, with an axis of sources in front. `number`: which of them, or -1.

    **Returns:** its value, zero where there is none, and whether there is one: a wire that may be open.

    **Raises:** `CdlError` for sources that are not arrays with one axis in front, and for what is not one whole number.

    Examples:
        >>> cdl.system.route(jnp.array([10, 20, 30]), jnp.int32(2))
        (Array(30, dtype=int32), Array(True, dtype=bool))
    """
    tables, number = arrays(sources, "a source of `route`"), whole_number(number, "the number of `route`")
    shapes = [x.shape for x in jax.tree.leaves(tables)]
    if not all(shapes) or len({shape[0] for shape in shapes}) != 1 or not shapes[0][0]:
        raise CdlError(
            f"`route` was given the sources {shown(tables)}: give arrays with an axis of sources in front, as long in "
            "each, and one source at least."
        )
    number = number.astype(jnp.int32) if number.dtype.itemsize < 4 else number  # else the count may not fit
    there = jnp.asarray((number >= 0) & (number < shapes[0][0]))
    row = jnp.where(there, number, 0)
    return jax.tree.map(lambda x: jnp.where(there, x[row], jnp.zeros_like(x[0])), tables), there
