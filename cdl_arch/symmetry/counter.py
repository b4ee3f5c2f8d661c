"""A counter that stops at its greatest value, read by a layer with one parameter for each count.

| the mathematics                                            | here                                      |
| ---------------------------------------------------------- | ----------------------------------------- |
| `i ↦ min(i + 1, n − 1)` on counts                          | `counts(n)`, generator `up`               |
| `W[k, i] = v(min(i + k, n − 1))`: a Hankel matrix          | `foresight(counts(n), key=…).weight`      |
| the same letter, as if it could be undone: `i + 1 mod n`   | `circle(n)`                               |

A price that depends on how often something was bought, up to a cap, is such a `v`. The layer reads it now for any
number of purchases to come. The only element of this monoid with an inverse is the unit, so a symmetry of groups says
nothing here, or something else: on a circle, the greatest count is followed by none.

Examples:
    >>> from cdl_arch.symmetry import counter
    >>> counts = counter.counts(3)
    >>> counts("up", jnp.array([1.0, 2.0, 4.0])).tolist()
    [0.0, 1.0, 6.0]
"""

from cdl.symmetry import Action, groups, monoids


def counts(n: int) -> Action:
    """The saturating counter on `n` counts."""
    return monoids.saturating_counter(n)


def circle(n: int) -> Action:
    """The group of rotations of `n` counts, with the generator's name of `counts(n)`."""
    return groups.cyclic(n).named("up")
