"""Ways to search, behind one protocol: a state, codes that it asks for, and what it learns from their trainings.

| the method                    | how it asks                                                                       |
| ----------------------------- | --------------------------------------------------------------------------------- |
| `Random`                      | all codes are equally likely                                                      |
| `Pruned(score, share)`        | random codes, without the `share` of them that a score finds worst                |
| `Evolution`                   | a mutation of the best of a few of the youngest: regularised evolution            |
| `Controller`                  | a distribution that REINFORCE moves to codes that did well                        |

A state is a pytree of arrays, and `ask` and `tell` are pure: searches from many seeds run in one `vmap`, and a state is
kept in a file. An accuracy that is NaN counts as worse than all others, or to a controller as 0.

Sources: Real et al., Regularized evolution for image classifier architecture search (2019); Zoph and Le, Neural
architecture search with reinforcement learning (2016).
"""

from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from cdl.checks import whole
from cdl.errors import CdlError

from ._scores import ranked, Score, scored, to_draw
from ._space import simplex
from ._task import Task


Codes = Int[Array, "n places"]


class Method(Protocol):
    """A way to search. It is hashable: what changes is in its state.

    Examples:
        >>> from cdl_arch.search import Evolution, Method, Random
        >>> methods: list[Method] = [Random(), Evolution(population=6, tournament=2)]
        >>> [method.cost for method in methods]
        [0, 0]
    """

    @property
    def cost(self) -> int:
        """How many trainings its preparation costs, which are taken from the budget."""
        ...

    def begin(self, task: Task, key: PRNGKeyArray) -> Any:
        """The state before the first round: here belongs what the method learns before it asks.

        **Arguments:** `task`: what is searched for. `key`: for random numbers.
        """
        ...

    def ask(self, task: Task, state: Any, n: int, key: PRNGKeyArray) -> tuple[Any, Codes]:
        """The `n` codes to train next, and the state after asking.

        **Arguments:** `task`: what is searched for. `state`: from `begin` or `tell`. `n`: how many codes. `key`: for
        random numbers.
        """
        ...

    def tell(self, task: Task, state: Any, codes: Codes, scores: Float[Array, " n"]) -> Any:
        """The state that knows the accuracies of these.

        **Arguments:** `task`, `state`: as for `ask`. `codes`: what was trained. `scores`: how well each did.
        """
        ...


class Untold:
    """A method that learns nothing from the trainings of its codes."""

    def tell(self, task: Task, state: Any, codes: Codes, scores: Float[Array, " n"]) -> Any:
        """The state as it was."""
        return state


@dataclass(frozen=True)
class Random(Untold):
    """Random search: the baseline that every other method has to beat.

    **Arguments:** `cost`: how many trainings are taken from the budget before the first round.

    Examples:
        >>> from cdl_arch.search import Random
        >>> Random()
        Random(cost=0)
    """

    cost: int = 0

    def begin(self, task: Task, key: PRNGKeyArray) -> Any:
        return ()

    def ask(self, task: Task, state: Any, n: int, key: PRNGKeyArray) -> tuple[Any, Codes]:
        return state, task.space.drawn(task.space.level(), n, jr.split(key)[0])


@dataclass(frozen=True)
class Pruned(Untold):
    """Random search among the codes that a score leaves, in the order in which they were drawn.

    **Arguments:** `score`: such as `isometry`; the codes with the least are left. `share`: how much of what was drawn
    is left out; 0 is random search, to the last bit. `inits`: over how many first parameters a score is taken. `cost`:
    how many trainings are taken from the budget before the first round.

    **Raises:** `CdlError` for a share that is not from 0 to below 1, and for `inits` below 1.

    Examples:
        >>> from cdl_arch.search import isometry, Pruned
        >>> half = Pruned(isometry, 0.5)
        >>> Pruned(isometry, 1.0)
        Traceback (most recent call last):
            ...
        cdl.errors.CdlError: the share to leave out is 1.0, and is from 0 to below 1.
    """

    score: Score
    share: float
    inits: int = 1
    cost: int = 0

    def __post_init__(self) -> None:
        to_draw(1, self.share)
        whole("inits", self.inits)

    def begin(self, task: Task, key: PRNGKeyArray) -> Any:
        return ()

    def ask(self, task: Task, state: Any, n: int, key: PRNGKeyArray) -> tuple[Any, Codes]:
        first, rest = jr.split(key)
        drawn = task.space.drawn(task.space.level(), to_draw(n, self.share), first)
        if len(drawn) == n:
            return state, drawn
        left = ranked(scored(self.score, task, drawn, rest, self.inits))[:n]
        return state, drawn[jnp.sort(left)]


@dataclass(frozen=True)
class Evolution:
    """Regularised evolution: in each round the oldest die, however good they are.

    **Arguments:** `population`: how many live. `tournament`: how many of these are compared for each child. `cost`: how
    many trainings are taken from the budget before the first round.

    **Raises:** `CdlError` where one of the two is below 1, and for a tournament of more than live.

    Examples:
        >>> from cdl_arch.search import Evolution
        >>> Evolution(population=6, tournament=2)
        Evolution(population=6, tournament=2, cost=0)
        >>> Evolution(population=2, tournament=6)
        Traceback (most recent call last):
            ...
        cdl.errors.CdlError: `tournament` is 6, and `population` 2: compare as many as live, or fewer.
    """

    population: int = 10
    tournament: int = 4
    cost: int = 0

    def __post_init__(self) -> None:
        whole("population", self.population)
        whole("tournament", self.tournament)
        if self.tournament > self.population:
            raise CdlError(
                f"`tournament` is {self.tournament}, and `population` {self.population}: compare as many as live, or "
                "fewer."
            )

    def begin(self, task: Task, key: PRNGKeyArray) -> tuple[Codes, Float[Array, " n"]]:
        return jnp.zeros((self.population, len(task.space.sizes)), jnp.int32), jnp.full(self.population, -jnp.inf)

    def ask(self, task: Task, state: Any, n: int, key: PRNGKeyArray) -> tuple[Any, Codes]:
        codes, scores = state
        fresh, change, games = jr.split(key, 3)
        several = jr.randint(games, (n, self.tournament), 0, self.population)
        parents = codes[jnp.take_along_axis(several, scores[several].argmax(-1)[:, None], 1)[:, 0]]
        children = jax.vmap(task.space.mutated)(parents, jr.split(change, n))
        new = task.space.drawn(task.space.level(), n, fresh)
        grown = jnp.isfinite(scores).all()  # until then the population is filled at random
        return state, jnp.where(grown, children, new)

    def tell(self, task: Task, state: Any, codes: Codes, scores: Float[Array, " n"]) -> Any:
        held, known = state
        worth = jnp.where(jnp.isnan(scores), -1.0, scores)
        return tuple(jnp.concatenate([a, b])[-self.population :] for a, b in ((held, codes), (known, worth)))


@dataclass(frozen=True)
class Controller:
    """REINFORCE on a product of distributions: `∇ log p(code)` times how much better the code was than the mean.

    **Arguments:** `rate`: of REINFORCE, by which the logits move. `cost`: how many trainings are taken from the budget
    before the first round.

    **Raises:** `CdlError`, when it is asked for a round of one code: its score is the mean, and it learns nothing.

    Examples:
        >>> from cdl_arch.search import Controller
        >>> Controller(rate=2.0)
        Controller(rate=2.0, cost=0)
    """

    rate: float = 2.0
    cost: int = 0

    def begin(self, task: Task, key: PRNGKeyArray) -> Float[Array, "places most"]:
        return task.space.level()

    def ask(self, task: Task, state: Any, n: int, key: PRNGKeyArray) -> tuple[Any, Codes]:
        if n < 2:
            raise CdlError(
                f"a round of {n} codes has none to compare, and a controller learns by that: ask for 2 or more."
            )
        return state, task.space.drawn(state, n, key)

    def tell(self, task: Task, state: Any, codes: Codes, scores: Float[Array, " n"]) -> Any:
        return reinforced(state, codes, scores, self.rate)


def reinforced(
    logits: Float[Array, "places most"], codes: Codes, scores: Float[Array, " n"], rate: float
) -> Float[Array, "places most"]:
    """Logits after one step of REINFORCE, with the mean score as the baseline. A NaN counts as the score 0."""
    given: Bool[Array, " n"] = jnp.isfinite(scores)
    worth = jnp.where(given, scores, 0.0)
    gain = worth - worth.mean()
    chosen = jax.nn.one_hot(codes, logits.shape[-1])
    slope = (gain[:, None, None] * (chosen - simplex(logits)[None])).mean(0)
    return jnp.where(jnp.isfinite(logits), logits + rate * slope, logits)
