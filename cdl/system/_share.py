"""Vector fields that share variables: as one field, the sum of them.

| the mathematics                                     | here                                                |
| --------------------------------------------------- | --------------------------------------------------- |
| an undirected diagram: each variable to a junction  | `share(fields, junctions)`                          |
| `v(s) = Σₖ mₖ_* vₖ(mₖ^* s)`                         | each part reads its junctions, and rates are added  |

Source: J. Libkind, A. Baas, E. Patterson, J. Fairbanks, *Operadic modeling of dynamical systems*, 2021.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import final

import equinox as eqx
import jax

from .._functors.usage import with_usage
from .._functors.words import short
from ..errors import PortMismatch
from ._field import expect_rates, Field, Values
from ._interface import expect_join, expect_name, expect_title, Interface, Port
from ._picture_of_fields import Fields


@final
class Shared(Field):
    """Fields that share variables. Made by `share`. `parts` are the fields, `keys` what they are called; `ends` has for
    each the junction of each of its variables."""

    parts: tuple[Field, ...]
    keys: tuple[str, ...] = eqx.field(static=True)
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
        called = [
            key if key == part.name else f"{key}: {part.name}" for key, part in zip(self.keys, self.parts, strict=True)
        ]
        parts = [replace(part.drawn(), name=name) for name, part in zip(called, self.parts, strict=True)]
        return Fields(self.name, self.inputs, self.variables, parts, [dict(ends) for ends in self.ends])


@with_usage
def share(fields: Mapping[str, Field], junctions: Mapping[str, Iterable[str]], *, name: str = "shared") -> Shared:
    """Fields that share variables, as one: the variables of a junction are one, and its rate is the sum of theirs.

    A field that is given twice is two fields that begin with the same parameters: training parts them, where `wire`
    would tie a box that is given twice.

    ```python
    share({"birth": birth, "hunt": hunt}, {"rabbits": ["birth.n", "hunt.prey"], "foxes": ["hunt.predator"]})
    ```

    **Arguments:** `fields`: by name. Their inputs are those of the whole, and one that two have is one.
    `junctions`: for each variable of the whole those that it is, as `"field.variable"`.

    **Raises:** `PortMismatch` for an unknown variable, for one in no junction or in two, for one of another shape or
    unit than those that it is joined with, and for a field that gives other rates than it has variables; `CdlError` for
    the name of a field with a dot.
    """
    for key, x in fields.items():
        expect_name("field", key)
        expect_rates(x)
    every = {f"{part}.{own}": port for part, x in fields.items() for own, port in x.variables.items()}
    at: dict[str, str] = {}
    for junction, ends in junctions.items():
        first: str | None = None
        if isinstance(ends, str) or not ends:
            raise PortMismatch(f"the junction `{junction}` joins {ends!r}: give a list of variables, one at least.")
        for end in ends:
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
        for port, of in x.inputs.items():
            expect_join(port, drives.setdefault(port, of), f"{port} of {x.name}", of)
    found = {junction: every[end] for end, junction in at.items()}
    return Shared(
        parts=tuple(fields.values()),
        keys=tuple(fields),
        ends=tuple(tuple((own, at[f"{part}.{own}"]) for own in x.variables) for part, x in fields.items()),
        drives=tuple(tuple(x.inputs) for x in fields.values()),
        ports=Interface(drives, {junction: found[junction] for junction in junctions}),
        name=expect_title("share", name),
    )
