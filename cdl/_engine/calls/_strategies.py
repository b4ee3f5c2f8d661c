"""How a fold is computed, as values: one for trees, one for lists, one for monoids.

| the data                      | its strategy   |
| ----------------------------- | -------------- |
| a `Forest`                    | `Levels`       |
| a `Seq` or a `Packed`         | `Scan`         |
| the same, read by a `Monoid`  | `Bracketing`   |

A strategy changes time and memory. Results agree up to rounding.
"""

from dataclasses import dataclass
from typing import Literal, TypeVar

from typing_extensions import dataclass_transform

from ..._functors.usage import whole, with_usage
from ..._functors.words import short
from ...errors import CdlError


Remat = Literal["cheap", "all"]
Segment = int | Literal["sqrt"] | None
Way = Literal["scan", "associative", "halving", "chunked"]


S = TypeVar("S")


@dataclass_transform(frozen_default=True)
def _strategy(cls: type[S]) -> type[S]:
    """A frozen dataclass of options; one that is misspelt is answered with those that there are."""
    made = dataclass(frozen=True)(cls)
    setattr(made, "__init__", with_usage(made.__init__))  # noqa: B010
    return made


@_strategy
class Levels:
    """Trees, level by level: what `fold` does with a `Forest`.

    **Arguments:** `remat`: what the reverse pass computes again and does not keep in memory. `"cheap"` keeps matrix
    products and computes the rest again; `"all"` computes all of it again. `forward`: leaves out the reverse rule, so
    forward mode (`jvp`) works, and reverse mode does not.

    **Raises:** `CdlError` for any other `remat`.

    Examples:
        >>> total = cdl.algebra(lambda t: t.label if isinstance(t, cdl.Leaf) else t.left + t.right)
        >>> forest = cdl.pack(cdl.TreeF, [cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(3.0))])
        >>> cdl.fold(total, forest, how=cdl.compiled.Levels(remat="all")).tolist()
        [5.0]
    """

    remat: Remat = "cheap"
    forward: bool = False


@_strategy
class Scan:
    """Lists, step by step: what `fold` does with a `Seq` or a `Packed`.

    **Arguments:** `segment`: the reverse pass computes states again, segment by segment, to save memory. It is the
    number of steps of a segment, or `"sqrt"` for the square root of all steps. `unroll`: how many steps one turn of the
    loop has. `bulk`: whether the weights' gradient is a few products over many steps, by a reverse rule. `forward`:
    leaves that rule out, so forward mode (`jvp`) works. An option that is `None` is chosen for the device.

    **Raises:** `CdlError` for a number of steps that is not a whole number of at least 1, and where both `bulk` and
    `forward` are true.

    Examples:
        >>> @cdl.algebra
        ... def total(layer: cdl.ListF[float, float]):
        ...     return layer.head + layer.tail if isinstance(layer, cdl.Cons) else 0.0
        >>> lists = cdl.Seq.of([jnp.array([1.0, 2.0, 3.0]), jnp.array([4.0])])
        >>> cdl.fold(total, lists, how=cdl.compiled.Scan(unroll=2)).tolist()
        [6.0, 4.0]
    """

    segment: Segment = None
    unroll: int = 1
    bulk: bool | None = None
    forward: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.segment, str) and self.segment != "sqrt":
            raise CdlError(
                f'`segment` is {short(self.segment)}: give the number of steps of a segment, `"sqrt"`, or `None`.'
            )
        if self.segment is not None and self.segment != "sqrt":
            object.__setattr__(self, "segment", whole("segment", self.segment))
        object.__setattr__(self, "unroll", whole("unroll", self.unroll))
        if self.forward and self.bulk:
            raise CdlError(
                "`bulk` is a rule of the reverse pass, and `forward` leaves such rules out: ask for one of them."
            )


@_strategy
class Bracketing:
    """The brackets of a product of many elements: what `fold` does with a `Monoid`.

    The value is the same in each way, and the gradient too where it is unique. At a tie of a `max` or `min` it is not:
    `jnp.maximum` gives half of it to each side, so that of four equal elements the last has a half from `"scan"`, and
    each has a quarter from `"halving"`. Give a `way` where the same gradient is needed on every device.

    **Arguments:** `way`: `"scan"` multiplies one element after another. `"associative"` computes all prefixes by
    halves. `"halving"` computes the product of all by halves, and no prefixes. `"chunked"` goes piece by piece.

    **Raises:** `CdlError` for any other way.

    Examples:
        >>> steps = cdl.Seq((jnp.full((1, 3), 2.0), jnp.ones((1, 3))), [3])
        >>> slope, offset = cdl.fold(
        ...     cdl.monoids.linear_recurrence(), steps, how=cdl.compiled.Bracketing("halving")
        ... )
        >>> slope.tolist(), offset.tolist()
        ([8.0], [7.0])
    """

    way: Way


Strategy = Levels | Scan | Bracketing
