"""Networks whose weights are tied by a symmetry.

| module     | the monoid                                   | what it gives                               |
| ---------- | -------------------------------------------- | ------------------------------------------- |
| `futures`  | any that acts on states                      | a value of each state after each element    |
| `counter`  | a counter that stops at its greatest value   | such values, from one number for each state |
| `reset`    | a counter round a circle, with a reset       | the same                                    |
| `stack`    | pushes and pops                              | the same: a memory outside the network      |
| `min_plus` | lengths that are added, and minima           | shortest paths: Bellman and Ford's step     |

None of these monoids is a group: what their elements do cannot be undone.
"""

# isort: off
from . import futures as futures, counter as counter, reset as reset, stack as stack, min_plus as min_plus
