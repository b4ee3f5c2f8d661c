"""Lists as arrays: sequences, their scans, and monoids.

An example: the GRU of Equinox, from elements of 2 numbers to a state of 3, as a step of the scan. Its products are
`W x` (9 × 2) and `V h` (9 × 3).

| what        | its products           | what else                            | how many steps at once |
| ----------- | ---------------------- | ------------------------------------ | ---------------------- |
| `ahead`     | `W x`                  | the bias                             | a block, or one        |
| `forward`   | `W x`, `V h`           | gates; keeps four vectors of 3       | one                    |
| `back`      | `Vᵀ dz`                | the gates' derivatives               | one                    |
| the taps    | `dz hᵀ`, and a bias    |                                      | a block                |
| of `ahead`  | `dz xᵀ`, `Wᵀ dz`       |                                      | a block                |

So where steps wait for each other there is one product in the reverse pass, `Vᵀ dz`, and no weight's gradient. What is
kept is the least that gates and their derivatives can be computed from without a product (`jaxprs._keep`).
"""
