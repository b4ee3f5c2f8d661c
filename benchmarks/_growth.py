"""Growing trees: `unfold` and `refold` beside PyTorch level by level, and beside what one writes by hand in JAX.

PyTorch runs twice: as it grows, each level's scores say which rows are leaves and which go on; or it is told this
beforehand, as one who has the trees can be. `follow` has the trees, and so is beside the second one alone.

| the problem | what is grown                                                       | what is made of it             |
| ----------- | ------------------------------------------------------------------- | ------------------------------ |
| `"unfold"`  | trees of so many leaves, by `choose`; a leaf's label is `L h`       | the labels                     |
| `"refold"`  | the same                                                            | `tanh (A x + B y)` up the tree |
| `"follow"`  | nothing: the trees are given, with labels                           | how likely each tree is        |
| `"halves"`  | lists cut in two until there is one element: shapes decide          | the same as `"refold"`         |

A fork of `n` leaves has seeds `tanh (P h)` with `n / 3 + 1` of them and `tanh (Q h)` with the rest. A label has a
normal distribution around `L h`. The loss is half the sum of squares of what is made, and the gradient is that of the
weights.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax import Array

import cdl

from ._clock import Entry, in_turn
from ._machine import cores
from ._problems import loss
from ._sequences import Jax, timed


try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]


LEAVES = 20, 60  # at least, and at most
FEW = 2  # trees that `ana` grows, one node at a time


class Model(eqx.Module):
    """The weights, in the order `P, Q, L, A, B`."""

    weights: tuple[Array, ...]

    def grow(self, seed: Any) -> Any:
        """One layer of seeds."""
        p, q, label, *_ = self.weights
        h, n = seed
        first = n // 3 + 1
        scores = jnp.stack([1.5 - n, n - 1.5])
        fork = cdl.Fork((jnp.tanh(p @ h), first), (jnp.tanh(q @ h), n - first))
        return cdl.choose(scores, cdl.Leaf(label @ h), fork)

    @property
    def read(self) -> Any:
        """One layer of values."""
        *_, a, b = self.weights

        @cdl.algebra
        def cell(layer: cdl.TreeF[Array, Array]) -> Array:
            match layer:
                case cdl.Leaf(x):
                    return x.reshape(-1)
                case cdl.Fork(x, y):
                    return jnp.tanh(a @ x + b @ y)

        return cell


def growth(name: str, width: int, trees: int, rounds: int) -> dict[str, Any]:
    """One problem at one width."""
    model = Model(tuple(jr.normal(key, (width, width)) / width**0.5 for key in jr.split(jr.key(0), 5)))
    if name == "halves":
        return _halves(model, width, trees, rounds)
    leaves = np.random.default_rng(0).integers(*LEAVES, trees, endpoint=True).astype(np.int32)
    seeds = jr.normal(jr.key(1), (trees, width)), jnp.asarray(leaves)
    bounds: dict[str, Any] = {"nodes": 2 * int(leaves.max()) - 1, "total": int((2 * leaves - 1).sum())}
    labels = np.random.default_rng(1).standard_normal((int(leaves.sum()), width), np.float32)
    forest = cdl.pack(cdl.TreeF[Array, Any], _trees(leaves, labels)) if name == "follow" else None

    def made(model: Model, seeds: Any) -> Any:
        if forest is not None:
            return cdl.follow(model.grow, forest, seeds, payload=_near)
        if name == "unfold":
            return cdl.unfold(model.grow, seeds, **bounds).payload[0]
        return cdl.refold(model.read, model.grow, seeds, **bounds)[0]

    everyone: list[Any] = [Jax("cdl", model, seeds, made, lambda m: tuple(_used(name, m.weights)))]
    if torch is not None:
        ways = (True,) if name == "follow" else (False, True)
        everyone += [Torch(name, model, seeds, labels, told=told) for told in ways]
    found = {**timed(everyone, rounds), "nodes": bounds["total"], "trees": trees}
    if name == "unfold":
        found["forward"] |= in_turn([Entry("ana", lambda: _by_definition(model, seeds), 1, trees / FEW)])
    return found


def _used(name: str, weights: Any) -> Any:
    """Those of the weights that a problem has."""
    return {"unfold": weights[:3], "follow": weights[:3], "refold": weights, "halves": weights[3:]}[name]


def _trees(leaves: Any, labels: Any) -> list[Any]:
    """The trees that are grown, with their labels from left to right."""
    rest = iter(labels)

    def tree(n: int) -> Any:
        return cdl.Leaf(next(rest)) if n == 1 else cdl.Fork(tree(n // 3 + 1), tree(n - n // 3 - 1))

    return [tree(int(n)) for n in leaves]


def _near(proposed: Any, true: Any) -> Any:
    """How likely a leaf's label is."""
    return -loss(proposed.label - true.label) if isinstance(true, cdl.Leaf) else 0.0


def _by_definition(model: Model, seeds: Any) -> Any:
    grow = cdl.ana(model.grow)
    return [jax.tree.leaves(grow(jax.tree.map(lambda x, t=t: x[t], seeds))) for t in range(FEW)]


class Torch:
    """All seeds of one depth at once, exactly as many as there are. `told`: with all indices made beforehand."""

    def __init__(self, name: str, model: Model, seeds: Any, labels: Any, *, told: bool) -> None:
        torch.set_num_threads(cores())
        self.name, self.problem = "torch, told" if told else "torch", name
        self.weights = [torch.from_numpy(np.array(w)).requires_grad_() for w in model.weights]
        self.seeds, self.leaves = (torch.from_numpy(np.array(x)) for x in seeds)
        self.levels = list(self._levels()) if told else None
        if name == "follow":
            self.labels, self.tree, self.chances = self._known(torch.from_numpy(labels))

    def forward(self) -> Any:
        with torch.no_grad():
            return self._made()

    def both(self) -> Any:
        for w in self.weights:
            w.grad = None
        value = sum(map(loss, self._made()))
        value.backward()
        return value.detach()

    def value(self, found: Any) -> float:
        return float(found)

    def gradients(self, found: Any) -> tuple[Any, ...]:
        del found
        return tuple(w.grad.numpy() for w in _used(self.problem, self.weights))

    def _levels(self) -> Any:
        """Of each level: which are leaves, which are forks, and where each is when the leaves come first."""
        leaves = self.leaves
        while len(leaves):
            choice = torch.stack([1.5 - leaves, leaves - 1.5], 1).argmax(1)
            ends, goes = (choice == 0).nonzero()[:, 0], choice.nonzero()[:, 0]
            back = torch.cat([ends, goes]).argsort() if self.problem == "refold" else None
            yield ends, goes, back
            below = leaves[goes]
            first = below // 3 + 1
            leaves = torch.cat([first, below - first])

    def _known(self, labels: Any) -> Any:
        """The labels and the tree of each leaf, level by level, and how likely the choices in each tree are."""
        leaves, tree = self.leaves, torch.arange(len(self.leaves))
        place = leaves.cumsum(0) - leaves
        found, trees, chances = [], [], torch.zeros(len(leaves))
        for ends, goes, _ in self.levels or []:
            scores = torch.log_softmax(torch.stack([1.5 - leaves, leaves - 1.5], 1), 1)
            chances.index_add_(0, tree, torch.where(leaves == 1, scores[:, 0], scores[:, 1]))
            found.append(labels[place[ends]])
            trees.append(tree[ends])
            below, tree, place = leaves[goes], tree[goes].repeat(2), place[goes]
            first = below // 3 + 1
            leaves, place = torch.cat([first, below - first]), torch.cat([place, place + first])
        return torch.cat(found), torch.cat(trees), chances

    def _made(self) -> list[Any]:
        p, q, label, a, b = self.weights
        h, labels, levels = self.seeds, [], []
        for level in self._levels() if self.levels is None else self.levels:
            ends, goes, _ = level
            levels.append(level)
            labels.append(h[ends] @ label.T)
            below = h[goes]
            h = torch.cat([torch.tanh(below @ p.T), torch.tanh(below @ q.T)])
        if self.problem == "unfold":
            return labels
        if self.problem == "follow":
            near = -0.5 * (torch.cat(labels) - self.labels).square().sum(1)
            return [self.chances.index_add(0, self.tree, near)]
        values = h[:0]
        for (_, goes, back), own in zip(reversed(levels), reversed(labels), strict=True):
            x, y = values[: len(goes)], values[len(goes) :]
            values = torch.cat([own, torch.tanh(x @ a.T + y @ b.T)])[back]
        return [values]


def _halves(model: Model, width: int, lists: int, rounds: int) -> dict[str, Any]:
    """Lists of one length, cut in two."""
    time = 64
    xs = jr.normal(jr.key(1), (lists, time, width))

    def in_two(x: Array) -> Any:
        n = x.shape[0]
        return cdl.Leaf(x) if n == 1 else cdl.Fork(x[: n // 2], x[n // 2 :])

    def by_hand(model: Model, xs: Array) -> Array:
        *_, a, b = model.weights
        while xs.shape[1] > 1:
            xs = jnp.tanh(xs[:, ::2] @ a.T + xs[:, 1::2] @ b.T)
        return xs[:, 0]

    weights = lambda m: tuple(_used("halves", m.weights))
    everyone: list[Any] = [
        Jax("cdl", model, xs, lambda model, xs: cdl.refold(model.read, in_two, xs), weights),
        Jax("by hand", model, xs, by_hand, weights),
    ]
    return {**timed(everyone, rounds), "nodes": lists * (2 * time - 1), "trees": lists}
