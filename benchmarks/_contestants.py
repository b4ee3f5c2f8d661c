"""Everyone who computes a problem, with one interface: the values at the roots, and the loss with its gradient.

| the contestant       | what it is                                                                              |
| -------------------- | --------------------------------------------------------------------------------------- |
| `Cdl`                | `pack` and `fold`: one program for every forest of a bucket                             |
| `Recursion`          | `cata` without `jit`: JAX, one operation of one node after another                      |
| `Unrolled`           | exact levels in one jitted program of JAX, compiled anew for each forest                |
| `TorchLevels`        | exact levels in PyTorch                                                                 |
| `TorchNodes`         | PyTorch node by node                                                                    |
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import cdl
from cdl.compiled import Levels

from ._clock import compiled
from ._levels import as_tables, by_levels, cell_of, Ops
from ._problems import loss, Problem


torch: Any = None
if find_spec("torch"):
    torch = import_module("torch")


JAX_OPS = Ops(
    cat=lambda xs: jnp.concatenate(xs) if len(xs) > 1 else xs[0],
    parts=lambda x, n: jnp.split(x, n, axis=1),
    split=lambda x, sizes: jnp.split(x, np.cumsum(sizes)[:-1].tolist()),
    linear=lambda x, w, b=0.0: x @ w.T + b,
    sigmoid=jax.nn.sigmoid,
    tanh=jnp.tanh,
    take=lambda x, i: x[i],
    sum_at=lambda x, i, n: jax.ops.segment_sum(x, i, n, indices_are_sorted=True),
    index=jnp.asarray,
    zeros=lambda *shape: jnp.zeros(shape),
    write=lambda x, first, rows: jax.lax.dynamic_update_slice(x, rows, (first, 0)),
)


class Compiled:
    """What is common to those that compile: what a forward pass gives, and the loss of some inputs with its gradient in
    the first, as programs. `total` is the loss of what `forward` gives."""

    def __init__(self, forward: Callable[..., Any], *inputs: Any, total: Callable[[Any], Any] = loss) -> None:
        step = eqx.filter_value_and_grad(lambda first, *rest: total(forward(first, *rest)))
        self.functions: dict[str, Callable[..., Any]] = {"forward": forward, "both": step}
        self.inputs = inputs
        self.programs: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}

    def compile(self, which: str) -> Any:
        """The compiled program; how long it took to trace and compile is kept in `seconds`."""
        if which not in self.programs:
            self.seconds[which], self.programs[which] = compiled(self.functions[which], *self.inputs)
        return self.programs[which]

    def forward(self) -> Any:
        return self.compile("forward")(*self.inputs)

    def both(self) -> Any:
        return self.compile("both")(*self.inputs)


class Cdl(Compiled):
    """`fold` of the packed trees."""

    name = "cdl"

    def __init__(self, problem: Problem, remat: Any = "cheap") -> None:
        self.problem = problem
        self.forest = cdl.pack(problem.signature, problem.trees)

        def hidden(inputs: Any, forest: cdl.Forest) -> Any:
            net, payload = inputs
            forest = eqx.tree_at(lambda f: f.payload, forest, payload) if payload else forest
            return cdl.fold(net, forest, how=Levels(remat=remat))[0]

        payload = self.forest.payload if problem.name == "binary" else ()
        super().__init__(hidden, (problem.net, payload), self.forest)

    def gradients(self, out: Any) -> dict[str, Any]:
        net, payload = out[1]
        return self.problem.read(net, payload, self.forest)


class Unrolled(Compiled):
    """Exact levels, all of them in one program."""

    name = "jax unrolled"

    def __init__(self, problem: Problem, store: str) -> None:
        super().__init__(
            by_levels(JAX_OPS, problem.table, problem.width, cell_of(problem), store),
            as_tables(problem.weights, jnp.asarray),
        )

    def gradients(self, out: Any) -> dict[str, Any]:
        return dict(out[1])


class Recursion:
    """The definition on the first few trees, operation by operation."""

    name = "jax recursion"

    def __init__(self, problem: Problem, trees: int) -> None:
        self.trees, self.net = problem.trees[:trees], problem.net

    def forward(self) -> Any:
        return jnp.stack([cdl.cata(self.net)(tree)[0] for tree in self.trees])

    def both(self) -> Any:
        def total(net: Any) -> Any:
            return loss(jnp.stack([cdl.cata(net)(tree)[0] for tree in self.trees]))

        step: Any = eqx.filter_value_and_grad(total)
        return step(self.net)


class Torch:
    """What is common to the two in PyTorch: weights that are leaves of autograd, and the loss."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.weights = as_tables(problem.weights, lambda x: torch.tensor(x, requires_grad=True))
        self.leaves = jax.tree.leaves(self.weights)

    def hidden(self) -> Any:
        raise NotImplementedError

    def forward(self) -> Any:
        with torch.no_grad():
            return self.hidden()

    def both(self) -> Any:
        value = loss(self.hidden())
        return value.detach(), torch.autograd.grad(value, self.leaves, allow_unused=True)

    def gradients(self, out: Any) -> dict[str, Any]:
        found = [torch.zeros_like(w) if g is None else g for w, g in zip(self.leaves, out[1], strict=True)]
        return dict(jax.tree.unflatten(jax.tree.structure(self.weights), found))


class TorchLevels(Torch):
    """Exact levels."""

    name = "torch levels"

    def __init__(self, problem: Problem, store: str) -> None:
        super().__init__(problem)
        self.run = by_levels(torch_ops(), problem.table, problem.width, cell_of(problem), store)

    def hidden(self) -> Any:
        return self.run(self.weights)


class TorchNodes(Torch):
    """One node after another, children first."""

    name = "torch nodes"

    def hidden(self) -> Any:
        table, w = self.problem.table, self.weights
        cell = self.fork if self.problem.name == "binary" else self.node
        inputs = w["inputs"].unbind() if "inputs" in w else ()
        vectors = {
            k: x.unbind() for k, x in w.items() if k.endswith("_bias") and isinstance(x, torch.Tensor) and x.dim() == 2
        }
        states: list[Any] = []
        for row, below in enumerate(table.below):
            x = inputs[row] if row < len(inputs) else None
            states.append(cell(int(table.kind[row]), x, [states[i] for i in below], vectors))
        return torch.stack([states[i][0] for i in table.roots])

    def fork(self, kind: int, x: Any, below: list[Any], vectors: Any) -> tuple[Any, Any]:
        w = self.weights
        if x is not None:
            i, o, u = torch.nn.functional.linear(x, w["leaf"], w["leaf_bias"]).chunk(3)
            c = torch.sigmoid(i) * torch.tanh(u)
        else:
            (h, c), (k, d) = below
            i, o, u, f, g = torch.nn.functional.linear(torch.cat([h, k]), w["fork"], w["fork_bias"]).chunk(5)
            c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f) * c + torch.sigmoid(g) * d
        return torch.sigmoid(o) * torch.tanh(c), c

    def node(self, kind: int, x: Any, below: list[Any], vectors: Any) -> tuple[Any, Any]:
        cell = kind % len(self.weights["gates"])
        z, kept = vectors["gates_bias"][kind], 0.0
        if below:
            h, c = (torch.stack(states) for states in zip(*below, strict=True))
            f = torch.sigmoid(torch.nn.functional.linear(h, self.weights["forget"][cell], vectors["forget_bias"][kind]))
            kept = (f * c).sum(0)
            z = torch.nn.functional.linear(h.sum(0), self.weights["gates"][cell], z)
        i, o, u = z.chunk(3)
        c = torch.sigmoid(i) * torch.tanh(u) + kept
        return torch.sigmoid(o) * torch.tanh(c), c


def torch_ops() -> Ops:
    """PyTorch's spelling."""
    return Ops(
        cat=lambda xs: torch.cat(xs) if len(xs) > 1 else xs[0],
        parts=lambda x, n: x.chunk(n, 1),
        split=torch.split,
        linear=torch.nn.functional.linear,
        sigmoid=torch.sigmoid,
        tanh=torch.tanh,
        take=lambda x, i: x.index_select(0, i),
        sum_at=lambda x, i, n: x.new_zeros(n, x.shape[1]).index_add(0, i, x),
        index=torch.from_numpy,
        zeros=torch.zeros,
        write=_written,
    )


def _written(x: Any, first: int, rows: Any) -> Any:
    x[first : first + len(rows)] = rows
    return x
