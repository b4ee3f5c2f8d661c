"""Which layer breaks the symmetry: the error of a network as a sum, with one summand for each layer.

| the mathematics                                                        | here                            |
| ---------------------------------------------------------------------- | ------------------------------- |
| the chain law `L(g ∘ f) = D g · L f + L g ∘ f`                         | what `attributed` is made of    |
| `L(f_n ∘ … ∘ f_1) = Σ_k D(f_n ∘ … ∘ f_{k+1}) · L f_k`, at an input     | `attributed(maps, fields, xs)`  |

`L` is the Lie derivative of `lie_derivative`. Source: Gruver et al., The Lie derivative for measuring learned
equivariance (2023), section 4.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._functors.usage import with_usage
from ..errors import CdlError
from ._commuting import along
from ._measured import Called, of_one
from ._squares import inner_product, over_examples, same_form, varied, wide


class Attribution(NamedTuple):
    """The Lie derivative of a composite, by layers.

    `parts[k]` is the summand of map `k`, with a leading axis of examples; their sum is the Lie derivative. `mean[k]` is
    its mean square for each number of the output, and `shares[k]` the mean of its product with the whole: the shares
    add up to the mean square of the whole. A share below zero makes up for what another layer breaks.

    Examples:
        >>> turn = cdl.symmetry.groups.so(2)
        >>> along = lambda x: turn("turn01", x)
        >>> found = cdl.symmetry.attributed(
        ...     [lambda x: 3 * x, jnp.square], [along] * 3, jnp.array([[1.0, 2.0]])
        ... )
        >>> found.mean  # the error is all of the second map's
        Array([  0. , 364.5], dtype=float32)
    """

    parts: tuple[Any, ...]
    mean: jax.Array
    shares: jax.Array


@with_usage
def attributed(maps: Sequence[Called], fields: Sequence[Called], xs: Any) -> Attribution:
    """The equivariance error of `f_n ∘ … ∘ f_1`, with the part of each map in it.

    **Arguments:**

    - `maps`: `f_1` to `f_n`, the first that is applied first.
    - `fields`: one more: the vector field on the input, and that on the output of each map. Inside a network the user
      chooses them, such as `fields.still` for features that are meant to be invariant. The parts depend on that choice,
      and their sum does not.
    - `xs`: examples, along a leading axis.

    **Raises:** `CdlError` for no maps, where the fields are not one more than the maps, where a field has
    another shape than what it is on, and for no examples.

    Examples:
        >>> turn = cdl.symmetry.groups.so(2)
        >>> along = lambda x: turn("turn01", x)
        >>> maps = [lambda x: 3 * x, jnp.square]
        >>> cdl.symmetry.attributed(maps, [along] * 3, jnp.array([[1.0, 2.0]])).mean
        Array([  0. , 364.5], dtype=float32)
    """
    if not maps or len(fields) != len(maps) + 1:
        raise CdlError(
            f"`attributed` takes maps and one field more, and gets {len(maps)} maps and {len(fields)} fields: give the "
            "field on the input, and then that on the output of each map."
        )
    for f in maps:
        of_one(f, *fields)

    def at(x: Any) -> tuple[Any, ...]:
        parts: list[Any] = []
        x = varied(x)
        for f, source, target in zip(maps, fields[:-1], fields[1:], strict=True):
            y, push = jax.linearize(lambda v, f=f: varied(f(v)), x)
            ours, theirs = push(along(source, x)), target(y)
            same_form(ours, theirs)
            parts = [*map(push, parts), jax.tree.map(jnp.subtract, ours, theirs)]
            x = y
        return tuple(parts)

    parts = over_examples(at, xs)
    whole = jax.tree.map(lambda *summands: sum(map(wide, summands[1:]), wide(summands[0])), *parts)
    count = max(1, sum(x.size for x in jax.tree.leaves(whole)))
    mean = jnp.stack([inner_product(part, part) for part in parts]) / count
    return Attribution(parts, mean, jnp.stack([inner_product(part, whole) for part in parts]) / count)
