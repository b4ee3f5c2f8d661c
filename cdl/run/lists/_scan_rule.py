"""A track read in blocks of steps, with their reverse rule (`_scan_blocks`)."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ._scan_blocks import Blocks
from ._scan_case import Case
from ._scan_plain import Arrays, How
from ._scan_track import Track


def ruled(case: Case, weights: Arrays, track: Track, nils: Arrays, key: Any, how: How) -> tuple[Arrays, Arrays]:
    """As `plain`, with the rule."""
    key = None if key is None else lax.stop_gradient(key)
    return _rule((weights, track.values, nils), _without_values(track), key, case=replace(case, weights=[]), how=how)


@eqx.filter_custom_vjp
def _rule(inputs: Any, track: Track, key: Any, *, case: Case, how: How) -> tuple[Arrays, Arrays]:
    nothing = jax.tree.map(lambda _: False, inputs)
    return _blocks(nothing, inputs, track, key, case, how).forward(keep=False)[:2]


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(wanted: Any, inputs: Any, track: Track, key: Any, *, case: Case, how: How) -> Any:
    final, every, residuals = _blocks(wanted, inputs, track, key, case, how).forward()
    return (final, every), residuals


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(
    residuals: Any, given: Any, wanted: Any, inputs: Any, track: Track, key: Any, *, case: Case, how: How
) -> Any:
    blocks = _blocks(wanted, inputs, track, key, case, how)
    final = blocks.filled(given[0], (track.lanes,))
    every = blocks.filled(given[1], (track.steps, track.lanes)) if any(x is not None for x in given[1]) else []
    to_weights, to_elements, to_nils = blocks.backward(residuals, final, every)
    moved = (jnp.moveaxis(x, 0, track.axis) for x in to_elements)
    to_values = jax.tree.map(lambda yes: next(moved) if yes else None, wanted[1])
    smooth = iter(to_nils)
    every_nil = [next(smooth) if yes else None for yes in case.smooth]
    return to_weights, to_values, [n if yes else None for n, yes in zip(every_nil, wanted[2], strict=True)]


def _blocks(wanted: Any, inputs: Any, track: Track, key: Any, case: Case, how: How) -> Blocks:
    weights, values, nils = inputs
    return Blocks(case, wanted, weights, replace(track, values=values), nils, key, how)


def _without_values(track: Track) -> Track:
    return replace(track, values=jax.tree.map(lambda _: None, track.values))
