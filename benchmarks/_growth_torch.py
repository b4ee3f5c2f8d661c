"""Growing in PyTorch: all seeds of one depth at once, exactly as many as there are."""

from typing import Any

import numpy as np

from ._growing import Growing, used
from ._machine import cores
from ._problems import loss


try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]


class Torch:
    """All seeds of one depth at once, exactly as many as there are. `told`: with all indices made beforehand."""

    def __init__(self, given: Growing, *, told: bool) -> None:
        torch.set_num_threads(cores())
        self.name, self.problem = "torch, told" if told else "torch", given.name
        self.weights = [torch.from_numpy(np.array(w)).requires_grad_() for w in given.model.weights]
        self.seeds, self.leaves = (torch.from_numpy(np.array(x)) for x in given.seeds)
        self.levels = list(self._levels()) if told else None
        if given.name == "follow":
            self.labels, self.tree, self.chances = self._known(torch.from_numpy(given.labels))

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
        return tuple(w.grad.numpy() for w in used(self.problem, self.weights))

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
