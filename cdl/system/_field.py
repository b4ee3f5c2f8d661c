"""Vector fields with named variables.

| the mathematics                     | here                                          |
| ----------------------------------- | --------------------------------------------- |
| a vector field on `ℝ^variables`     | `field(rate, variables)`: `ds/dt = rate(s)`   |
| one that is driven                  | `inputs`: `ds/dt = rate(s, i)`                |
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, final

import equinox as eqx

from .._drawing.diagram import Diagram
from .._engine.arrays._given import arrays
from .._engine.arrays.shapes import shown
from .._engine.calls._traced import noted
from .._functors.usage import takes, with_usage
from .._functors.words import short
from .._terms import name as called
from ..errors import CdlError, PortMismatch
from ._asked import no_port
from ._drawing.picture_of_fields import Fields, fields_diagram
from ._exact import exact
from ._interface import expect_join, expect_title, Interface, Port


Values = dict[str, Any]


class Field(eqx.Module):
    """A vector field with named variables, and inputs that it is driven by. Extend it, or use `field`.

    Examples:
        >>> decay = cdl.system.field(lambda s: {"n": -s["n"]}, {"n": float})
        >>> isinstance(decay, cdl.system.Field)
        True
    """

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
        """How fast each variable changes.

        **Arguments:** `values`: the variables, by name. `inputs`: the field's inputs, by name.
        """

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
        values, inputs = exact(values), exact(inputs)
        found = self.fn(values, inputs) if self.inputs else self.fn(values)
        return exact(arrays(found, "a rate"))


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

    **Raises:** `PortMismatch` where `rate` looks up an unknown name, gives other variables, or other shapes;
    `CdlError` where it does not take these arguments.

    Examples:
        >>> decay = cdl.system.field(lambda s: {"n": -s["n"]}, {"n": float})
        >>> times = jnp.array([0.0, 1.0])
        >>> cdl.system.solve(decay, {"n": 8.0}, times)["n"].round(1)
        Array([8. , 2.9], dtype=float32)
    """
    title = expect_title("field", name or called(rate, "field"))
    return expect_rates(Given(fn=rate, ports=Interface(inputs or {}, variables), name=title))


def expect_rates(field: Field) -> Field:
    """**Raises:** `PortMismatch` where a field gives rates of other variables, or of other types, than it has."""
    if not isinstance(field.ports, Interface):
        raise CdlError(f"the `ports` of `{field.name}` are {short(field.ports)}: give an `Interface`.")
    wanted = {key: port.struct for key, port in field.variables.items()}
    driven = {key: port.struct for key, port in field.inputs.items()}
    alone = isinstance(field, Given) and not driven
    if not takes(field.fn if isinstance(field, Given) else field.rate, *[{}] * (1 if alone else 2)):
        takers = "the values of its variables, or name its inputs in `inputs`" if alone else "the values and the inputs"
        raise CdlError(f"the rate of `{field.name}` does not take its arguments: write a function of {takers}.")
    given = lambda: f"values of {shown(wanted)}"
    try:
        with noted(field.name, given, "give its variables the shapes that it takes"):
            found = eqx.filter_eval_shape(field.rate, wanted, driven)
    except KeyError as error:
        if (name := no_port(field.rate, wanted, driven)) is None:
            raise
        raise PortMismatch(
            f"the rate of `{field.name}` looks up {name}, and there are {short([*wanted, *driven])}: give it a "
            "variable or an input of that name, or mend the look-up."
        ) from error
    if not isinstance(found, Mapping) or set(found) != set(wanted):
        other = short(sorted(found, key=str)) if isinstance(found, Mapping) else shown(found)
        raise PortMismatch(
            f"`{field.name}` gives the rates {other}, and its variables are {short(sorted(wanted))}: give a dictionary "
            "with a rate for each."
        )
    for key, port in field.variables.items():
        expect_join(f"the rate of {key}", Port.of(found[key], port.unit), key, port)
    return field
