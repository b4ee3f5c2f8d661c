"""The unfolding recurrent network: a coalgebra of streams, or of lists that end.

| the mathematics                                         | here                                                    |
| ------------------------------------------------------- | ------------------------------------------------------- |
| `P × S → O × S ≅ (P × S → O) × (P × S → S)`             | `Generator`: `out` and `next`                           |
| the map into the final coalgebra, `S → Stream O`        | `unfold`; `ana` for one seed                            |
| `P × S → 1 + O × S`, with a score for each summand      | `Decoder`: its seed keeps the letter that it chose last |
| how likely it is to grow given lists                    | `Decoder.log_prob`: by teacher forcing, a Mealy machine |
| a fold and then an unfold, `List A → S → List O`        | `Seq2Seq`                                               |

`Decoder` is autoregressive, because what was chosen is part of the next seed. `waves` and `reversals` have data to
learn from.

(Gavranović et al., *Categorical Deep Learning*, 2024, examples 2.15 and I.3.)

Examples:
    >>> from cdl_arch.unfolding import generator
    >>> waves = cdl.unfold(generator(4, key=jax.random.key(0)), jnp.zeros((3, 4)), 10)
    >>> waves.shape
    (3, 10)
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int, PRNGKeyArray

from cdl import choose, Cons, fold, ListF, MealyF, Nil, run, Seq, unfold
from cdl.functors import StreamF

from .folding import FromStart, gru
from .letters import letters_of


O = TypeVar("O")
S = TypeVar("S")
Vector = Float[Array, " width"]
Letter = Int[Array, ""]
Seed = tuple[Vector, Letter]


class Generator(eqx.Module, Generic[O, S]):
    """A stream: what a state shows, and the state after it."""

    out: Callable[[S], O]
    next: Callable[[S], S]

    def __call__(self, state: S, /) -> StreamF[O, S]:
        return StreamF(self.out(state), lambda: self.next(state))


class Decoder(eqx.Module):
    """A list of letters, each chosen in sight of those before it. Its seed is a state and the letter chosen last.

    Letters are numbered from 0. Of a seed at the beginning the letter is `begin`, which no list has in it.
    """

    letters: eqx.nn.Embedding
    cell: eqx.nn.GRUCell
    scores: eqx.nn.Linear
    begin: int = eqx.field(static=True)

    def __init__(self, letters: int, width: int, *, key: PRNGKeyArray) -> None:
        a, b, c = jr.split(key, 3)
        self.letters = eqx.nn.Embedding(letters + 1, width, key=a)
        self.cell = eqx.nn.GRUCell(width, width, key=b)
        self.scores = eqx.nn.Linear(width, letters + 1, key=c)
        self.begin = letters

    def __call__(self, seed: Seed, /) -> ListF[Letter, Seed]:
        state, last = seed
        after = self.cell(self.letters(last), state)
        ways: list[ListF[Letter, Seed]] = [Cons(a, (after, a)) for a in map(jnp.int32, range(self.begin))]
        return choose(self.scores(after), *ways, Nil())

    def forced(self, state: Vector, /) -> MealyF[tuple[Letter, Letter], Float[Array, ""], Vector]:
        """The machine that is told each letter and the one after it, and answers how likely that one was."""

        def step(pair: tuple[Letter, Letter]) -> tuple[Float[Array, ""], Vector]:
            last, letter = pair
            after = self.cell(self.letters(last), state)
            return jax.nn.log_softmax(self.scores(after))[letter], after

        return MealyF(step)

    def log_prob(self, states: Float[Array, "batch width"], lists: Seq[Letter]) -> Float[Array, " batch"]:
        """The logarithm of the probability of each list, its end included, from a state each.

        **Arguments:** `states`: one for each list. `lists`: a `Seq` of letters.

        **Raises:** `CdlError` for a letter that is not one of those that it writes.
        """
        letters, lengths = jnp.asarray(lists.values, jnp.int32), lists.lengths
        edge = jnp.full((letters.shape[0], 1), self.begin, jnp.int32)  # before the first letter, and after the last
        inside = jnp.arange(letters.shape[1])[None] < lengths[:, None]
        letters = letters_of(self.begin, letters, inside)
        ended = jnp.where(inside, letters, self.begin)
        pairs = jnp.concatenate([edge, ended], 1), jnp.concatenate([ended, edge], 1)
        answers, _ = run(self.forced, states, Seq(pairs, lengths + 1))
        return jnp.sum(answers.values, 1)


class Seq2Seq(eqx.Module):
    """A fold that reads a list of letters to a state, and an unfold that grows a list from it."""

    letters: eqx.nn.Embedding
    reader: FromStart[Vector, Vector]
    writer: Decoder

    def __init__(self, letters: int, width: int, *, key: PRNGKeyArray) -> None:
        a, b, c = jr.split(key, 3)
        self.letters = eqx.nn.Embedding(letters, width, key=a)
        self.reader = gru(width, width, key=b)
        self.writer = Decoder(letters, width, key=c)

    def read(self, lists: Seq[Letter]) -> Float[Array, "batch width"]:
        """The state that each list is read to."""
        values, lengths = jnp.asarray(lists.values), jnp.asarray(lists.lengths)
        inside = jnp.arange(values.shape[1])[None] < lengths[:, None]
        letters = jnp.where(inside, letters_of(self.writer.begin, values, inside), 0)
        return fold(self.reader, Seq(jnp.take(self.letters.weight, letters, axis=0), lengths))

    def log_prob(self, given: Seq[Letter], wanted: Seq[Letter]) -> Float[Array, " batch"]:
        """The log-probability of each target list.

        **Arguments:** `given`: a `Seq` of letters to read. `wanted`: a `Seq` of letters, one list for each.
        """
        return self.writer.log_prob(self.read(given), wanted)

    def write(self, given: Seq[Letter], nodes: int, *, key: PRNGKeyArray | None = None) -> Any:
        """The likeliest letter after letter, or with a key one that is drawn: `Lists` of at most `nodes` nodes each.

        **Arguments:** `given`: a `Seq` of letters to read. `nodes`: the most nodes of each list, its end
        included. `key`: to draw letters; without one, the best are taken.
        """
        states = self.read(given)
        begin = jnp.full(len(states), self.writer.begin, jnp.int32)
        return unfold(self.writer, (states, begin), nodes, key=key)


def generator(width: int, *, key: PRNGKeyArray) -> Generator[Float[Array, ""], Vector]:
    """A stream of numbers, whose state goes through a linear map and `tanh`.

    **Arguments:** `width`: of the state. `key`: for the weights.
    """
    a, b = jr.split(key)
    step = eqx.nn.Sequential([eqx.nn.Linear(width, width, key=b), eqx.nn.Lambda(jnp.tanh)])
    return Generator(eqx.nn.Linear(width, "scalar", key=a), step)


def waves(count: int, time: int, *, key: PRNGKeyArray) -> tuple[Float[Array, "count 2"], Float[Array, "count time"]]:
    """Points of a circle, and the stream of heights of each as it goes round, half a radian at a time.

    **Arguments:** `count`: how many. `time`: how many steps each has. `key`: for the numbers.
    """
    angles = jr.uniform(key, (count,), maxval=2 * jnp.pi)
    points = jnp.stack([jnp.cos(angles), jnp.sin(angles)], 1)
    return points, jnp.sin(angles[:, None] + 0.5 * jnp.arange(time, dtype=angles.dtype)[None])


def reversals(count: int, letters: int, time: int, *, key: PRNGKeyArray) -> tuple[Seq[Letter], Seq[Letter]]:
    """Words of up to `time` letters, and the same written backwards."""
    k, n = jr.split(key)
    words, lengths = jr.randint(k, (count, time), 0, letters), jr.randint(n, (count,), 0, time + 1)
    back = jnp.maximum(lengths[:, None] - 1 - jnp.arange(time)[None], 0)
    return Seq(words, lengths), Seq(jnp.take_along_axis(words, back, 1), lengths)
