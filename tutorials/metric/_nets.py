"""Networks as they are initialised: for each, a key and a depth give a function and an input."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr

from cdl import Fork, Leaf, TreeF
from cdl_arch.folding import Elman
from cdl_arch.recursive import n_ary, State


WIDTH, TOKENS, PATCH = 32, 8, 4
Net = tuple[Callable[[Any], Any], Any]
Made = Callable[[Any, int], Net]


def stacked(make: Callable[[Any], Any], key: Any, depth: int) -> Callable[[Callable[[Any, Any], Any]], Any]:
    """Many modules with their weights stacked, and what applies one after the other."""
    arrays, rest = eqx.partition(eqx.filter_vmap(make)(jr.split(key, depth)), eqx.is_array)

    def through(block: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
        step = lambda h, w: (block(eqx.combine(w, rest), h), None)
        return lambda x: jax.lax.scan(step, x, arrays)[0]

    return through


def gaussian(variance: float) -> Callable[[Any], Any]:
    return lambda key: jr.normal(key, (WIDTH, WIDTH)) * (variance / WIDTH) ** 0.5


def orthogonal(key: Any) -> Any:
    return jnp.linalg.qr(jr.normal(key, (WIDTH, WIDTH)))[0]


def plain(weights: Callable[[Any], Any], activation: Callable[[Any], Any]) -> Made:
    """Layers `h ↦ s(W h)`."""

    def made(key: Any, depth: int) -> Net:
        net = stacked(weights, jr.fold_in(key, 0), depth)(lambda W, h: activation(W @ h))
        return net, jr.normal(jr.fold_in(key, 1), (WIDTH,))

    return made


def residual(scales: Callable[[int], tuple[float, float]]) -> Made:
    """Blocks `h ↦ a h + b W relu(V h)`, whose branch keeps lengths in the mean."""

    def made(key: Any, depth: int) -> Net:
        a, b = scales(depth)
        both = lambda k: (gaussian(1.0)(jr.fold_in(k, 0)), gaussian(2.0)(jr.fold_in(k, 1)))
        net = stacked(both, jr.fold_in(key, 0), depth)(lambda w, h: a * h + b * w[0] @ jax.nn.relu(w[1] @ h))
        return net, jr.normal(jr.fold_in(key, 1), (WIDTH,))

    return made


class Block(eqx.Module):
    """A block of a Transformer: norms first, attention with four heads, two layers; with skips or without."""

    norms: list[eqx.nn.LayerNorm]
    attention: eqx.nn.MultiheadAttention
    net: eqx.nn.MLP
    skips: bool = eqx.field(static=True)

    def __init__(self, key: Any, width: int, skips: bool = True) -> None:
        one, two = jr.split(key)
        self.norms = [eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)]
        self.attention = eqx.nn.MultiheadAttention(4, width, key=one)
        self.net = eqx.nn.MLP(width, width, 4 * width, 1, jax.nn.gelu, key=two)
        self.skips = skips

    def __call__(self, x: Any) -> Any:
        h = jax.vmap(self.norms[0])(x)
        h = self.attention(h, h, h)
        x = x + h if self.skips else h
        h = jax.vmap(lambda t: self.net(self.norms[1](t)))(x)
        return x + h if self.skips else h


def transformer(skips: bool) -> Made:
    """On a sequence of vectors."""

    def made(key: Any, depth: int) -> Net:
        net = stacked(lambda k: Block(k, WIDTH, skips), jr.fold_in(key, 0), depth)(lambda block, h: block(h))
        return net, jr.normal(jr.fold_in(key, 1), (TOKENS, WIDTH))

    return made


def vit(key: Any, depth: int) -> Net:
    """On an image of 16 × 16, in patches of 4 × 4: a linear map of each and a place, and then a Transformer."""
    size = PATCH * PATCH
    embed = jr.normal(jr.fold_in(key, 2), (size, size)) / PATCH
    places = 0.1 * jr.normal(jr.fold_in(key, 3), (16, size))
    net = stacked(lambda k: Block(k, size), jr.fold_in(key, 0), depth)(lambda block, h: block(h))

    def whole(image: Any) -> Any:
        patches = image.reshape(4, PATCH, 4, PATCH).swapaxes(1, 2).reshape(16, size)
        return net(patches @ embed.T + places)

    return whole, jr.normal(jr.fold_in(key, 1), (16, 16))


def tree_lstm(key: Any, depth: int) -> Net:
    """From the state of the deepest node to that of the root; at each node the other child has a state of its own."""
    algebra = n_ary(TreeF, WIDTH, payload={Leaf: 1}, key=jr.fold_in(key, 0))
    given = 0.5 * jr.normal(jr.fold_in(key, 1), (depth + 1, 2, WIDTH))
    step: Any = lambda state, other: (algebra(Fork(state, State(*other))), None)
    return lambda state: jax.lax.scan(step, state, given[1:])[0], State(*given[0])


def recurrent(cell: Callable[..., Any], states: int = 1) -> Made:
    """From the first state to the last, along a sequence of vectors; one cell at every step."""

    def made(key: Any, depth: int) -> Net:
        net = cell(WIDTH, WIDTH, key=jr.fold_in(key, 0))
        given = jr.normal(jr.fold_in(key, 1), (depth, WIDTH))
        first = 0.5 * jr.normal(jr.fold_in(key, 2), (states, WIDTH))
        start = first[0] if states == 1 else tuple(first)
        return lambda state: jax.lax.scan(lambda s, x: (net(x, s), None), state, given)[0], start

    return made


NETS: dict[str, Made] = {
    "MLP, `tanh`": plain(gaussian(1.0), jnp.tanh),
    "MLP, `relu`": plain(gaussian(2.0), jax.nn.relu),
    "MLP, `tanh`, orthogonal weights": plain(orthogonal, jnp.tanh),
    "ResNet, `h + f(h)`": residual(lambda depth: (1.0, 1.0)),
    "ResNet, `(h + f(h))/√2`": residual(lambda depth: (0.5**0.5, 0.5**0.5)),
    "ResNet, `√(1 − 1/L) h + √(1/L) f(h)`": residual(lambda depth: ((1 - 1 / depth) ** 0.5, depth**-0.5)),
    "Transformer": transformer(True),
    "Transformer without skips": transformer(False),
    "ViT": vit,
    "Tree-LSTM, along its depth": tree_lstm,
    "Elman's cell, along a sequence": recurrent(Elman),
    "GRU, along a sequence": recurrent(eqx.nn.GRUCell),
    "LSTM, along a sequence": recurrent(eqx.nn.LSTMCell, 2),
}
