"""Recurrent networks on lists: `fold` of a `Seq` beside PyTorch's, beside a scan written by hand, and beside flax's.

Everyone has the same weights and gives the hidden state after every element; the loss is half the sum of their squares,
and the gradient that of the weights. Lists come in whatever order of axes is a contestant's own. Lists of many lengths
are the functions of Python's standard library, as long as their syntax has nodes: padded, or packed end to end.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax import Array

import cdl
from cdl.compiled import Scan
from cdl_arch.data.python_ast import functions

from ._clock import compiled, Entry, in_turn
from ._machine import cores
from ._problems import loss


try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]
try:
    from flax import linen
except ImportError:
    linen = None


TOLERANCE = 1e-3
WAYS: dict[str, dict[str, Any]] = {
    "fold": {},
    "fold, plain": {"bulk": False},
}


class Reader(cdl.Algebra[cdl.functors.SnocF[Array, Any], Any]):
    """A cell of Equinox, from a state of zeros."""

    cell: Any

    def __call__(self, layer: cdl.functors.SnocF[Array, Any]) -> Any:
        match layer:
            case cdl.functors.Lin():
                return start(self.cell)
            case cdl.functors.Snoc(state, x):
                return self.cell(x, state)


def start(cell: Any) -> Any:
    """Zeros for a cell's state."""
    zeros = jnp.zeros(cell.hidden_size)
    return (zeros, zeros) if isinstance(cell, eqx.nn.LSTMCell) else zeros


def hidden(state: Any) -> Any:
    """What of a state is shown."""
    return state[0] if isinstance(state, tuple) else state


def of_cell(cell: Any) -> tuple[Any, ...]:
    """The weights of a cell."""
    return cell.weight_ih, cell.weight_hh


class Jax:
    """A contestant in JAX: a function of a model and data, compiled forward, and with the gradient of its `weights` in
    the `total` of what it gives."""

    def __init__(
        self,
        name: str,
        model: Any,
        data: Any,
        f: Callable[[Any, Any], Any],
        weights: Callable[[Any], tuple[Any, ...]] = of_cell,
        total: Callable[[Any], Any] = loss,
    ) -> None:
        self.name, self.inputs, self.weights = name, (model, data), weights
        both = eqx.filter_value_and_grad(lambda model, data: total(f(model, data)))
        took, self._forward = compiled(f, *self.inputs)
        more, self._both = compiled(both, *self.inputs)
        self.seconds = {"forward": took, "both": more}

    def forward(self) -> Any:
        return self._forward(*self.inputs)

    def both(self) -> Any:
        return self._both(*self.inputs)

    def value(self, found: Any) -> float:
        return float(found[0])

    def gradients(self, found: Any) -> tuple[Any, ...]:
        return self.weights(found[1])


class Torch:
    """PyTorch's own layer, with as many threads as there are cores."""

    def __init__(self, cell: Any, xs: Any, lengths: Any = None) -> None:
        torch.set_num_threads(cores())
        torch.set_flush_denormal(True)  # as XLA does
        self.name, width = "torch", cell.hidden_size
        made = torch.nn.LSTM if isinstance(cell, eqx.nn.LSTMCell) else torch.nn.GRU
        self.net = made(width, width)
        bias = np.zeros(cell.weight_hh.shape[0], np.float32)
        if isinstance(cell, eqx.nn.GRUCell):
            bias[2 * width :] = np.asarray(cell.bias_n)
        given = (cell.weight_ih, cell.weight_hh, cell.bias, bias)
        with torch.no_grad():
            for p, w in zip(self.net.parameters(), given, strict=True):
                p.copy_(torch.from_numpy(np.array(w)))
        by_step = torch.from_numpy(np.ascontiguousarray(np.swapaxes(np.asarray(xs), 0, 1)))
        if lengths is not None:
            by_step = torch.nn.utils.rnn.pack_padded_sequence(by_step, torch.tensor(lengths), enforce_sorted=False)
        self.xs = by_step

    def forward(self) -> Any:
        with torch.no_grad():
            return self._states()

    def both(self) -> Any:
        self.net.zero_grad(set_to_none=True)
        value = loss(self._states())
        value.backward()
        return value.detach()

    def value(self, found: Any) -> float:
        return float(found)

    def gradients(self, found: Any) -> tuple[Any, Any]:
        del found
        return tuple(p.grad.numpy() for p in list(self.net.parameters())[:2])  # type: ignore[union-attr,return-value]

    def _states(self) -> Any:
        out = self.net(self.xs)[0]
        return out if isinstance(out, torch.Tensor) else out.data


def sequences(cell: str, batch: int, time: int, width: int, rounds: int) -> dict[str, Any]:
    """Lists of one length."""
    made = made_cell(cell, width)
    xs = jr.normal(jr.key(1), (batch, time, width))
    seq, by_step = cdl.Seq(xs, np.full(batch, time)), jnp.swapaxes(xs, 0, 1)

    def scan(cell: Any, xs: Array) -> Any:
        def step(state: Any, x: Array) -> Any:
            state = jax.vmap(cell)(x, state)
            return state, hidden(state)

        return jax.lax.scan(step, jax.tree.map(lambda s: jnp.zeros((batch, *s.shape)), start(cell)), xs)[1]

    everyone: list[Any] = [Jax(name, made, seq, folded(how)) for name, how in WAYS.items()]
    everyone.append(Jax("scan", made, by_step, scan))
    if torch is not None:
        everyone.append(Torch(made, xs))
    if linen is not None:
        everyone.append(flax(made, by_step))
    flops = 2.0 * batch * time * 2 * width * made.weight_hh.shape[0]
    return {**timed(everyone, rounds), "operations": flops}


def ragged(cell: str, lists: int, width: int, rounds: int) -> dict[str, Any]:
    """Lists of many lengths, padded and packed."""
    made = made_cell(cell, width)
    lengths = [len(written(f)) for f in functions(lists)]
    rng = np.random.default_rng(0)
    rows = [rng.standard_normal((n, width), np.float32) for n in lengths]
    padded, packed = cdl.Seq.of(rows), cdl.Packed.of(rows)
    everyone: list[Any] = [Jax("padded", made, padded, folded({})), Jax("packed", made, packed, folded({}))]
    if torch is not None:
        everyone.append(Torch(made, padded.values, lengths))
    return {
        **timed(everyone, rounds),
        "lists": lists,
        "elements": sum(lengths),
        "longest": max(lengths),
        "fill": {"padded": padded.fill, "packed": packed.fill},
        "shape": {"padded": [len(padded), padded.time], "packed": [packed.lanes, packed.steps]},
    }


def folded(how: dict[str, Any]) -> Callable[[Any, Any], Any]:
    """All hidden states of a cell's algebra."""
    return lambda cell, data: hidden(cdl.annotate(Reader(cell), data, how=Scan(**how)).values)


def made_cell(name: str, width: int) -> Any:
    """A cell by its name."""
    kinds = {"gru": eqx.nn.GRUCell, "lstm": eqx.nn.LSTMCell}
    return kinds[name](width, width, key=jr.key(0))


def written(tree: Any) -> list[Any]:
    """The nodes of a tree."""
    nodes = [tree]
    for node in nodes:
        nodes.extend(node.children.items)
    return nodes


def timed(everyone: list[Any], rounds: int) -> dict[str, Any]:
    """Everyone held to the first one's loss and gradients, then timed in turn."""
    first = everyone[0]
    found = first.both()
    value, slopes = float(found[0]), first.gradients(found)
    for other in everyone[1:]:
        found = other.both()
        pairs = [(value, other.value(found)), *zip(slopes, other.gradients(found), strict=True)]
        for a, b in pairs:
            error = float(np.max(np.abs(np.asarray(a) - np.asarray(b))) / np.max(np.abs(np.asarray(a))))
            assert error < TOLERANCE, f"{other.name} differs by {error:.1e}"
    return {
        "compile": {c.name: c.seconds for c in everyone if hasattr(c, "seconds")},
        "forward": in_turn([Entry(c.name, c.forward, rounds, warm=True) for c in everyone]),
        "both": in_turn([Entry(c.name, c.both, rounds, warm=True) for c in everyone]),
    }


def flax(cell: Any, by_step: Array) -> Jax:
    """flax's `nn.RNN` with a cell's weights."""
    gru = isinstance(cell, eqx.nn.GRUCell)
    made = (linen.GRUCell if gru else linen.OptimizedLSTMCell)(features=cell.hidden_size)
    net, gates = linen.RNN(made, time_major=True), "rzn" if gru else "ifgo"
    across, again, bias = (jnp.split(x, len(gates)) for x in (cell.weight_ih, cell.weight_hh, cell.bias))
    weights: dict[str, Any] = {}
    for gate, w, u, b in zip(gates, across, again, bias, strict=True):
        weights |= {f"i{gate}": {"kernel": w.T}, f"h{gate}": {"kernel": u.T}}
        weights[f"i{gate}" if gru else f"h{gate}"]["bias"] = b
    if gru:
        weights["hn"]["bias"] = cell.bias_n

    def read(found: Any) -> tuple[Any, ...]:
        (params,) = found["params"].values()
        return tuple(jnp.concatenate([params[f"{side}{gate}"]["kernel"].T for gate in gates]) for side in "ih")

    return Jax("flax", {"params": {"cell": weights}}, by_step, net.apply, read)
