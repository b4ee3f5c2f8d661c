"""What is inside a traced program: its equations, and those of the programs within it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import jax


def equations(program: Any) -> Iterator[Any]:
    """Every equation of a jaxpr and of all that its loops, branches and calls have in them."""
    for equation in getattr(program, "jaxpr", program).eqns:
        yield equation
        within = jax.tree.leaves(equation.params, is_leaf=_is_program)
        for inner in filter(_is_program, within):
            yield from equations(inner)


def primitives(program: Any) -> Counter[str]:
    """How many equations there are of each primitive."""
    return Counter(equation.primitive.name for equation in equations(program))


def constants(program: Any) -> list[Any]:
    """The arrays that are built into a program, or into one within it."""
    within = (x for e in equations(program) for x in jax.tree.leaves(e.params, is_leaf=_is_program))
    return [c for p in (program, *filter(_is_program, within)) for c in getattr(p, "consts", ())]


def _is_program(value: Any) -> bool:
    return hasattr(value, "eqns") or hasattr(value, "jaxpr")
