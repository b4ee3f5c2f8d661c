"""Trees to learn from: circuits of gates that are all alike, and what comes out of them.

| the mathematics                                      | here                                                 |
| ---------------------------------------------------- | ---------------------------------------------------- |
| the functor `A + X²`, where `A` is the bits          | `TreeF`: a bit, or a gate with two circuits above it |
| the gate "not both", `(x, y) ↦ 1 - x y`, as an algebra | `nand`                                             |

Every boolean function is a circuit of these. To learn from whole circuits is to learn the gate, which no label shows.
"""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from cdl import algebra, cata, Fix, Fork, Leaf, Tree, TreeF
from cdl.checks import expect_key, whole


Bit = Float[Array, ""]
Circuit = Fix[Tree[Bit]]


@algebra
def nand(layer: TreeF[Bit, Bit]) -> Bit:
    """A bit is itself; a gate is on unless both its inputs are.

    Examples:
        >>> from cdl_arch.recursive import nand
        >>> float(cdl.cata(nand)(cdl.Fork(cdl.Leaf(jnp.array(1.0)), cdl.Leaf(jnp.array(1.0)))))
        0.0
    """
    match layer:
        case Leaf(bit):
            return bit
        case Fork(left, right):
            return 1 - left * right


def nand_circuits(count: int, depth: int, *, key: PRNGKeyArray) -> tuple[list[Circuit], Float[Array, " count"]]:
    """Circuits of random shape, of up to `depth` gates one after the other, with their outputs.

    **Arguments:** `count`: how many circuits. `depth`: the most gates one after the other; with 0 a circuit is one bit.
    `key`: for their shapes and bits.

    **Returns:** the circuits, as a list of trees, and their outputs, `float[count]`.

    **Raises:** `CdlError` for a `count` below 1, a `depth` below 0, and anything other than a key.

    Examples:
        >>> from cdl_arch.recursive import nand, nand_circuits
        >>> circuits, answers = nand_circuits(5, 3, key=jax.random.key(0))
        >>> len(circuits), answers.shape, float(cdl.cata(nand)(circuits[0])) == float(answers[0])
        (5, (5,), True)
    """
    count, depth = whole("count", count), whole("depth", depth, 0)
    expect_key(key)
    chance = np.random.default_rng(np.asarray(jr.key_data(key)))

    def grown(depth: int) -> Circuit:
        if depth == 0 or chance.random() < 0.2:
            return Leaf(jnp.float32(chance.integers(2)))
        return Fork(grown(depth - 1), grown(depth - 1))

    found = [grown(depth) for _ in range(count)]
    return found, jnp.stack([cata(nand)(circuit) for circuit in found])
