"""Growth: trees from seeds, and refolds with no tree in between.

An example: the seeds 3 and 1, and a coalgebra that halves: `Leaf(n)` where `n` is 1, otherwise `Fork` of the halves.
All trees have one queue. A chunk takes the next rows of a level, here up to four:

| chunk | row | tree | its number | seed | chosen | its children's rows |
| ----- | --- | ---- | ---------- | ---- | ------ | ------------------- |
| 0     | 0   | 0    | 0          | 3    | `Fork` | 2, 3                |
| 0     | 1   | 1    | 0          | 1    | `Leaf` |                     |
| 1     | 2   | 0    | 1          | 1    | `Leaf` |                     |
| 1     | 3   | 0    | 2          | 2    | `Fork` | 4, 5                |
| 2     | 4   | 0    | 3          | 1    | `Leaf` |                     |
| 2     | 5   | 0    | 4          | 1    | `Leaf` |                     |

So the trees are `Fork(Leaf(1), Fork(Leaf(1), Leaf(1)))` and `Leaf(1)`. The scores are computed at every row, a fork's
halves at rows 0 and 3, and the leaves in the end, all at once. The reverse pass takes the chunks from the last one: it
makes a row's cotangent of those of its children's rows.
"""
