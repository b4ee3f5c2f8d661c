"""Descents: passes over a forest from the roots down.

An example: the two trees of `forests`, and a step that hands its level to the children, one more. The roots get 0. The
pass goes through the chunks from the last, and what is handed on is kept by edge:

| chunk | its rows inherit            | hand on                     |
| ----- | --------------------------- | --------------------------- |
| 3     | edge 72: 0                  | edges 4 and 5: 1            |
| 2     | edge 5: 1, edge 73: 0       | edges 0 to 3: 2, 2, 1, 1    |
| 1, 0  | edges 4 and 0 to 3          |                             |

So the levels of the nodes are 0, 1, 1, 2, 2 and 0, 1, 1, in pre-order. The reverse pass goes through the chunks in
order: a row's cotangent is made of those of its edges.
"""
