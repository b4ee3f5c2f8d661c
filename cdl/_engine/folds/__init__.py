"""Folds: the values of an algebra at the nodes of a forest, and their derivatives.

An example: the two trees of `forests`, and an algebra whose value is the label at a leaf, and `left + w · right` at a
fork, with `w = 2`. The pass up goes through the chunks in order:

| chunk | reads             | gives its rows                   |
| ----- | ----------------- | -------------------------------- |
| 0     | the labels        | 71: 1, 72: 2, 73: 3, 74: 4       |
| 1     | the label         | 75: 5                            |
| 2     | rows 72 to 75     | 3: 2 + 2 · 3 = 8, 4: 4 + 2 · 5 = 14 |
| 3     | rows 71 and 3     | 5: 1 + 2 · 8 = 17                |

The pass down goes through them from the last, with a cotangent of 1 at each root. A row reads the cotangent of the edge
above it, and writes those of its edges:

| chunk | reads                       | gives                           |
| ----- | --------------------------- | ------------------------------- |
| 3     | edge 72: 1                  | edge 4: 1, edge 5: 2            |
| 2     | edge 5: 2, edge 73: 1       | edges 0 to 3: 2, 4, 1, 2        |
| 1, 0  | edges 4 and 0 to 3          | the labels' cotangents: 1, 2, 4, 1, 2 |

The pass down keeps the cotangent of each product `w · right`: 1 at row 5, 2 at row 3, 1 at row 4. The gradient of `w`
is made of all rows at once, when it is done: `1 · 8 + 2 · 3 + 1 · 5 = 19`.
"""
