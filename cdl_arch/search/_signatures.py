"""A space of functor signatures: which operations are one constructor, and which cell each constructor has.

| the mathematics                                | here                                                              |
| ---------------------------------------------- | ----------------------------------------------------------------- |
| `F(X) = 2 + k X²`, the syntax as it is written | `WRITTEN`: a bit, or one of `k = 4` operations of two children    |
| `G(X) = 2 + m X²`, with `m ≤ k`                | a candidate signature: `Signatures.signature(code)`               |
| a natural map `F → G`                          | `Signatures.renaming(code)`: which constructor reads an operation |
| `F A → G A → A`                                | `Candidate`: an algebra of `G`, read along this map               |

All candidates read one forest, of `F`, and have parameters of one shape: so they train in one `vmap` of `fold`. Two
operations that mean the same should be one constructor, which then learns from the trees of both.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, Union

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from cdl import Algebra, algebra, cata, Fix, fold, Forest, pack
from cdl.checks import whole, with_usage

from ._choice import made, mix
from ._space import Space
from ._task import Part, Task
from ._trees import Bit, CONSTRUCTORS, First, Fourth, grown, Leaf, OPERATIONS, Read, Second, Third, WRITTEN, Written, X


Code: TypeAlias = Int[Array, " places"] | Int[np.ndarray, " places"]
CELLS = ("sum", "places")


class Weights(NamedTuple):
    """What every candidate learns; the cells' first axis is the constructor."""

    leaf: Float[Array, "2 width"]
    places: Float[Array, "constructors 2 width width"]
    bias: Float[Array, "constructors width"]
    head: Float[Array, "width 2"]


class Candidate(Algebra[Any, Array]):
    """An algebra of the written signature, which reads an operation by the constructor that it is renamed to."""

    weights: Weights
    code: Array

    def __call__(self, layer: Any) -> Array:
        """A bit is a vector; an operation is read by the cell of its constructor."""
        match layer:
            case Bit(value):
                off, on = self.weights.leaf
                return jnp.tanh(off + jnp.asarray(value, on.dtype) * on)
            case First(left, right) | Second(left, right) | Third(left, right) | Fourth(left, right):
                at = OPERATIONS.index(type(layer))
                if made(self.code):
                    return self._reader(self.code[at], left, right)(jnp.zeros(()))
                each = [self._reader(i, left, right) for i in range(len(OPERATIONS))]
                return mix(self.code[at], each, jnp.zeros(()))
        raise AssertionError(type(layer).__name__)

    def _reader(self, constructor: int | Array, left: Array, right: Array) -> Callable[[Any], Array]:
        """What a constructor makes of two children."""
        first, second = self.weights.places[constructor]
        bias = self.weights.bias[constructor]

        def of_sum(_: Any) -> Array:
            return jnp.tanh((left + right) @ first + bias)

        def of_places(_: Any) -> Array:
            return jnp.tanh(left @ first + right @ second + bias)

        return lambda x: mix(self.code[len(OPERATIONS) + constructor], (of_sum, of_places), x)


@dataclass(frozen=True)
class Signatures(Space):
    """Signatures with up to four constructors of two children, each with one of two cells.

    A "sum" sees the sum of its children, and so cannot tell left from right; "places" has a matrix for each.

    **Arguments:** `width`: the size of the carrier.

    **Raises:** `CdlError` for a width below 1.

    Examples:
        >>> from cdl_arch.search import Signatures
        >>> space = Signatures(4)
        >>> space.sizes, space.count
        ((4, 4, 4, 4, 2, 2, 2, 2), 4096)
    """

    width: int = 8

    def __post_init__(self) -> None:
        whole("width", self.width)

    @property
    def places(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """For each operation its constructor; for each constructor its cell."""
        which = tuple("ABCD")
        operations = tuple((op.__name__, which) for op in OPERATIONS)
        return (*operations, *((f"cell of {name}", CELLS) for name in which))

    def init(self, key: PRNGKeyArray) -> Weights:
        """New weights; those of a cell have variance 1 over what it reads."""
        leaf, places, head = jr.split(key, 3)
        many = len(OPERATIONS)
        return Weights(
            jr.normal(leaf, (2, self.width)),
            jr.normal(places, (many, 2, self.width, self.width)) / math.sqrt(2 * self.width),
            jnp.zeros((many, self.width)),
            jr.normal(head, (self.width, 2)) / math.sqrt(self.width),
        )

    def apply(self, params: Weights, code: Array, inputs: Forest) -> Float[Array, "n classes"]:
        """The logits at the roots of a forest.

        **Arguments:** `params`: the weights. `code`: the signature. `inputs`: a forest.

        **Raises:** `CdlError` for a code that is not of this space.
        """
        return fold(Candidate(params, self.expected(code)), inputs) @ params.head

    def trunk(self, params: Weights, code: Int[Array, " places"]) -> Callable[[Array], Array]:
        """From the lowest node of a path to its root: each operation twice, the other child always the bit 1.

        **Arguments:** `params`: the weights. `code`: the signature.
        """
        candidate = Candidate(params, code)

        def path(x: Array) -> Array:
            other = candidate(Bit(1.0))
            for operation in OPERATIONS * 2:
                x = candidate(operation(x, other))
            return x

        return path

    @property
    def state(self) -> int:
        """The size of the carrier."""
        return self.width

    def renaming(self, code: Code) -> dict[type[Any], type[Any]]:
        """The natural map: from each operation to the constructor that reads it, in the order in which they come."""
        seen: dict[int, type[Any]] = {}
        for at in self.checked(code)[: len(OPERATIONS)]:
            seen.setdefault(int(at), CONSTRUCTORS[len(seen)])
        return {op: seen[int(at)] for op, at in zip(OPERATIONS, code, strict=False)}

    def signature(self, code: Code) -> Any:
        """The signature that a code means: a leaf, and the constructors that read an operation."""
        kinds: Any = dict.fromkeys(self.renaming(code).values())
        return Union[Leaf, *(kind[X] for kind in kinds)]

    def renamed(self, code: Code, tree: Fix[Written]) -> Fix[Read]:
        """A tree of the written signature as one of the candidate's.

        **Arguments:** `code`: the candidate. `tree`: of the written signature.
        """
        to = self.renaming(code)

        @algebra
        def rename(layer: Any) -> Any:
            return Leaf(layer.value) if isinstance(layer, Bit) else to[type(layer)](layer.left, layer.right)

        return cata(rename)(tree)

    def canonical(self, code: Code) -> tuple[int, ...]:
        """The least code with the same signature and cells: constructors as they first come, unused cells "sum"."""
        many, code = len(OPERATIONS), np.asarray(self.checked(code))
        order = list(dict.fromkeys(int(at) for at in code[:many]))
        cells = [int(code[many + at]) for at in order]
        return (*(order.index(int(at)) for at in code[:many]), *cells, *[0] * (many - len(order)))

    def codes(self) -> Int[Array, "n places"]:
        """Every signature with its cells once: 94 of them."""
        every = np.stack(np.meshgrid(*map(np.arange, self.sizes), indexing="ij"), -1).reshape(-1, len(self.sizes))
        return jnp.asarray(sorted({self.canonical(code) for code in every}), jnp.int32)


@with_usage
def tree_task(space: Signatures, trees: int = 60, depth: int = 4, *, seed: int = 0, **options: Any) -> Task:
    """A task whose right signature is known, `RIGHT`: the trees to test with have one more level.

    **Arguments:** `space`: whose signature is searched. `seed`: of the trees and of what is at their leaves. `trees`:
    how many there are to learn from. `depth`: the most operations one after the other. `options`: of `Task`.

    **Raises:** `CdlError` for no trees, and a depth below 0.

    Examples:
        >>> from cdl_arch.search import Signatures, tree_task
        >>> task = tree_task(Signatures(4), trees=8, depth=2, steps=2)
        >>> len(task.train.labels)
        8
    """
    whole("trees", trees)
    whole("depth", depth, least=0)

    def part(count: int, depth: int, seed: list[int]) -> Part:
        found, labels = grown(count, depth, seed)
        return Part(pack(WRITTEN, found), jnp.asarray(labels, jnp.int32))

    how = {"steps": 150, "batch": None, "rate": 0.02, "optimiser": "adam", **options}
    return Task(
        space, part(trees, depth, [seed, 0]), part(200, depth, [seed, 1]), part(200, depth + 1, [seed, 2]), **how
    )
