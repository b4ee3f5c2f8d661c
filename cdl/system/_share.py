"""Vector fields that share variables: as one field, the sum of them.

| the mathematics                                     | here                                                |
| --------------------------------------------------- | --------------------------------------------------- |
| an undirected diagram: each variable to a junction  | `share(fields, junctions)`                          |
| `v(s) = Σₖ mₖ_* vₖ(mₖ^* s)`                         | each part reads its junctions, and rates are added  |

Source: J. Libkind, A. Baas, E. Patterson, J. Fairbanks, *Operadic modeling of dynamical systems*, 2021.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import final

import equinox as eqx
import jax

from .._functors.usage import with_usage
from .._functors.words import short
from ..errors import PortMismatch
from ._drawing.picture_of_fields import Fields
from ._field import expect_rates, Field, Values
from ._interface import expect_join, expect_name, expect_title, Interface, Port
from ._ties import tie


@dataclass(frozen=True)
class Use:
    """A field in its place: what it is called, the junction of each of its variables, its inputs, and its number among
    all fields, or what it is made of, where it shares variables itself."""

    name: str
    ends: tuple[tuple[str, str], ...]
    drives: tuple[str, ...]
    of: "int | tuple[Use, ...]"


@final
class Shared(Field):
    """Fields that share variables. Made by `share`. `fields` has each once, those inside of fields that share variables
    too; `uses` says where each is used."""

    fields: tuple[Field, ...]
    uses: tuple[Use, ...] = eqx.field(static=True)
    ports: Interface = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def rate(self, values: Values, inputs: Values) -> Values:
        total = self._rate(self.uses, values, inputs)
        return {at: total[at] for at in self.variables}

    def _rate(self, uses: tuple[Use, ...], values: Values, inputs: Values) -> Values:
        total: Values = {}
        for use in uses:
            here, driven = {own: values[at] for own, at in use.ends}, {port: inputs[port] for port in use.drives}
            found = (
                self.fields[use.of].rate(here, driven) if isinstance(use.of, int) else self._rate(use.of, here, driven)
            )
            for own, at in use.ends:
                total[at] = found[own] if at not in total else jax.tree.map(lambda a, b: a + b, total[at], found[own])
        return total

    def drawn(self) -> Fields:
        return self._drawn(self.name, self.inputs, self.variables, self.uses)

    def _drawn(
        self, name: str, inputs: Mapping[str, Port], variables: Mapping[str, Port], of: int | tuple[Use, ...]
    ) -> Fields:
        if isinstance(of, int):
            return replace(self.fields[of].drawn(), name=name)
        parts = [
            self._drawn(
                use.name, {x: inputs[x] for x in use.drives}, {own: variables[at] for own, at in use.ends}, use.of
            )
            for use in of
        ]
        return Fields(name, inputs, variables, parts, [dict(use.ends) for use in of])


@with_usage
def share(fields: Mapping[str, Field], junctions: Mapping[str, Iterable[str]], *, name: str = "shared") -> Shared:
    """Joins fields that share variables to one field. The variables of a junction become one variable, and its rate is
    the sum of theirs.

    If you give one field twice, here or inside of fields that share variables, it has its parameters once, and their
    gradients add up. As with `wire`, both have to be one Python object when you share them.

    ```python
    share(
        {"birth": birth, "hunt": hunt},
        {"rabbits": ["birth.n", "hunt.prey"], "foxes": ["hunt.predator"]},
    )
    ```

    **Arguments:** `fields`: by name. Their inputs are those of the whole, and one that two have is one.
    `junctions`: for each variable of the whole, the variables that are tied to be it, as `"field.variable"`.

    **Raises:** `PortMismatch` for an unknown variable, for one in no junction or in two, for one of another shape or
    unit than those that it is joined with, and for a field that gives other rates than it has variables; `CdlError` for
    the name of a field with a dot.

    Examples:
        >>> grow = cdl.system.field(lambda s: {"n": s["n"]}, {"n": float})
        >>> both = cdl.system.share({"a": grow, "b": grow}, {"n": ["a.n", "b.n"]})  # n' = n + n
        >>> end = cdl.system.solve(both, {"n": 1.0}, jnp.array([0.0, 1.0]))["n"][-1]
        >>> bool(jnp.allclose(end, jnp.exp(2.0), rtol=1e-3))
        True
    """
    for key, x in fields.items():
        expect_name("field", key)
        expect_rates(x)
    every = {f"{part}.{own}": port for part, x in fields.items() for own, port in x.variables.items()}
    at: dict[str, str] = {}
    for junction, ends in junctions.items():
        first: str | None = None
        each_end = [] if isinstance(ends, str) else list(ends)
        if not each_end:
            raise PortMismatch(f"the junction `{junction}` joins {ends!r}: give a list of variables, one at least.")
        for end in each_end:
            if not isinstance(end, str):
                raise PortMismatch(f'the junction `{junction}` joins {short(end)}: give texts, as `"field.variable"`.')
            if end not in every:
                raise PortMismatch(
                    f"`{end}` is not a variable of a field: they are {', '.join(f'`{x}`' for x in every)}."
                )
            if end in at:
                raise PortMismatch(f"`{end}` is in two junctions, `{at[end]}` and `{junction}`: make them one.")
            at[end], first = junction, first or end
            expect_join(first, every[first], end, every[end])
    if lost := [end for end in every if end not in at]:
        raise PortMismatch(f"`{lost[0]}` is in no junction: name it in one, alone if nothing shares it.")
    drives: dict[str, Port] = {}
    for x in fields.values():
        for port, kind in x.inputs.items():
            expect_join(port, drives.setdefault(port, kind), f"{port} of {x.name}", kind)
    found = {junction: every[end] for end, junction in at.items()}
    each = {tie(one): one for x in fields.values() for one in (x.fields if isinstance(x, Shared) else (x,))}
    number = {one: k for k, one in enumerate(each)}

    def of(x: Field) -> int | tuple[Use, ...]:
        return _renumbered(x.uses, [number[tie(one)] for one in x.fields]) if isinstance(x, Shared) else number[tie(x)]

    uses = [
        Use(
            name=key if key == x.name else f"{key}: {x.name}",
            ends=tuple((own, at[f"{key}.{own}"]) for own in x.variables),
            drives=tuple(x.inputs),
            of=of(x),
        )
        for key, x in fields.items()
    ]
    ports = Interface(drives, {junction: found[junction] for junction in junctions})
    return Shared(fields=tuple(each.values()), uses=tuple(uses), ports=ports, name=expect_title("share", name))


def _renumbered(uses: tuple[Use, ...], numbers: list[int]) -> tuple[Use, ...]:
    """The same uses, of fields that have other numbers."""
    return tuple(
        replace(use, of=numbers[use.of] if isinstance(use.of, int) else _renumbered(use.of, numbers)) for use in uses
    )
