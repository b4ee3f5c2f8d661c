"""Forests: trees laid out as arrays, on the host, and the schedule by which they are read.

An example: the trees `Fork(Leaf(1), Fork(Leaf(2), Leaf(3)))` and `Fork(Leaf(4), Leaf(5))`. The constructors' own rows
come first, then the nodes with children, by stage, and at row 71 the leaves.

| row | node             | its edges | end at rows | the edge above |
| --- | ---------------- | --------- | ----------- | -------------- |
| 71  | `Leaf(1)`        |           |             | 4              |
| 72  | `Leaf(2)`        |           |             | 0              |
| 73  | `Leaf(3)`        |           |             | 1              |
| 74  | `Leaf(4)`        |           |             | 2              |
| 75  | `Leaf(5)`        |           |             | 3              |
| 3   | `Fork(2, 3)`     | 0, 1      | 72, 73      | 5              |
| 4   | `Fork(4, 5)`     | 2, 3      | 74, 75      | 73             |
| 5   | `Fork(1, …)`     | 4, 5      | 71, 3       | 72             |

Edges 72 and 73 are those that end at the roots, one for each tree. A chunk of this bucket has room for four rows:

| chunk | its rows   | its edges  |
| ----- | ---------- | ---------- |
| 0     | 71 to 74   |            |
| 1     | 75         |            |
| 2     | 3 and 4    | 0 to 3     |
| 3     | 5          | 4 and 5    |
"""
