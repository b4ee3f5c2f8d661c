"""Parametrised optics: networks that learn, as values that compose.

| the mathematics                                              | here                                              |
| ------------------------------------------------------------ | ------------------------------------------------- |
| a 1-cell of `Para(Optic)`, `(P, P') ⊗ (X, X') → (Y, Y')`     | `ParaOptic(params, optic)`, with a point of `P`   |
| `Para(R) : Para(Smooth) → Para(Optic)`, backpropagation      | `ParaOptic.of(para)`, or of any module            |
| the composite, with parameters `P × Q`                       | `f >> g`                                          |
| the tensor, with parameters `P × Q`                          | `f @ g`                                           |
| a 2-cell, an optic from `(Q, Q')` to `(P, P')`               | what `reparametrise` is given: an optimiser is one |
| the lift of `(-)ⁿ`                                           | `f.batched(n)`                                    |
| `P ⊗ X ≅ X ⊗ P`                                              | `f.exchange(x)`: parameters for input             |

There are two ports of parameters: what comes in, and the change that goes out. Composed as here, each layer runs once
forward and once back. Where the type of the input is known (`source`), every composite is checked when it is built.
"""

from collections.abc import Callable
from typing import Any, cast, final, Generic

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from .. import _terms as t
from .._functors.expected import expect_fields
from .._functors.usage import whole, with_types
from .._para import Para
from .._schemes.algebras import wants_key
from ..errors import PortMismatch
from .letters import DP, DQ, DV, DW, DX, DY, DZ, P, Q, V, W, X, Y, Z
from .optic import Named, Optic, unnamed
from .parametric import Along, Beside, keyed, Layer, over_batch, Sequence
from .types import like, rows, show, value_type


@final
class ParaOptic(eqx.Module, Generic[P, X, Y, DP, DX, DY]):
    """An optic out of `P × X`, with a point of `P`. Called, it is its forward map at that point.

    Examples:
        >>> layer = cdl.ParaOptic.of(cdl.Para(jnp.array(2.0), lambda p, x: p * x))
        >>> network = layer >> layer
        >>> float(network(5.0))
        20.0
        >>> slopes, at_input = network.optic.put(((2.0, 3.0), 5.0), 1.0)
        >>> [float(slope) for slope in slopes], float(at_input)
        ([15.0, 10.0], 6.0)
    """

    params: P
    optic: Optic[tuple[P, X], Y, tuple[DP, DX], DY]
    source: Any = eqx.field(static=True, default=None)
    target: Any = eqx.field(static=True, default=None)
    row: Any = eqx.field(static=True, default=None)  # the types of a row's input and value, of any number of rows

    def __check_init__(self) -> None:
        expect_fields(self)

    @staticmethod
    @with_types
    def of(
        f: Para[Q, V, W] | Callable[[V], W], *, source: Any = None, inputs: bool = True, name: str | None = None
    ) -> "ParaOptic[Any, V, W]":
        """A parametric map, or a module, with its reverse derivative.

        **Arguments:** `source`: an input, or the type of one, where composites are to be checked. `inputs`: false
        where inputs are data, which nobody wants the change of. `name`: for pictures and messages. What takes `key=`,
        as dropout does, gets one from a learner's `step`.
        """
        para = f if isinstance(f, Para) else Para.of(f)
        named = str(name or getattr(para.fn, "name", None) or getattr(f, "__name__", type(f).__name__))
        fn: Any = para.fn
        if not isinstance(f, Para) and wants_key(f):
            fn = _Keyed(fn.rest)
        layer = Layer(fn, named, t.numbers(para.params), inputs, wants_key(fn))
        return _typed(para.params, layer, like(source))

    @staticmethod
    def identity() -> "ParaOptic[tuple[()], V, V, tuple[()], DV, DV]":
        """`X → X`, with no parameters."""
        return ParaOptic((), Optic.iso(_given, _given_back, wires=((), "x")))

    def __call__(self, x: X, *, key: PRNGKeyArray | None = None) -> Y:
        return (self.optic if key is None else keyed(self.optic, key)).get((self.params, x))

    def __term__(self) -> t.Term:
        return t.parametrised(self.optic.__term__())

    def at(self, params: P) -> "ParaOptic[P, X, Y, DP, DX, DY]":
        """The same at another point."""
        return ParaOptic(params, self.optic, self.source, self.target, self.row)

    @with_types
    def named(self, name: str) -> "ParaOptic[P, X, Y, DP, DX, DY]":
        """The same, with a name by which pictures and messages call it: a layer, or all that it is composed of."""
        return ParaOptic(self.params, self.optic.named(name), self.source, self.target, self.row)

    @with_types
    def __rshift__(
        self, other: "ParaOptic[Q, Y, Z, DQ, DY, DZ]"
    ) -> "ParaOptic[tuple[P, Q], X, Z, tuple[DP, DQ], DX, DZ]":
        target, row = None, None
        if self.target is not None:
            target = _target_of(self, other)
        elif self.row is not None and other.row is not None:
            _expect_same(self, other, self.row[1], other.row[0], ", row by row")
            row = self.row[0], other.row[1]
        return ParaOptic((self.params, other.params), Sequence(self.optic, other.optic), self.source, target, row)

    @with_types
    def __matmul__(
        self, other: "ParaOptic[Q, V, W, DQ, DV, DW]"
    ) -> "ParaOptic[tuple[P, Q], tuple[X, V], tuple[Y, W], tuple[DP, DQ], tuple[DX, DV], tuple[DY, DW]]":
        both, optic = (self.params, other.params), Beside(self.optic, other.optic)
        if self.source is None or other.source is None:
            return ParaOptic(both, optic)
        return ParaOptic(both, optic, (self.source, other.source), (self.target, other.target))

    @with_types
    def reparametrise(self, cell: Optic[Q, P, DQ, DP], at: Q) -> "ParaOptic[Q, X, Y, DQ, DX, DY]":
        """Along an optic from `Q` to `P`, at a point of `Q`: the parameters that it gets, the changes that it puts."""
        return ParaOptic(at, Along(cell, self.optic), self.source, self.target, self.row)

    def exchange(self, x: X) -> "ParaOptic[X, P, Y, DX, DP, DY]":
        """With the ports exchanged: the input, at `x`, is the parameter, and the parameters are the input."""
        exchanged: Optic[tuple[X, P], tuple[P, X], tuple[DX, DP], tuple[DP, DX]] = Optic.swap()
        return ParaOptic(x, exchanged >> self.optic)

    @with_types
    def batched(self, size: int | None = None, /) -> "ParaOptic[P, X, Y, DP, DX, DY]":
        """Over an axis in front, every row with the same parameters, whose changes are added.

        **Arguments:** `size`: the length of the axis, where composites are to be checked. It is compared with what
        comes before and after, and not with the data: those of another length run as they are.
        """
        if size is not None:
            whole("size", size, least=0)
        optic = over_batch(self.optic)
        if self.source is None:
            return ParaOptic(self.params, optic)
        if size is None:
            return ParaOptic(self.params, optic, row=(self.source, self.target))
        return _typed(self.params, optic, rows(size, self.source))

    @property
    def path(self) -> "tuple[ParaOptic[Any, Any, Any], ...]":
        """The layers that it is composed of, in reading order."""
        optic, params = unnamed(self.optic), cast("Any", self.params)
        if not isinstance(optic, Sequence):
            return (self,)
        first = _typed(params[0], optic.first, self.source)
        return (*first.path, *_typed(params[1], optic.second, first.target).path)

    @property
    def name(self) -> str:
        """What it is called; of a composite without a name, its layers' names."""
        optic = self.optic
        if isinstance(optic, Sequence):
            return " >> ".join(layer.name for layer in self.path)
        return optic.name if isinstance(optic, Layer | Named) else type(optic).__name__.strip("_").lower()

    @property
    def param_types(self) -> tuple[str, ...]:
        """The types of the parameters, layer by layer: `<4,2>` for a matrix, `<0>` for none."""
        return tuple(_param_type(layer.params) for layer in self.path)


@final
class _Keyed(eqx.Module):
    """A module that takes a key, without its arrays, which come as parameters."""

    rest: Any

    def __call__(self, params: Any, x: Any, key: PRNGKeyArray | None = None) -> Any:
        module = eqx.combine(params, self.rest)
        return module(x) if key is None else module(x, key=key)


def _given(pair: tuple[tuple[()], V]) -> V:
    return pair[1]


def _given_back(change: DV) -> tuple[tuple[()], DV]:
    return (), change


def _param_type(params: Any) -> str:
    shapes = [f"<{','.join(map(str, x.shape)) or 1}>" for x in jax.tree.leaves(params)]
    return " × ".join(shapes) or "<0>"


def _typed(params: Any, optic: Any, source: Any) -> ParaOptic[Any, Any, Any, Any, Any, Any]:
    """With the type of its value, where that of its input is known."""
    para: ParaOptic[Any, Any, Any, Any, Any, Any] = ParaOptic(params, optic)
    return para if source is None else ParaOptic(params, optic, source, value_type(para, source))


def _target_of(first: Any, second: Any) -> Any:
    """The type of the value of two, one after the other."""
    comes, takes = first.target, second.source
    if takes is not None:
        _expect_same(first, second, comes, takes)
    return value_type(second, comes)


def _expect_same(first: Any, second: Any, comes: Any, takes: Any, where: str = "") -> None:
    if comes != takes:
        raise PortMismatch(
            f"`{second.name}` cannot follow `{first.name}`: what comes is {show(comes)}, and what it takes is "
            f"{show(takes)}{where}. Put a layer from the one to the other between them, or change one of the two."
        )
