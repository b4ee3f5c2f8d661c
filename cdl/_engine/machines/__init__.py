"""Machines over sequences, step by step, and streams.

An example: a sum, as the Mealy machine `s ↦ MealyF(i ↦ (s + i, s + i))` and as the Moore machine
`s ↦ MooreF(s, i ↦ s + i)`, from 0 over the inputs 3, 1, 4.

| step | input | state before | Mealy's output | state after | Moore's output |
| ---- | ----- | ------------ | -------------- | ----------- | -------------- |
|      |       |              |                | 0           | 0              |
| 0    | 3     | 0            | 3              | 3           | 3              |
| 1    | 1     | 3            | 4              | 4           | 4              |
| 2    | 4     | 4            | 8              | 8           | 8              |

Beyond the end of a sequence the state stays, and outputs are 0: as a `Seq` of the lengths 3 and 1, the second sequence
answers 3, 0, 0 and ends in 3.
"""
