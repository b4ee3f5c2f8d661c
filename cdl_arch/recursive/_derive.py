"""The network of a signature, derived: which cells there are, and how payloads enter them.

| in the functor                     | in the network                                                        |
| ---------------------------------- | --------------------------------------------------------------------- |
| a constructor                      | a cell, in a stack; or one shared with those of its arity             |
| a constructor with nothing in it   | a state that is learnt                                                |
| a payload                          | a linear map of its numbers, or a map that is given: `_payload`       |
"""

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast, Generic, TypeVar

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import PRNGKeyArray

from cdl import Base
from cdl.checks import an, expect_key, number_of, short, whole, with_usage
from cdl.errors import SignatureError
from cdl.functors import constructors

from ._layer import Arity, arity_of
from ._mask import expect_probability
from ._named import named
from ._net import Cell, Input, Learned, TreeNet
from ._payload import expect_payloads, Flat, payload_map, Payloads
from ._shared import held_once


S = TypeVar("S")


HELP = """
**Arguments:** `signature`: of one sort. `width`: the size of a state's vectors. `embed`: that of the vector for what is
at a node, by default `width`. `payload`: for each constructor, a function of its fields that are not children, to a
vector of shape `(embed,)`, or how many numbers these fields have. `shared`: whether constructors share cells.
`dropout`: the probability that a number of a child's vector is dropped, where `fold` is given a key. `dtype`, `key`: of
the weights.

**Returns:** a `TreeNet`, an algebra. `fold(net, forest)` gives vectors of shape `(trees, width)`.

**Raises:** `SignatureError` for several signatures, and for a `payload` that does not fit its constructor.

`help(cdl_arch.recursive.Architecture.__call__)` says more of each.

Examples:
    >>> from cdl_arch.recursive import {name}
    >>> net = {name}(cdl.TreeF, 4, payload={{cdl.Leaf: 1}}, key=jax.random.key(0))
    >>> forest = cdl.pack(cdl.TreeF, [cdl.Fork(cdl.Leaf(0.5), cdl.Leaf(1.0))])
    >>> [x.shape for x in jax.tree.leaves(cdl.fold(net, forest))][0]
    (1, 4)
"""


def vector(width: int, dtype: Any) -> Any:
    """The shape of a vector, for a carrier."""
    return jax.eval_shape(lambda: jnp.zeros(width, dtype))


Made = TypeVar("Made", bound=Callable[..., Any])


def _by_name(make: Made) -> Made:
    """The call of an architecture. A wrong one is told with its name, as `gated(…)`."""

    @functools.wraps(make)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        made: Any = functools.partial(make, self)
        made.__name__ = made.__qualname__ = self.name
        return with_usage(made)(*args, **options)

    return cast("Made", call)


@dataclass(frozen=True, repr=False)
class Architecture(Generic[S]):
    """A kind of tree network: given a signature, its cells.

    `cell(arity, embed, width, dtype=, key=)` is a new cell, where `embed` is the size of what is at a node, 0 for
    nothing. `carrier(width, dtype)` are the shapes of a state, `leaf(width, dtype, key)` one to begin learning from.
    `share` names the cell for an arity: constructors of one name have it in common. `shared`: whether they do, where it
    is not said. `name` and `about` are for `help`.

    Examples:
        >>> from cdl_arch.recursive import Architecture, child_sum
        >>> kind: Architecture = child_sum
        >>> net = kind(cdl.TreeF, 4, payload={cdl.Leaf: 1}, key=jax.random.key(0))
        >>> cdl.fold(
        ...     net, cdl.pack(cdl.TreeF, [cdl.Fork(cdl.Leaf(0.5), cdl.Leaf(1.0))])
        ... ).hidden.shape
        (1, 4)
    """

    cell: Callable[..., Cell[S]]
    carrier: Callable[[int, Any], Any]
    leaf: Callable[[int, Any, PRNGKeyArray], S]
    share: Callable[[Arity], str]
    shared: bool = True
    name: str = "Architecture"
    about: str = "A tree network, derived for a signature."

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", f"{self.about}\n{HELP.format(name=self.name)}")

    def __repr__(self) -> str:
        parameters = list(inspect.signature(self).parameters.values())
        return f"{self.name}{inspect.Signature([p.replace(annotation=p.empty) for p in parameters])}"

    @_by_name
    def __call__(
        self,
        signature: Any,
        width: int,
        *,
        embed: int | None = None,
        payload: Payloads | None = None,
        shared: bool | None = None,
        dropout: float = 0.0,
        dtype: Any = None,
        key: PRNGKeyArray,
    ) -> TreeNet[S]:
        """The network of a signature: a `TreeNet`, which is an algebra.

        **Arguments:**

        - `signature`: of one sort, such as `cdl.TreeF`, or the `signature` that `of_dataclasses` derived.
        - `width`: the size of a state's vectors.
        - `embed`: the size of the vector for what is at a node itself; by default `width`.
        - `payload`: a `dict` from constructors to what reads those of their fields that are not children. This is a
          function with one argument for each such field, which returns a vector of shape `(embed,)`: an
          `eqx.nn.Embedding` for one integer, say. Or it is an integer, the count of numbers in these fields, and a
          linear map reads them. You can leave a constructor out if its annotations give this count, as `float` and
          `Float[Array, "3"]` do. If the maps of several constructors share weights, such as one embedding, the network
          holds these once.
        - `shared`: whether constructors share cells. By default `gated` shares none, and the others do. A constructor
          with neither payload nor children, whose cell is not shared, is a state that is learned.
        - `dropout`: the probability that a number of a child's vector is dropped, where `fold` is given a key.
        - `dtype`: the dtype of the weights.
        - `key`: the key for their initial values.

        **Returns:** a `TreeNet`. `fold(net, forest)` gives a `State`, whose `hidden` and `memory` have shape
        `(trees, width)`. For `tree_rnn` it gives an array of shape `(trees, width)`.

        **Raises:** `SignatureError` for several signatures, for a constructor whose fields cannot be read or whose
        payload is of unknown size, for a `payload` that does not fit its constructor, and for a `dropout` below 0 or of
        at least 1. `fold` raises `PayloadMismatch` for a vector that does not have the size `embed`.

        **Warns:** where an `int` is about to be read as a quantity, and `payload` does not say so.

        **Example:** lengths with a unit, where `Lit` has two fields that are not children.

        ```python
        from typing import Generic, Never, TypeVar, Union
        import cdl, equinox as eqx, jax.random as jr
        from cdl_arch.recursive import gated

        X = TypeVar("X", covariant=True)


        class Length:
            "The name of the functor."


        class Lit(cdl.Base[Length, Never]):
            value: float
            unit: int


        class Add(cdl.Base[Length, X], Generic[X]):
            left: X
            right: X


        class Amount(eqx.Module):
            units: eqx.nn.Embedding

            def __call__(self, value, unit):
                return value * self.units(unit)


        amount = Amount(eqx.nn.Embedding(5, 8, key=jr.key(0)))
        net = gated(Union[Lit, Add[X]], 8, payload={Lit: amount}, key=jr.key(1))

        forest = cdl.pack(Union[Lit, Add[X]], [Add(Lit(1.0, 0), Lit(2.5, 3)), Lit(4.0, 1)])
        assert cdl.fold(net, forest).hidden.shape == (2, 8)
        ```
        """
        kinds = constructors(_of_one_sort(signature))
        expect_payloads(kinds, payload or {})
        names = [kind.__name__ for kind in kinds]
        if len(set(names)) < len(names):
            raise SignatureError(
                f"two constructors have one name among {', '.join(names)}: a cell is found by its name."
            )
        expect_probability(dropout)
        expect_key(key)
        if dtype is not None and not jnp.issubdtype(dtype, jnp.inexact):
            raise SignatureError(
                f"`dtype` of `{self.name}` is {short(dtype)}, and weights are real numbers: give `float`."
            )
        width = whole("width", width)
        embed = width if embed is None else whole("embed", embed)
        in_common = self.shared if shared is None else shared
        inputs: dict[str, Input] = {}
        cells: dict[str, Cell[S]] = {}
        cell_of: dict[str, str] = {}
        forms: dict[str, str] = {}
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True)):
            arity, (for_vector, for_payload, for_cell) = arity_of(kind), jr.split(jr.fold_in(key, i), 3)
            own = jr.normal(for_vector, (embed,), dtype) / math.sqrt(embed) if in_common else None
            read = payload_map(kind, arity, embed, payload or {}, dtype, for_payload)
            inputs[name] = Input(own, read, embed)
            cell_of[name] = self.share(arity) if in_common else name
            if cell_of[name] not in cells:
                given = embed if own is not None or read is not None else 0
                bare = arity.leaf and not given
                cells[cell_of[name]] = (
                    Learned(self.leaf(width, dtype, for_cell))
                    if bare
                    else self.cell(arity, given, width, dtype=dtype, key=for_cell)
                )
                forms[name] = form(arity) + ", payload" * bool(given)
        every = dict(zip(names, kinds, strict=True))
        inputs, weights = held_once(inputs)
        return TreeNet(
            named(inputs, every, lambda name: _form_of_input(inputs[name])),
            named(cells, {} if in_common else every, forms.__getitem__),
            self.carrier(width, dtype),
            dropout,
            tuple(cell_of.items()),
            kinds,
            weights,
        )


def _of_one_sort(signature: Any) -> Any:
    """**Raises:** `SignatureError` for several signatures."""
    if isinstance(signature, tuple | list) and signature and not any(isinstance(x, Base) for x in signature):
        raise SignatureError(
            f"the network reads trees of one sort, and {an(type(signature).__name__)} of "
            f"{number_of('signature', len(signature))} was given, as for a family of sorts. Give one signature. From "
            "dataclasses, `of_dataclasses(…, sorts=False)` derives one for all classes. For several sorts, write an "
            "`Algebra` for each, and `fold((first, second), forest)`."
        )
    return signature


def form(arity: Arity) -> str:
    """What the cells for an arity are called."""
    return f"{arity.places} places, {arity.groups} groups"


def _form_of_input(given: Input) -> str | None:
    """`None` for an input without weights, or with a map that a user gave."""
    if not isinstance(given.payload, Flat):
        return None if given.payload is not None or given.vector is None else "name"
    size = f"payload of {given.payload.linear.in_features}"
    return size if given.vector is None else f"name, {size}"
