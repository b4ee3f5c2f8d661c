"""A symmetry that goes through a functor: `λ : M × F X → F (M × X)`, and folds that commute with it.

| the mathematics                                            | here                                            |
| ---------------------------------------------------------- | ----------------------------------------------- |
| the distributive law `λ` of a monoid over a signature      | `law = Distributive(TreeF, {Leaf: so(3)})`      |
| `λ(m, l)`: payloads acted on, each child paired with `m`   | `law(m, layer)`                                 |
| `m · t`, on trees: `m · in(l) = in(F act (λ(m, l)))`       | `law.act(m, tree)`, a `cata`                    |
| `a(F act (λ(m, l))) = m · a(l)`, for an algebra `a`        | `law.check(a, carrier, layers)`                 |
| then `cata a (m · t) = m · cata a t`                       | `cdl.laws.equivariant_fold`                     |
| the elements `exp(t A)` of a Lie algebra                   | `flow(X, t)`, `law.flow(t)`                     |

The carrier is a pytree of arrays, and its action a pytree of actions, or a prefix of one: an action at an inner node
acts on every array below it, and `None` says that nothing moves. To see that a fold commutes with the generators at a
tree, it is enough to check the algebra at the layers that the fold reads in it, which `law.layers` lists.

Source: Gavranović et al., Categorical Deep Learning (2024), section 2; Turi and Plotkin, Towards a mathematical
operational semantics (1997), for distributive laws.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax

from .._functors import fmap, functor
from .._functors.base import rebuild
from .._functors.poly import Exp, walk
from .._functors.read import layout
from .._functors.usage import with_types
from .._functors.words import short
from .._schemes import algebra as as_algebra, cata
from .._schemes.algebras import name_of
from ..errors import CdlError, ForeignLayer
from ._action import aligned
from ._commuting import times
from ._moving import Actions, along, flow, moved, on_payloads, tangent
from ._payloads import fields_of
from ._rows import Row, worst
from ._word import Word, word_of


TOLERANCE = 1e-5  # of the greatest value: what rounding does in single precision


class Distributive:
    """The distributive law of a monoid over the functor of a signature: how it acts on the payloads of each layer.

    Examples:
        >>> @cdl.algebra
        ... def cross(layer: cdl.TreeF[jax.Array, jax.Array]) -> jax.Array:
        ...     return (
        ...         layer.label
        ...         if isinstance(layer, cdl.Leaf)
        ...         else jnp.cross(layer.left, layer.right)
        ...     )
        >>> turn = cdl.symmetry.groups.so(3)
        >>> rotations = cdl.symmetry.Distributive(cdl.TreeF, {cdl.Leaf: turn})
        >>> tree = cdl.Fork(
        ...     cdl.Leaf(jnp.array([1.0, 0.0, 0.0])), cdl.Leaf(jnp.array([0.0, 1.0, 0.0]))
        ... )
        >>> float(rotations.check(cross, turn, rotations.layers(cross, [tree]))) < 1e-6
        True
    """

    def __init__(self, signature: Any, payloads: Mapping[type[Any], Any]) -> None:
        """**Arguments:**

        - `signature`: of one sort, or a tuple of signatures for a family.
        - `payloads`: for each constructor the action on its payload, or a dictionary from the names of its fields to
          actions. A field that is left out, or has `None`, does not move. The action of a field acts on every array
          in it.

        **Raises:** `CdlError` for a constructor or a field that the signature does not have, for a field without a
        payload, for actions of different monoids, and for a signature with functions in it.
        """
        if not isinstance(payloads, Mapping):
            raise CdlError(f"a law takes a dictionary from constructors to actions, not {short(payloads)}.")
        terms = functor(signature if isinstance(signature, tuple) else (signature,))
        self.sort_of = {kind: sort for sort, term in enumerate(terms) for kind in term.constructors}
        self.sorts = len(terms)
        for kind in self.sort_of:
            if any(isinstance(term, Exp) for term in walk(layout(kind))):
                raise CdlError(f"`{kind.__name__}` has a function in it, and a distributive law is of finite layers.")
        self.payloads = {kind: fields_of(kind, given, self.sort_of) for kind, given in payloads.items()}
        self._names(*self.payloads.values())

    def __call__(self, word: str | Word, layer: Any, /) -> Any:
        """`λ(m, l)`: the layer with its payloads acted on, and `(m, x)` in the place of each child `x`.

        **Raises:** `CdlError` for a layer of another signature, and for a generator of a Lie algebra.
        """
        word = word_of(word)
        return self._map(layer, partial(moved, word), [lambda x: (word, x)] * self.sorts)

    def act(self, word: str | Word, tree: Any, /) -> Any:
        """`m · t`: the tree with the payloads of all its nodes acted on.

        **Arguments:** `word`: the generators, in order. `tree`: one of the signature.
        """
        own = partial(moved, word_of(word))
        pairs: Callable[[Any], Any] = lambda layer: self._map(layer, own, [_same] * self.sorts)
        solved: Any = cata(*[as_algebra(pairs)] * self.sorts)
        return (solved if self.sorts == 1 else solved[self._sort(tree)])(tree)

    @with_types
    def layers(self, algebra: Any, trees: Iterable[Any]) -> list[Any]:
        """The layers that a fold reads in some trees, with values of the carrier in the places of the children.

        **Arguments:** `algebra`: of the signature. `trees`: whose nodes are looked at.
        """
        found: list[Any] = []

        def reader(a: Any) -> Any:
            def read(layer: Any) -> Any:
                found.append(layer)
                return a(layer)

            return as_algebra(read)

        solved: Any = cata(*map(reader, self._each(algebra, "algebras")))
        for tree in trees:
            (solved if self.sorts == 1 else solved[self._sort(tree)])(tree)
        return found

    @with_types
    def defects(self, algebra: Any, carrier: Actions, layers: Iterable[Any]) -> dict[tuple[str, str], float]:
        """How far `a(λ(m, l))` and `m · a(l)` are apart, for each constructor and generator.

        It is the greatest over all layers and all arrays of the carrier, each difference over the greatest number in
        the same array of `a(l)` and `m · a(l)`; where that is less than a hundredth of what the array is in another
        layer of the constructor, over that hundredth. For a generator of a Lie algebra, `m` is `exp(t A)` at two times
        `t`, and the derivatives are compared too.
        """
        met: dict[tuple[str, str], list[Row]] = {}
        carriers, algebras = self._each(carrier, "actions"), self._each(algebra, "algebras")
        ways = [
            way
            for name, lie in self._names(*self.payloads.values(), carriers)
            for way in self._ways(name, lie, carriers)
        ]
        for layer in layers:
            sort = self._sort(layer)
            value = algebras[sort](layer)
            for way in ways:
                right = way.act(way.carriers[sort], value)
                other = way.law._map(layer, way.act, [partial(way.act, action) for action in way.carriers])
                left = along(algebras[sort], layer, other) if way.derivative else algebras[sort](other)
                met.setdefault((type(layer).__name__, way.name), []).append(Row.of(left, right, value))
        return {key: worst(rows) for key, rows in met.items()}

    def _ways(self, name: str, lie: bool, carriers: Actions) -> list["Way"]:
        """A generator itself, or a derivative and two elements of what a generator of a Lie algebra generates."""
        if not lie:
            return [Way(name, self, carriers, partial(moved, (name,)), False)]
        actions = jax.tree.leaves([list(self.payloads.values()), carriers])
        ways = [
            Way(name, self.flow(t), flow(carriers, t), partial(moved, (name,)), False)
            for t in times(*(x[name] for x in actions))
        ]
        return [Way(name, self, carriers, partial(tangent, name), True), *ways]

    def check(self, algebra: Any, carrier: Actions, layers: Iterable[Any], *, tolerance: float = TOLERANCE) -> float:
        """That an algebra distributes over the action, so that its fold commutes with it.

        **Arguments:** `algebra`: from layers to the carrier; for a family a tuple, one for each sort. `carrier`: a
        pytree of actions on the carrier; for a family a tuple of these. `layers`: such as those of `law.layers`.

        **Returns:** the greatest defect; not a number inside `jit` and `vmap`, where numbers are not known yet, and
        only the shapes are checked.

        **Raises:** `CdlError` with the constructor and the generator where the defect is above the tolerance.
        """
        found = self.defects(algebra, carrier, layers)
        if any(map(math.isnan, found.values())):
            return math.nan
        if not found:
            raise CdlError("an algebra is checked at layers, and there are none, or no generators.")
        for (kind, name), defect in found.items():
            if not defect <= tolerance:
                called = ", ".join(map(name_of, self._each(algebra, "algebras")))
                raise CdlError(
                    f"the step of `{called}` at `{kind}` does not commute with the generator `{name}`: a(m · l) and "
                    f"m · a(l) differ by {defect:.2g} of the greatest value, and {tolerance:g} is allowed. Build this "
                    "step from equivariant maps, or change the action on its payloads or on the carrier."
                )
        return max(found.values())

    def flow(self, t: float) -> "Distributive":
        """The same law with the element `exp(t A)` for each generator `A` of a Lie algebra."""
        new = object.__new__(Distributive)
        vars(new).update(vars(self), payloads={kind: flow(fields, t) for kind, fields in self.payloads.items()})
        return new

    def _map(self, layer: Any, at_payload: Callable[[Actions, Any], Any], at_place: list[Callable[[Any], Any]]) -> Any:
        self._sort(layer)
        kind, fields = type(layer), vars(layer).copy()
        record = layout(kind)
        for name, term in zip(record.names, record.factors, strict=True):
            actions = self.payloads.get(kind, {}).get(name)
            fields[name] = on_payloads(term, partial(at_payload, actions), fields[name])
        return fmap(tuple(at_place), rebuild(kind, fields))

    def _sort(self, layer: Any) -> int:
        if type(layer) not in self.sort_of:
            known = ", ".join(kind.__name__ for kind in self.sort_of)
            raise ForeignLayer(f"`{type(layer).__name__}` is not a constructor of the law's signature ({known}).")
        return self.sort_of[type(layer)]

    def _each(self, given: Any, what: str) -> tuple[Any, ...]:
        if self.sorts == 1:
            return (given,)
        if not isinstance(given, tuple) or len(given) != self.sorts:
            raise CdlError(f"a family of {self.sorts} sorts takes a tuple of {self.sorts} {what}, one for each sort.")
        return given

    def _names(self, *actions: Actions) -> list[tuple[str, bool]]:
        """The generators, each with whether it is of a Lie algebra. **Raises:** `CdlError` for different monoids."""
        found = jax.tree.leaves(actions)
        for x in found:
            aligned(found[0], x, "a distributive law")
        return [(g.name, g.lie) for g in found[0].generators] if found else []


def _same(x: Any) -> Any:
    return x


class Way(NamedTuple):
    """One thing to compare: how it acts, on a law's payloads and on carriers, and whether it is a derivative."""

    name: str
    law: Distributive
    carriers: Actions
    act: Callable[[Actions, Any], Any]
    derivative: bool
