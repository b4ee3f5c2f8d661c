"""Actions: the algebras of the monad `M × −`, for a monoid `M` given by generators.

| the mathematics                                  | here                                                |
| ------------------------------------------------ | --------------------------------------------------- |
| an action `M × X → X` on arrays, linear          | `Action(shape)`, and a generator by `.perm(…)`, …   |
| `m · x`, for a word `m` of generators            | `action(m, x)`: the last generator acts first       |
| the algebra of `M × −` that it is                | `action.algebra`                                    |
| `m · (x ⊗ y) = m x ⊗ m y`                        | `X @ Y`: one monoid on the products of two carriers |
| `m · (x, y) = (m x, m y)`                        | `X + Y`: one monoid on two carriers side by side    |
| `(m, n) · (x ⊗ y) = m x ⊗ n y`                   | `X * Y`: two monoids, each on its own axes          |
| the monoid that two sets of generators generate  | `X & Y`: both act on one carrier                    |
| `m · x = x`                                      | `X.trivial(shape)`                                  |
| `x ↦ x ∘ g` where `X` has `e_i ↦ e_{g(i)}`       | `X.transposed`                                      |

`M` is the free monoid on the names of the generators, so no inverse is asked for and none is taken. A map commutes
with every word if it commutes with the generators, and these are all that is ever looked at. A word is a tuple of
names; where an action is of a quotient of the free monoid, such as a cyclic group, `holds` compares two words.
"""

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np
from wadler_lindig import TextDoc

from .._drawing.diagram import Diagram
from .._functors import EilenbergMoore, Writer
from .._functors.words import number_of, short
from ..errors import CdlError
from . import _generator as g
from ._generator import Generator
from ._given import acted, indices
from ._held import product
from ._picture import generators_diagram
from ._products import block, listed, paired, renamed, still, tensor, transpose
from ._sizes import shape_of
from ._sparse import scipy, Sparse
from ._word import Word, word_of, WORDS


@dataclass(frozen=True, init=False)
class Action:
    """A monoid that acts linearly on arrays of one shape, by its generators.

    Examples:
        >>> mirror = cdl.symmetry.Action(4).perm([3, 2, 1, 0], name="mirror")
        >>> mirror("mirror", jnp.array([1, 2, 3, 4]))
        Array([4, 3, 2, 1], dtype=int32)
        >>> cdl.symmetry.hom(mirror, mirror).dimension
        8
    """

    shape: tuple[int, ...]
    generators: tuple[Generator, ...]

    def __init__(self, shape: int | Sequence[int] = (), generators: Iterable[Generator] = ()) -> None:
        """**Arguments:** `shape`: of one element of the carrier; a number is an axis. `generators`: of another action
        with as many numbers, `Y.generators`.

        **Raises:** `CdlError` for what is not a shape, or not generators of this many numbers, each with its own name.
        """
        object.__setattr__(self, "shape", shape_of(shape))
        object.__setattr__(self, "generators", self._own(generators))
        names = [x.name for x in self.generators]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise CdlError(f"two generators are called `{twice[0]}`: give each a name, `name=…`.")

    @property
    def size(self) -> int:
        """How many numbers an element of the carrier has."""
        return math.prod(self.shape)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the generators."""
        return tuple(x.name for x in self.generators)

    def push(self, function: Any, name: str | None = None) -> "Action":
        """With a generator `e_i ↦ e_{g(i)}`, for any function `g` of the places: `int[size]`, -1 for a place that is
        lost. Where several places go to one, their numbers are added."""
        return self._with(g.along(self._next(name), function, self.size))

    def pull(self, function: Any, name: str | None = None) -> "Action":
        """With a generator `x ↦ x ∘ g`, `x[i] ↦ x[g(i)]`: `int[size]`, and -1 for a zero.

        A pullback reverses products: the word `(m, n)` of two pulled functions takes `x` to `x ∘ n ∘ m`.

        **Arguments:** `function`: the number of a place for each place. `name`: of the generator.
        """
        return self._with(g.against(self._next(name), function, self.size))

    def perm(self, permutation: Any, name: str | None = None) -> "Action":
        """With a generator that moves the number at place `i` to place `p(i)`, each place once: `int[size]`.

        **Arguments:** `permutation`: the number of a place for each place. `name`: of the generator.
        """
        return self.signed(permutation, None, name)

    def signed(self, permutation: Any, scales: Any, name: str | None = None) -> "Action":
        """With a generator `e_i ↦ s_i e_{p(i)}`: a permutation `int[size]` and a sign or scale for each place."""
        name = self._next(name)
        found = indices(name, permutation, self.size)
        seen, counts = np.unique(found, return_counts=True)
        if len(seen) < self.size or (self.size and found.min() < 0):
            what = f"goes to {seen[np.argmax(counts)]} twice" if np.any(counts > 1) else "loses a place"
            raise CdlError(f"generator `{name}` {what}, and is not a permutation: `push` or `pull` takes any function.")
        return self._with(g.along(name, found, self.size, scales))

    def matrix(self, matrix: Any, name: str | None = None) -> "Action":
        """With any square matrix as a generator, singular or not: `float[size, size]`, dense or of scipy.sparse.

        **Arguments:** `matrix`: square, of as many rows as the shape has places. `name`: of the generator.
        """
        return self._with(g.of_matrix(self._next(name), matrix, self.size, lie=False))

    def lie(self, matrix: Any, name: str | None = None) -> "Action":
        """With an element `A` of a Lie algebra: the elements `exp(t A)` act, for every real `t`.

        **Arguments:** `matrix`: an element of the Lie algebra. `name`: of the generator.
        """
        return self._with(g.of_matrix(self._next(name), matrix, self.size, lie=True))

    def __call__(self, word: str | Word, x: Any, /) -> jax.Array:
        """`m · x` for a word of names, or one name; the last name acts first. Axes in front of the carrier's are kept.

        A generator of a Lie algebra acts as itself, `A x`.

        **Raises:** `CdlError` for a name that no generator has, and an array of another shape.
        """
        array = acted(x)
        if array.shape[array.ndim - len(self.shape) :] != self.shape or array.ndim < len(self.shape):
            raise CdlError(f"an array of shape {array.shape} is acted on, and the carrier has shape {self.shape}.")
        flat = array.reshape((*array.shape[: array.ndim - len(self.shape)], self.size))
        for generator in reversed([self[name] for name in word_of(word)]):
            flat = generator(flat)
        return flat.reshape(array.shape)

    def __getitem__(self, name: str) -> Generator:
        """The generator of a name."""
        found = [x for x in self.generators if x.name == name]
        if not found:
            raise CdlError(f"no generator is called `{name}`: there {_are(self.names)}.")
        return found[0]

    @cached_property
    def algebra(self) -> EilenbergMoore[jax.Array]:
        """The action as an algebra of the monad `M × −`: `(m, x) ↦ m · x`."""
        return Writer(WORDS).algebra(self)

    def element(self, word: str | Word) -> Sparse:
        """The matrix of a word, as a product of the generators' matrices: `float64[size, size]`, a sparse array of
        scipy. `.toarray()` gives a dense one.

        **Raises:** `CdlError` where a number of it overflows or vanishes, or a whole number loses a digit.
        """
        names = word_of(word)
        if not names:
            return scipy.sparse.eye_array(self.size, format="csr")
        times: Callable[[Any, Any], Any] = lambda m, n: product(f"the word {names}", m, n, operator.matmul)
        return functools.reduce(times, [self[name].sparse for name in names])

    def holds(self, left: str | Word, right: str | Word, tolerance: float = 0.0) -> bool:
        """Whether two words act alike: a relation of the monoid, such as `("r", "r") = ()` for a reflection.

        **Arguments:** `left`, `right`: words of generators.
        """
        off = abs(self.element(left) - self.element(right))
        return not self.size or bool(off.max() <= tolerance)

    @property
    def transposed(self) -> "Action":
        """Each generator transposed: functions are pulled where they were pushed. The products are reversed."""
        return self._all(map(transpose, self.generators))

    def trivial(self, shape: int | Sequence[int] = ()) -> "Action":
        """The same monoid on another carrier, where nothing moves: invariants are maps to it."""
        other = Action(shape)
        return other._all([still(x, other.size) for x in self.generators])

    def __matmul__(self, other: "Action") -> "Action":
        """The tensor product: the carrier has the shapes of both, and one monoid acts on both."""
        pairs = aligned(self, other, "X @ Y")
        return Action((*self.shape, *other.shape))._all([tensor(x, y) for x, y in pairs])

    def __add__(self, other: "Action") -> "Action":
        """The direct sum: the carrier is one axis, with the numbers of both."""
        pairs = aligned(self, other, "X + Y")
        both = Action(self.size + other.size)
        return both._all([block(x, y) for x, y in pairs])

    def __mul__(self, other: "Action") -> "Action":
        """Two monoids, each on the axes of one carrier."""
        expect_action(other, "X * Y")
        ours = [tensor(x, still(x, other.size)) for x in self.generators]
        theirs = [tensor(still(y, self.size), y) for y in other.generators]
        return Action((*self.shape, *other.shape))._all([*ours, *renamed(theirs, self.names)])

    def __and__(self, other: "Action") -> "Action":
        """The generators of both, on one carrier."""
        expect_action(other, "X & Y")
        if self.shape != other.shape:
            raise CdlError(f"`X & Y` acts on one carrier: `X` has shape {self.shape}, and `Y` {other.shape}.")
        return self._all([*self.generators, *renamed(other.generators, self.names)])

    def power(self, order: int) -> "Action":
        """Tensors of an order: `X @ X @ …`, `order` times; of order 0, the trivial action on one number."""
        if isinstance(order, bool) or not isinstance(order, int | np.integer) or order < 0:
            raise CdlError(f"a tensor has an order of 0 or more, not {short(order)}.")
        return functools.reduce(lambda x, y: x @ y, [self] * int(order), self.trivial()) if order != 1 else self

    def on(self, shape: int | Sequence[int]) -> "Action":
        """The same action on arrays of another shape with as many numbers."""
        other = Action(shape)
        if other.size != self.size:
            raise CdlError(f"shape {other.shape} has {other.size} numbers, and the carrier {self.size}.")
        return other._all(self.generators)

    def named(self, *names: str) -> "Action":
        """The same generators with other names, in their order."""
        if len(names) != len(self.generators):
            raise CdlError(f"{number_of('name', len(names))} given for {listed(self.generators)}.")
        word_of(names)
        return self._all([x.renamed(name) for x, name in zip(self.generators, names, strict=True)])

    def __diagram__(self) -> Diagram:
        return generators_diagram((x.name, x.dense) for x in self.generators)

    def _own(self, generators: Any) -> tuple[Generator, ...]:
        """Generators, checked."""
        found = tuple(generators) if isinstance(generators, Iterable) else (generators,)
        for x in found:
            if not isinstance(x, Generator):
                raise CdlError(
                    f"an action has generators, and `{short(x)}` is not one: `X.perm(…)`, `X.matrix(…)` and others add "
                    "one, and `Y.generators` are those of another action."
                )
            if x.size != self.size:
                raise CdlError(
                    f"generator `{x.name}` acts on {number_of('number', x.size)}, and the carrier of shape "
                    f"{self.shape} has {self.size}: give generators of its size."
                )
        return found

    def _next(self, name: str | None) -> str:
        return f"g{len(self.generators) + 1}" if name is None else name

    def _with(self, generator: Generator) -> "Action":
        return self._all([*self.generators, generator])

    def _all(self, generators: Iterable[Generator]) -> "Action":
        return Action(self.shape, generators)

    def __pdoc__(self, **_: Any) -> TextDoc:
        """How Equinox writes it inside a network."""
        return TextDoc(repr(self))

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.shape)) or "1"
        return f"Action({shape}; {', '.join(self.names) or 'no generators'})"


def expect_action(given: Any, what: str) -> None:
    """**Raises:** `CdlError` for what is not an action."""
    if not isinstance(given, Action):
        raise CdlError(f"{what} is of actions, and {short(given)} is not one: make one with `Action(shape)`.")


def aligned(X: Any, Y: Any, what: str) -> list[tuple[Generator, Generator]]:
    """The generators of two actions of one monoid, in pairs.

    **Raises:** `CdlError` where they are not of one monoid.
    """
    if not isinstance(X, Action) or not isinstance(Y, Action):
        wrong = Y if isinstance(X, Action) else X
        raise CdlError(
            f"{what} is of two actions, and `{type(wrong).__name__}` is not one: make one with `Action(shape)`."
        )
    return paired(X.generators, Y.generators, what)


def _are(names: Sequence[str]) -> str:
    return f"are {', '.join(f'`{name}`' for name in names)}" if names else "are none"
