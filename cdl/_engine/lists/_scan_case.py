"""Reading an algebra of lists: which end it begins at, its value for no element, and its case for one.

| the functor   | the algebra's value is found             | the empty list | one more element   |
| ------------- | ---------------------------------------- | -------------- | ------------------ |
| `1 + A × X`   | from the last element to the first       | `Nil`          | `Cons(head, tail)` |
| `1 + X × A`   | from the first element to the last       | `Lin`          | `Snoc(init, last)` |
"""

import functools
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..._functors import Cons, Lin, Nil, Snoc
from ..._schemes.algebras import algebra, name_of, reads
from ...errors import CarrierMismatch, SignatureError
from ..arrays._carrier import advice, carried, Carrier, cast, own_of
from ..arrays.shapes import is_smooth, one_of, Shape
from ..calls._traced import applied
from ..jaxprs._parts import made_of_weights, Part, trace


@dataclass(frozen=True)
class Case:
    """What an algebra does with one more element.

    `step` is a part from weights, the leaves of the element, its key if there is one, and the leaves of the state, to
    those of the next state. `weights` are what it is made of that is the same at every element.
    """

    step: Part
    weights: list[Any]
    elements: int  # how many leaves an element has, its key counted in
    structure: Any  # of the carrier
    states: tuple[Any, ...]  # the shape and type of each leaf of the carrier

    @property
    def smooth(self) -> list[bool]:
        """Which leaves of the carrier have a cotangent."""
        return [is_smooth(x) for x in self.states]


def from_the_end(alg: Callable[..., Any]) -> bool:
    """Whether an algebra reads `Cons` lists, from the last element; and not `Snoc` lists.

    **Raises:** `SignatureError` where its annotations do not tell.
    """
    kinds = reads(alg)
    if kinds is not None and set(kinds) == {Nil, Cons}:
        return True
    if kinds is not None and set(kinds) == {Lin, Snoc}:
        return False
    if isinstance(alg, types.FunctionType) and set(reads(algebra(alg)) or ()) in ({Nil, Cons}, {Lin, Snoc}):
        raise SignatureError(
            f"`{name_of(alg)}` is a plain function, and a `Seq` is read by an algebra, whose annotations tell from "
            f"which end: write `@cdl.algebra` above `def {name_of(alg)}`."
        )
    found = "do not tell what it reads" if kinds is None else f"name {', '.join(k.__name__ for k in kinds)}"
    raise SignatureError(
        f"the annotations of `{name_of(alg)}` {found}, and a `Seq` is read by an algebra of lists: annotate its layer "
        "as `ListF[E, A]` to read from the end, or as `SnocF[E, A]` to read from the start; of a function with "
        "`@cdl.algebra`, or of a class that extends `Algebra[ListF[E, A], A]`."
    )


def empty(alg: Callable[..., Any], end: bool, key: jax.Array | Shape | None = None) -> Any:
    """The value of the empty list."""
    return jax.tree.map(jnp.asarray, applied(alg, Nil() if end else Lin(), key))


def read(alg: Callable[..., Any], end: bool, element: Any, key: jax.Array | Shape | None) -> Case:
    """The case of one more element.

    **Arguments:** `element`: the shapes of one. `key`: that of a key, if keys are given.

    **Raises:** `CarrierMismatch` where the value changes in structure, shape or type from the empty list on.
    """

    def grown(element: Any, key: jax.Array | Shape | None, state: Any) -> Any:
        return applied(alg, Cons(element, state) if end else Snoc(state, element), key)

    def first(key: jax.Array | Shape | None) -> Any:
        return applied(alg, Nil() if end else Lin(), key)

    start = own_of(first, key)
    mismatch = functools.partial(_mismatch, alg, end, start)
    state = carried(start, lambda value: own_of(grown, element, key, value), mismatch)
    flat, structure = jax.tree.flatten((element, key, state.shapes))

    def step(*inputs: Any) -> list[Any]:
        out = jax.tree.leaves(grown(*jax.tree.unflatten(structure, inputs)))
        return list(map(cast, out, states))

    states = tuple(one_of(state.leaves))
    whole, arrays = trace(step, *flat)
    derive, rest = made_of_weights(Part(whole.jaxpr, len(arrays)))
    weights = derive(*arrays)
    return Case(rest, weights, len(flat) - len(states), start.structure, states)


def _mismatch(alg: Callable[..., Any], end: bool, start: Carrier, found: Carrier, *types: Any) -> CarrierMismatch:
    kinds = ("Nil", "Cons") if end else ("Lin", "Snoc")
    return CarrierMismatch(
        f"`{name_of(alg)}` is not an algebra: at `{kinds[0]}` its value is {start}, and at `{kinds[1]}` {found}. "
        + advice(*types)
    )
