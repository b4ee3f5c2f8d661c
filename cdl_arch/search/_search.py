"""A search: rounds of asking, training and telling, within one budget, from many seeds side by side.

| the thing                              | here                                                                  |
| -------------------------------------- | --------------------------------------------------------------------- |
| the budget: a number of trainings      | `budget`; a method's `cost` is taken from it before the first round   |
| one round                              | `batch` codes for each seed, all trained in one program               |
| how far it has come                    | `Search`, a pytree of arrays; a checkpoint has it, and what it is of  |

Randomness is a function of the seed's key and the number of the round. So a search that is stopped and resumed has the
same numbers as one that is not, to the last bit on one machine.
"""

import dataclasses
import os
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, Key

from cdl.checks import whole as whole_number, with_usage
from cdl.errors import CdlError, CheckpointError
from cdl.io import load, save

from ._expected import expect_keys, rows_of
from ._identity import facts
from ._methods import Evolution, Method
from ._scores import ranked
from ._task import Outcome, Task, trained


BEFORE = 2**31  # the number of no round


class Search(eqx.Module):
    """The trainings of each seed so far, in order, and the method's state.

    **Arguments:** `state`: that of the method, with the seeds as the first axis of its arrays. `round`: how many rounds
    are done. `codes`: what was trained; 0 in rounds to come. `validation`: the accuracy of each code; NaN in rounds to
    come. `stable`: as in `Outcome`; `False` in rounds to come.

    Examples:
        >>> from cdl_arch.search import Random, Search, search, Signatures, tree_task
        >>> task = tree_task(Signatures(4), trees=8, depth=2, steps=2)
        >>> found: Search = search(
        ...     task, Random(), jax.random.split(jax.random.key(0), 1), budget=2, batch=1
        ... )
        >>> found.codes.shape
        (1, 2, 8)
    """

    state: Any
    round: int
    codes: Int[Array, "seeds trainings places"]
    validation: Float[Array, "seeds trainings"]
    stable: Bool[Array, "seeds trainings"]

    @property
    def best(self) -> Int[Array, "seeds places"]:
        """The code of each seed with the greatest validation accuracy: NaN never, unless all are.

        **Raises:** `CdlError` before the first round.
        """
        if not self.round:
            raise CdlError("this search has trained nothing yet, so it has no best code: search for a round or more.")
        at = jax.vmap(ranked)(-self.validation)[:, 0]
        return jnp.take_along_axis(self.codes, at[:, None, None], 1)[:, 0]


@with_usage
def search(
    task: Task,
    method: Method,
    keys: Key[Array, " seeds"],
    *,
    budget: int = 20,
    batch: int = 5,
    checkpoint: str | os.PathLike[str] | None = None,
    rounds: int | None = None,
) -> Search:
    """Searches once from each key.

    **Arguments:** `task`: the space and the data. `method`: such as `Random()` or `Evolution()`. `keys`: one for each
    search, `(seeds,)`. `budget`: trainings for each search; trainings that do not fill a round are not used. `batch`:
    how many a round has. `checkpoint`: a file that is written after each round, and read where it is there. `rounds`:
    where to stop, to be resumed later; by default at the end.

    **Returns:** the searches, in one `Search`; `found.best` are their codes.

    **Raises:** `CdlError` where the budget is not enough for the method's cost and one round, or for a first generation
    of `Evolution` and one round more; for keys that are not an array of them, a batch below 1, or a cost below 0.
    `CheckpointError` where the file is of a search with another method, other keys, another task or another budget, and
    says which.

    Examples:
        >>> from cdl_arch.search import Random, search, Signatures, tree_task
        >>> task = tree_task(Signatures(4), trees=8, depth=2, steps=2)
        >>> found = search(
        ...     task, Random(), jax.random.split(jax.random.key(0), 1), budget=2, batch=1
        ... )
        >>> found.best.shape, found.validation.shape
        ((1, 8), (1, 2))
    """
    expect_keys(keys)
    whole_number("cost", method.cost, least=0)
    whole = (whole_number("budget", budget) - method.cost) // whole_number("batch", batch)
    if whole < 1:
        raise CdlError(
            f"a budget of {budget} trainings, less the {method.cost} that `{type(method).__name__}` costs, has no "
            f"round of {batch}: give a greater `budget`, or a smaller `batch`."
        )
    if isinstance(method, Evolution) and method.population > (whole - 1) * batch:
        raise CdlError(
            f"`Evolution` draws its first {method.population} codes at random, and {whole} rounds of {batch} end "
            "before a child is tried: give a greater `budget`, or a smaller `population`."
        )
    seeds, places = len(keys), len(task.space.sizes)
    begun = jax.tree.map(
        lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), eqx.filter_eval_shape(_begun, task, method, keys)
    )
    unknown = jnp.full((seeds, whole * batch), jnp.nan)
    now = Search(begun, 0, jnp.zeros((*unknown.shape, places), jnp.int32), unknown, jnp.zeros(unknown.shape, bool))
    file = None if checkpoint is None else Path(checkpoint)
    if file is not None and not file.absolute().parent.is_dir():
        raise CheckpointError(f"a search cannot be kept at `{file}`: `{file.parent}` is not a folder. Make it first.")
    known = {} if file is None else facts(task, method, keys, budget, batch)
    if file is not None and file.exists():
        now = _resumed(file, known, now)
    if now.round == 0:
        now = dataclasses.replace(now, state=_begun(task, method, keys))
    while now.round < (whole if rounds is None else min(rounds, whole)):
        now = _round(task, method, now, batch, jax.vmap(jr.fold_in, (0, None))(keys, now.round))
        if file is not None:
            save(file, _signed(known, now))
    return now


@with_usage
def retrained(task: Task, codes: Int[Array, "n places"], keys: Key[Array, " k"]) -> Outcome:
    """Trains each code once from each key: outcomes of shape `(n, keys)`.

    **Arguments:** `task`: the space and the data. `codes`: `int[n, places]`. `keys`: `key[k]`, the same for all codes.

    Examples:
        >>> from cdl_arch.search import Blocks, Part, retrained, Task
        >>> part = Part(
        ...     jax.random.normal(jax.random.key(0), (5, 2, 2, 1)), jnp.array([0, 1, 0, 1, 0])
        ... )
        >>> task = Task(Blocks((2, 2, 1), 2, width=8, depth=1), part, part, part, steps=1, batch=2)
        >>> code = jnp.ones((1, len(task.space.sizes)), int)
        >>> retrained(task, code, jax.random.split(jax.random.key(0), 2)).test.shape
        (1, 2)
    """
    codes = rows_of(task.space, codes)
    n, each = len(codes), len(keys)
    out = trained(task, jnp.repeat(codes, each, 0), jnp.tile(keys, n))
    return Outcome(*(field.reshape(n, each) for field in out))


def _signed(known: dict[str, str], now: Search) -> dict[str, Any]:
    """What a checkpoint holds. The facts are in the paths, since a file whose paths differ is refused with both."""
    return {"of": {name: {fact: ""} for name, fact in known.items()}, "search": now}


def _resumed(file: Path, known: dict[str, str], now: Search) -> Search:
    """The search in a file."""
    try:
        return load(file, _signed(known, now))["search"]
    except CheckpointError as error:
        raise CheckpointError(
            f"this search cannot go on from `{file}`: {error} Or give another path as `checkpoint`."
        ) from error


def _round(task: Task, method: Method, now: Search, batch: int, keys: Key[Array, " seeds"]) -> Search:
    seeds = len(keys)
    asking, training = jnp.moveaxis(jax.vmap(lambda key: jr.split(key))(keys), 1, 0)
    state, codes = _asked(task, method, now.state, batch, asking)
    each = jax.vmap(lambda key: jr.split(key, batch))(training)
    out = trained(task, codes.reshape(seeds * batch, -1), each.reshape(-1))
    validation, stable = out.validation.reshape(seeds, batch), out.stable.reshape(seeds, batch)
    state = _told(task, method, state, codes, validation)
    rows = slice(now.round * batch, (now.round + 1) * batch)
    return Search(
        state,
        now.round + 1,
        now.codes.at[:, rows].set(codes),
        now.validation.at[:, rows].set(validation),
        now.stable.at[:, rows].set(stable),
    )


@eqx.filter_jit
def _begun(task: Task, method: Any, keys: Key[Array, " seeds"]) -> Any:
    return jax.vmap(lambda key: method.begin(task, jr.fold_in(key, BEFORE)))(keys)


@eqx.filter_jit
def _asked(task: Task, method: Any, state: Any, batch: int, keys: Key[Array, " seeds"]) -> Any:
    return jax.vmap(lambda state, key: method.ask(task, state, batch, key))(state, keys)


@eqx.filter_jit
def _told(task: Task, method: Any, state: Any, codes: Array, scores: Array) -> Any:
    return jax.vmap(lambda state, codes, scores: method.tell(task, state, codes, scores))(state, codes, scores)
