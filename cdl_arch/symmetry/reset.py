"""An automaton that counts round a circle and can be reset, read by a layer with one parameter for each state.

| the mathematics                                           | here                                          |
| --------------------------------------------------------- | --------------------------------------------- |
| `up: i ↦ i + 1 mod n` and `reset: i ↦ 0`                  | `states(n)`                                   |
| `W[m, i] = v(m(i))`, for the `2 n` elements `m`           | `foresight(states(n), key=…).weight`          |
| its largest group, `C_n`; `reset` as if it did nothing    | `circle(n)`                                   |

A reset has no inverse: after it, what was before can no longer be told. In a group that is so of no element, and the
nearest that a group comes to a reset is to leave it out.

Examples:
    >>> from cdl_arch.symmetry import reset
    >>> states = reset.states(3)
    >>> states("reset", jnp.array([1.0, 2.0, 4.0])).tolist()
    [7.0, 0.0, 0.0]
"""

import numpy as np

from cdl.symmetry import Action, monoids


def states(n: int) -> Action:
    """The automaton with `n` states, and letters `up` and `reset`."""
    return monoids.reset_counter(n)


def circle(n: int) -> Action:
    """The group of the invertible letters, with the names of `states(n)`; `reset` is the unit."""
    return Action(n, [states(n)["up"]]).perm(np.arange(n), "reset")
