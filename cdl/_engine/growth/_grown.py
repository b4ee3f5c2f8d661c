"""Grown trees: what `unfold` gives, as padded arrays that a program can go on with, and as trees on the host."""

from collections.abc import Iterable
from typing import Any, Generic, TYPE_CHECKING, TypeVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int
from numpy.typing import NDArray
from returns.result import Failure, Result, Success

from ..._functors.read import tag, tag_name
from ...errors import CdlError, TreeTooLarge
from ..calls._standing import expect_one, not_a_list, standing
from ._candidates import Candidate
from ._plan import Plan
from ._rows import Rows


R = TypeVar("R")


class Grown(eqx.Module, Generic[R]):
    """Trees of type `R`, which is a `Fix`, node by node, breadth first, padded to the budget; made by `unfold`.

    | field      | what it holds                                                                                 |
    | ---------- | --------------------------------------------------------------------------------------------- |
    | `choice`   | at each node, the number of the layer that was chosen, in the order given to `choose`         |
    | `payload`  | its payload: an array for each place, shape and type; zeros where another layer was chosen    |
    | `child`    | the numbers of its children; -1 where there is none, or where it waits                        |
    | `log_prob` | the logarithm of the chance of that choice; 0 where there was none                            |
    | `count`    | how many nodes each tree has                                                                  |
    | `waiting`  | how many places of each tree still hold a seed, because the budget was spent                  |

    Nodes are numbered level by level, and each level from left to right, so a larger budget adds nodes at the end. In a
    family the layers of the first sort have the first numbers.

    The payload and `log_prob` are differentiable in the coalgebra's arrays and in the seeds.

    Examples:
        >>> halve = lambda n: cdl.choose(
        ...     jnp.stack([1.5 - n, n - 1.5]), cdl.Leaf(n), cdl.Fork(n // 2, n - n // 2)
        ... )
        >>> grown: cdl.Grown = cdl.unfold(halve, jnp.array([3.0, 9.0]), 7)
        >>> grown.count.tolist(), grown.cut.tolist()
        ([5, 7], [False, True])
    """

    choice: Int[Array, "trees nodes"]
    payload: tuple[Array, ...]
    child: Int[Array, "trees nodes places"]
    log_prob: Float[Array, "trees nodes"]
    count: Int[Array, " trees"]
    waiting: Int[Array, " trees"]
    candidates: tuple[Candidate, ...] = eqx.field(static=True)

    def __len__(self) -> int:
        expect_one(self.count, 1, "`len` is of", "grown")
        return int(self.count.shape[0])

    if not TYPE_CHECKING:  # type checkers know that there is none
        __getitem__ = not_a_list("`Grown`", "`grown.trees()[i]` is tree `i`")

    @property
    def mask(self) -> Bool[Array, "trees nodes"]:
        """Which rows are nodes. **Raises:** `CdlError` for several, stacked, as do `len`, `trees` and `results`."""
        expect_one(self.count, 1, "`mask` is of", "grown")
        return jnp.arange(self.choice.shape[1], dtype=jnp.int32)[None] < self.count[:, None]

    @property
    def cut(self) -> Bool[Array, " trees"]:
        """Which trees are unfinished."""
        return self.waiting > 0

    def trees(self) -> list[R]:
        """The trees as values, as `ana` gives them. On the host.

        **Raises:** `TreeTooLarge` where one is cut, with how many places wait.
        """
        waiting = self._waiting("trees")
        if waiting.any():
            cut = np.flatnonzero(waiting)
            budget, more = self._spent(cut)
            raise TreeTooLarge(
                f"{len(cut)} of {len(waiting)} trees are not finished within {budget}: {waiting.sum()} places still "
                f"hold a seed, {waiting[cut[0]]} of them in tree {cut[0]}. {more}, or take `results()`, which has the "
                "others."
            )
        return self._built(range(len(self)))

    def results(self) -> list[Result[R, TreeTooLarge]]:
        """Each tree as a `Success`, or as a `Failure` where it is cut. On the host."""
        waiting = self._waiting("results")
        finished = np.flatnonzero(waiting == 0)
        built = dict(zip(finished.tolist(), self._built(finished.tolist()), strict=True))
        cut = "the tree is not finished within {0}: {2} of its places still hold a seed. {1}."
        return [
            Success(built[t]) if t in built else Failure(TreeTooLarge(cut.format(*self._spent([t]), waiting[t])))
            for t in range(len(self))
        ]

    def _waiting(self, of: str) -> NDArray[Any]:
        """How many places of each tree wait. **Raises:** `CdlError` where they are several, stacked, or traced."""
        expect_one(self.count, 1, f"`{of}` builds the trees of", "grown")
        if isinstance(self.waiting, Tracer):
            raise CdlError(f"`{of}` builds trees on the host, and these are traced: call it outside of `jit`.")
        return np.asarray(self.waiting)

    def _spent(self, cut: NDArray[np.intp] | list[int]) -> tuple[str, str]:
        """The budgets that these trees were cut by, and what to do: one below `nodes` was cut by `total`."""
        nodes = self.choice.shape[1]
        below = np.asarray(self.count)[cut] < nodes
        if below.all():
            return "the `total`", "Unfold with a larger `total`"
        both = "and the `total`" if below.any() else ""
        return f"`nodes={nodes}` {both}".rstrip(), "Unfold with more nodes"

    def _built(self, which: Iterable[int]) -> list[Any]:
        """Some trees, the last node first: children are numbered after their parents."""
        payload = [np.asarray(x) for x in self.payload]
        choice, child, count = (np.asarray(x).tolist() for x in (self.choice, self.child, self.count))
        roots = []
        for t in which:
            nodes: list[Any] = [None] * count[t]
            for i in reversed(range(count[t])):
                candidate = self.candidates[choice[t][i]]
                places = [nodes[c] for c in child[t][i][: candidate.arity]]
                nodes[i] = candidate.layer([payload[c][t, i] for c in candidate.columns], places)
            roots.append(nodes[0])
        return roots

    def __repr__(self) -> str:
        tags = dict.fromkeys(tag(c.constructor) for c in self.candidates)
        name = " and ".join(tag_name(t) for t in tags if t is not None) or tag_name(None)
        if other := standing(self.count, 1):
            return f"Grown trees of {name}: {other}"
        if isinstance(self.count, Tracer):
            return f"Grown trees of {name}: {len(self)} of at most {self.choice.shape[1]} nodes, traced"
        count, cut = np.asarray(self.count), int((np.asarray(self.waiting) > 0).sum())
        return (
            f"Grown trees of {name}: {len(self)}, with {count.sum()} nodes, at most {self.choice.shape[1]} each; "
            f"{cut} unfinished"
        )


def as_grown(candidates: tuple[Candidate, ...], rows: Rows, plan: Plan, trees: slice) -> Grown[Any]:
    """Some of the trees, of rows whose payload is by tree and number."""
    size = rows.choice.shape[0]
    tree = jnp.where(rows.real, rows.tree, plan.trees)
    numbers = jnp.arange(size, dtype=jnp.int32)
    row = jnp.full((plan.trees, plan.nodes), size, jnp.int32).at[tree, rows.number].set(numbers, mode="drop")[trees]
    known: Any = lambda x: x.at[row].get(mode="fill", fill_value=0)
    places = jnp.arange(max(c.arity for c in candidates), dtype=jnp.int32)[None, None]
    child = jnp.where(places < known(rows.kids)[..., None], known(rows.below)[..., None] + places, -1)
    payload = tuple(x[trees] for x in rows.payload)
    count, waiting = rows.count[trees], rows.waiting[trees]
    return Grown(known(rows.choice), payload, child, rows.log_prob[trees], count, waiting, candidates)
