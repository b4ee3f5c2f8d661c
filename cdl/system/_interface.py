"""Interfaces: what goes into a box and what comes out of it, by name.

| the mathematics                          | here                                                          |
| ---------------------------------------- | ------------------------------------------------------------- |
| a type                                   | `Port`: the shapes and types of a pytree of arrays, and a unit |
| the interface `A y^B` of a box           | `Interface(inputs, outputs)`: `B` and `A`, a product each      |

Source: D. Vagner, D. Spivak, E. Lerman, *Algebras of open dynamical systems on the operad of wiring diagrams*, 2015.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._engine.arrays.shapes import shown
from .._functors.usage import with_types
from .._functors.words import short
from ..errors import CdlError, PortMismatch


@dataclass(frozen=True, repr=False)
class Port:
    """The type of a port: `struct`, a pytree of `jax.ShapeDtypeStruct`, and a `unit`, if one is given.

    Its type is settled when it is built. A port of `float` that is built before `jax_enable_x64` is switched on has 32
    bits, and refuses 64 bits afterwards too.

    Examples:
        >>> gate = cdl.system.Interface(inputs={"a": bool, "b": bool}, outputs={"out": bool})
        >>> gate.inputs["a"] == cdl.system.Port.of(bool)
        True
    """

    struct: Any
    unit: str | None = None

    @staticmethod
    def of(spec: Any, unit: str | None = None) -> "Port":
        """A port of what `spec` stands for.

        **Arguments:** `spec`: `bool`, `int` or `float` for one number of JAX's type for it, a type such as
        `jnp.bfloat16`, an array or a `jax.ShapeDtypeStruct` for all of its shape and type, a pytree of these, or a
        `Port`. `unit`: such as `"m/s"`; ports that are joined must agree.

        **Raises:** `CdlError` for what stands for no arrays, for a unit that is not a text, and for a `Port` in
        another unit.
        """
        if unit is not None and not isinstance(unit, str):
            raise CdlError(f'the unit of a port is {short(unit)}: give a text, such as `"m/s"`.')
        if isinstance(spec, Port):
            if unit not in (None, spec.unit) and spec.unit is not None:
                raise PortMismatch(f"a port in {spec.unit} was given the unit {unit}: give both one unit.")
            return Port(spec.struct, unit or spec.unit)
        try:
            struct = jax.tree.map(_struct, spec)
            if not jax.tree.leaves(struct):
                raise TypeError("nothing flows through it")
        except TypeError:
            raise CdlError(
                f"a port of {short(spec)}: give `bool`, `int`, `float`, a type of numbers, a `jax.ShapeDtypeStruct`, "
                "or a pytree of these."
            ) from None
        return Port(struct, unit)

    def kind(self) -> tuple[Any, ...]:
        """The structure and the types of arrays, in order: an `OrderedDict` equals a `dict` in another one."""
        leaves, structure = jax.tree.flatten(self.struct)
        return structure, *leaves

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Port) and (self.kind(), self.unit) == (other.kind(), other.unit)

    def __hash__(self) -> int:
        return hash((self.kind(), self.unit))

    def __str__(self) -> str:
        return shown(self.struct) + (f" in {self.unit}" if self.unit else "")

    def __repr__(self) -> str:
        return f"Port({self})"


@dataclass(frozen=True, repr=False)
class Interface:
    """The ports of a box. A polynomial `A y^B`: a position has a value for each output, and a direction has one for
    each input.

    **Arguments:** `inputs`, `outputs`: for each name what `Port.of` takes.

    Examples:
        >>> gate = cdl.system.Interface(inputs={"a": bool, "b": bool}, outputs={"out": bool})
        >>> sorted(gate.inputs), sorted(gate.outputs)
        (['a', 'b'], ['out'])
    """

    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]

    @with_types
    def __init__(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        for side, given in (("inputs", inputs), ("outputs", outputs)):
            ports = {expect_name("port", name): Port.of(spec) for name, spec in given.items()}
            object.__setattr__(self, side, ports)

    def __hash__(self) -> int:
        return hash((frozenset(self.inputs.items()), frozenset(self.outputs.items())))

    def __str__(self) -> str:
        sides = [", ".join(f"{name}: {port}" for name, port in side.items()) for side in (self.inputs, self.outputs)]
        return f"({sides[0]}) → ({sides[1]})"

    def __repr__(self) -> str:
        return f"Interface{self}"


def expect_name(of: str, name: Any) -> str:
    """The name of a port or a box. **Raises:** `CdlError` for one that could not be told from a path."""
    if not isinstance(name, str) or not name or "." in name:
        raise CdlError(f"{short(name)} cannot name a {of}: give a text without a dot, as a dot is between names.")
    return name


def expect_title(of: str, name: Any) -> str:
    """What a picture calls what is made. **Raises:** `CdlError` for what is not a text."""
    if not isinstance(name, str):
        raise CdlError(f"`name` of `{of}` is {short(name)}, and must be `str`.")
    return name


def expect_join(source: str, given: Port, target: str, wanted: Port) -> None:
    """**Raises:** `PortMismatch` where one port cannot drive another."""
    if given.kind() != wanted.kind():
        raise PortMismatch(
            f"`{source}` gives {shown(given.struct)} and `{target}` takes {shown(wanted.struct)}: join ports of one "
            "type, or convert one of them where it is made, or by a box on the wire."
        )
    if given.unit != wanted.unit:
        raise PortMismatch(
            f"`{source}` is in {given.unit or 'no unit'} and `{target}` in {wanted.unit or 'no unit'}: give both one "
            "unit: convert one of them where it is made, or by a box on the wire."
        )


def _struct(spec: Any) -> jax.ShapeDtypeStruct:
    if isinstance(spec, type) and issubclass(spec, np.generic):
        spec = np.dtype(spec)
    if any(spec is kind for kind in (bool, int, float, complex)):
        return jax.ShapeDtypeStruct((), jnp.asarray(spec()).dtype)
    shape, dtype = (tuple(spec.shape), spec.dtype) if hasattr(spec, "shape") and hasattr(spec, "dtype") else ((), spec)
    dtype = dtype if jnp.issubdtype(dtype, jax.dtypes.extended) else jax.dtypes.canonicalize_dtype(dtype)
    numbers = any(jnp.issubdtype(dtype, kind) for kind in (jnp.number, jnp.bool_, jax.dtypes.extended))
    if not numbers or jnp.issubdtype(dtype, np.timedelta64):  # NumPy counts a length of time among the whole numbers
        raise TypeError("not a type of numbers")
    return jax.ShapeDtypeStruct(shape, dtype)
