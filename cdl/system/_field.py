"""Vector fields that share variables: composed as fields, and made a machine once, at the end.

| the mathematics                                     | here                                                        |
| --------------------------------------------------- | ----------------------------------------------------------- |
| a vector field on `ℝ^variables`                     | `field(rate, variables)`: `ds/dt = rate(s)`                 |
| an undirected diagram: each variable to a junction  | `share(fields, junctions)`                                  |
| `v(s) = Σₖ mₖ_* vₖ(mₖ^* s)`                         | each part reads its junctions, and rates are added          |
| one step of a method, such as Runge and Kutta's     | `discretise(field, state, step=)`: a system with a clock    |

Fields are composed before they are discretised: systems that are joined after it read what was there a step ago, and
are of the first order whatever the method.

Source: J. Libkind, A. Baas, E. Patterson, J. Fairbanks, *Operadic modeling of dynamical systems*, 2021.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, final, Literal

import equinox as eqx
import jax

from .._drawing.diagram import Diagram
from .._engine._given import arrays
from .._functors import MooreF
from .._functors.usage import with_usage
from .._functors.words import short
from .._terms import name as called
from ..errors import CdlError, PortMismatch
from ._box import Box, box
from ._interface import expect_join, Interface, Port
from ._picture_of_fields import Fields, fields_diagram


Values = dict[str, Any]


class Field(eqx.Module):
    """A vector field with named variables, and inputs that it is driven by. Extend it, or use `field`."""

    ports: eqx.AbstractVar[Interface]
    name: eqx.AbstractVar[str]

    @property
    def variables(self) -> Mapping[str, Port]:
        """Its variables: they are its outputs."""
        return self.ports.outputs

    @property
    def inputs(self) -> Mapping[str, Port]:
        """What drives it."""
        return self.ports.inputs

    @abstractmethod
    def rate(self, values: Values, inputs: Values) -> Values:
        """How fast each variable changes."""

    def __diagram__(self) -> Diagram:
        return fields_diagram(self.drawn())

    def drawn(self) -> Fields:
        """What a picture shows of it."""
        return Fields(self.name, self.inputs, self.variables)


@final
class Given(Field):
    """A field as it is given. Made by `field`."""

    fn: Callable[..., Values]
    ports: Interface = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def rate(self, values: Values, inputs: Values) -> Values:
        return self.fn(values, inputs) if self.inputs else self.fn(values)


@final
class Shared(Field):
    """Fields that share variables. Made by `share`. `parts` are the fields; `ends` has for each part the junction of
    each of its variables."""

    parts: tuple[Field, ...]
    ends: tuple[tuple[tuple[str, str], ...], ...] = eqx.field(static=True)
    drives: tuple[tuple[str, ...], ...] = eqx.field(static=True)
    ports: Interface = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def rate(self, values: Values, inputs: Values) -> Values:
        total: Values = {}
        for part, ends, drives in zip(self.parts, self.ends, self.drives, strict=True):
            found = part.rate({own: values[at] for own, at in ends}, {port: inputs[port] for port in drives})
            for own, at in ends:
                total[at] = found[own] if at not in total else jax.tree.map(lambda a, b: a + b, total[at], found[own])
        return {at: total[at] for at in self.variables}

    def drawn(self) -> Fields:
        parts = [part.drawn() for part in self.parts]
        return Fields(self.name, self.inputs, self.variables, parts, [dict(ends) for ends in self.ends])


@with_usage
def field(
    rate: Callable[..., Values],
    variables: Mapping[str, Any],
    *,
    inputs: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> Field:
    """A vector field: `rate` gives for the values of its variables, a dictionary, how fast each changes, another.

    **Arguments:** `rate`: a function or a module; of the values, and of the inputs where there are some. `variables`,
    `inputs`: for each what `Port.of` takes.

    **Raises:** `PortMismatch` where `rate` gives other variables, or other shapes.
    """
    made = Given(fn=rate, ports=Interface(inputs or {}, variables), name=name or called(rate, "field"))
    wanted = {key: port.struct for key, port in made.variables.items()}
    found = eqx.filter_eval_shape(made.rate, wanted, {key: port.struct for key, port in made.inputs.items()})
    if not isinstance(found, Mapping) or set(found) != set(wanted):
        given = sorted(found) if isinstance(found, Mapping) else found
        raise PortMismatch(
            f"`{made.name}` gives the rates {short(given)}, and its variables are {short(sorted(wanted))}."
        )
    for key, port in made.variables.items():
        expect_join(f"the rate of {key}", Port.of(found[key], port.unit), key, port)
    return made


@with_usage
def share(fields: Mapping[str, Field], junctions: Mapping[str, Iterable[str]], *, name: str = "shared") -> Shared:
    """Fields that share variables, as one: the variables of a junction are one, and its rate is the sum of theirs.

    ```python
    share({"birth": birth, "hunt": hunt}, {"rabbits": ["birth.n", "hunt.prey"], "foxes": ["hunt.predator"]})
    ```

    **Arguments:** `fields`: by name. Their inputs are those of the whole, and one that two have is one.
    `junctions`: for each variable of the whole those that it is, as `"field.variable"`.

    **Raises:** `PortMismatch` for a variable that there is not, for one in no junction or in two, and for one of
    another shape or unit than those that it is joined with.
    """
    every = {f"{part}.{own}": port for part, x in fields.items() for own, port in x.variables.items()}
    at: dict[str, str] = {}
    for junction, ends in junctions.items():
        first: str | None = None
        for end in ends:
            if end not in every:
                raise PortMismatch(f"`{end}` is no variable of a field: they are {', '.join(f'`{x}`' for x in every)}.")
            if end in at:
                raise PortMismatch(f"`{end}` is in two junctions, `{at[end]}` and `{junction}`: make them one.")
            at[end], first = junction, first or end
            expect_join(first, every[first], end, every[end])
    if lost := [end for end in every if end not in at]:
        raise PortMismatch(f"`{lost[0]}` is in no junction: name it in one, alone if nothing shares it.")
    drives: dict[str, Port] = {}
    for x in fields.values():
        for port, of in x.inputs.items():
            expect_join(port, drives.setdefault(port, of), f"{port} of {x.name}", of)
    found = {junction: every[end] for end, junction in at.items()}
    return Shared(
        parts=tuple(fields.values()),
        ends=tuple(tuple((own, at[f"{part}.{own}"]) for own in x.variables) for part, x in fields.items()),
        drives=tuple(tuple(x.inputs) for x in fields.values()),
        ports=Interface(drives, {junction: found[junction] for junction in junctions}),
        name=name,
    )


def begins(field: Field, state: Values) -> Values:
    """Values for the variables of a field, of their types.

    **Raises:** `PortMismatch` where they are of other variables.
    """
    if set(state) != set(field.variables):
        raise PortMismatch(
            f"the state has {short(sorted(state))}, and `{field.name}` has {short(sorted(field.variables))}."
        )
    given = {key: arrays(state[key], f"the value of `{key}`") for key in field.variables}
    return {
        key: jax.tree.map(lambda x, s: x.astype(s.dtype), given[key], p.struct) for key, p in field.variables.items()
    }


@final
class Clocked(eqx.Module):
    """A field that goes one step of time with each tick; its inputs are held for the step."""

    field: Field
    step: float = eqx.field(static=True)
    method: str = eqx.field(static=True)

    def __call__(self, state: Values, /) -> MooreF[Any, Any, Any]:
        return MooreF(state, lambda inputs: self._after(state, inputs))

    def _after(self, s: Values, inputs: Any) -> Values:
        def rate(at: Values) -> Values:
            return self.field.rate(at, inputs if self.field.inputs else {})

        def moved(by: float, k: Values) -> Values:
            return jax.tree.map(lambda x, v: x + by * self.step * v, s, k)

        first = rate(s)
        if self.method == "euler":
            return moved(1.0, first)
        second = rate(moved(0.5, first))
        if self.method == "midpoint":
            return moved(1.0, second)
        third = rate(moved(0.5, second))
        fourth = rate(moved(1.0, third))
        return moved(1 / 6, jax.tree.map(lambda a, b, c, d: a + 2 * b + 2 * c + d, first, second, third, fourth))


@with_usage
def discretise(field: Field, state: Values, *, step: float, method: Literal["rk4", "midpoint", "euler"] = "rk4") -> Box:
    """A field as a system: each tick is a step of time, and the outputs are its variables.

    Without inputs it is run on ticks: `run(system, system.state, jnp.arange(n))` has `n + 1` values of each variable.

    **Arguments:** `state`: a value for each variable. `step`: how long a tick is, in the unit of time of the rates.
    `method`: of order 4, 2 or 1.

    **Raises:** `CdlError` for a step that is not positive; `CarrierMismatch` where the state is not one of the field.
    """
    if isinstance(step, bool) or not step > 0:
        raise CdlError(f"`step` of `discretise` is {step}: how long a tick is must be positive.")
    clocked = Clocked(field, float(step), method)
    return box(clocked, begins(field, state), inputs=field.inputs, outputs=field.variables, name=field.name)
