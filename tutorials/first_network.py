# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # The first network: definite assignment
#
# *After this `if`, `for`, `while`, `try`, `with` or `match` has finished normally, is the variable certainly bound?*
# A type checker asks this before it warns that a name is "possibly unbound". There is an exact answer, and it is an
# algebra: what a statement does to a name is composed from what its parts do. A recursive network is an algebra too,
# of **the same functor**, with its cells learnt from examples. So one can be held against the other, on any statement
# and at every node of it, and one can ask whether a network whose structure is right goes on being right on statements
# far larger than those it has seen.
#
# The examples are the compound statements of Python's own standard library, and the answers come from a program, the
# exact algebra, not from people. A network is of no use here: we have the truth. It is here to be looked at.
#
# This page is a program. `make first-network` runs it, `python tutorials/first_network.py --check FILE` asks both
# algebras about a file of yours, and `--help` lists the rest.

# %%
import argparse
import ast
import inspect
import itertools
import json
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import matplotlib.pyplot as plt
import numpy as np
import optax
from returns.result import Success

import definite_assignment as definite
from cdl import cata, Corpus, decorate, fold, functor, pack
from cdl.functors import holes
from cdl.io import load, save
from cdl_arch.data import stdlib
from cdl_arch.recursive import gated, n_ary
from cdl_arch.train import one_cycle, Run, train
from definite_assignment import (
    AFTER,
    baselines,
    BOUND,
    DefiniteF,
    exact,
    figures,
    MAYBE,
    SPINES,
    UNREACHABLE,
)
from definite_assignment.classify import Judge, Texts, Trees
from definite_assignment.figures import BLUE, GREEN, VERMILION


parser = argparse.ArgumentParser(
    description="Definite assignment, exactly and by a network."
)
parser.add_argument("--full", action="store_true", help="three seeds of every model")
parser.add_argument(
    "--tiny",
    action="store_true",
    help="a few files, small networks, four epochs: a trial",
)
parser.add_argument(
    "--check",
    type=Path,
    metavar="FILE",
    help="ask both algebras about a file, after a first run",
)
parser.add_argument(
    "--resume",
    action="store_true",
    help="go on from the checkpoints of a run that was broken off",
)
parser.add_argument(
    "--out",
    type=Path,
    default=Path("runs/first-network"),
    help="for figures and checkpoints",
)
options = parser.parse_args(sys.argv[1:])

began = time.perf_counter()
width, batch_size, epochs = (8, 32, 4) if options.tiny else (32, 64, 12)
seeds = {
    "gated": 2 if options.tiny else 3,
    "Tree-LSTM": 3 if options.full else 1,
    "GRU": 3 if options.full else 1,
}
small, large = (
    25,
    40,
)  # trained on statements up to the one, tested on those beyond the other

# %% [markdown]
# ## The shape of a statement
#
# We ask about one name at a time. Other names, literals and operators do not change the answer, so they are not in the
# signature. It has the ways in which statements are made of statements. A block is a list, and so are the handlers of a
# `try` and the cases of a `match`. Here is every constructor, as a summand of the functor:

# %%
by_shape: dict[str, list[str]] = {}
for summand in functor(DefiniteF).summands:
    by_shape.setdefault(str(summand), []).append(summand.constructor.__name__)
for shape, names in by_shape.items():
    print(f"{shape:>3}   {', '.join(names)}")

# %% [markdown]
# `Bind` stands where the name is bound, and the leaves after `Continue` are statements that do nothing to it, each
# under its own name. A network has to learn that they do nothing.
#
# Take one statement, and watch `x`:

# %%
text = """\
for item in items:
    if item.ready:
        x = item
        break
else:
    raise LookupError
"""
statement = definite.tree_of(ast.parse(text).body[0], "x")
print(statement)

# %% [markdown]
# ## Two algebras of one functor
#
# There are three states before and after a statement: the name is bound, it may be unbound, or nothing gets here at
# all. A statement turns each state before it into a state after it, one at a `break` and one at a `continue`: a table
# of 3 × 3 small integers. The exact algebra, `definite_assignment.exact`, has such tables as its carrier, and reads
# one layer of a statement, a line or two for each constructor:

# %%
print(inspect.getsource(exact.fn))

# %% [markdown]
# That is all of it. `cata` reads a whole statement with it:

# %%
ANSWERS = {UNREACHABLE: "never gets there", BOUND: "bound", MAYBE: "maybe unbound"}


def answer(table: Any) -> Any:
    """From a table, the state after a statement before which a name may be unbound."""
    return table[..., AFTER, MAYBE]


print("after the loop, x is", ANSWERS[int(answer(cata(exact)(statement)))])

# %% [markdown]
# The learnt algebra has vectors as its carrier. `gated` makes it out of the functor: each constructor gets a cell of
# its own, with a forget gate for each place that its summand has; a constructor that is a leaf gets a vector. To turn a
# vector into an answer there is a linear map beside the algebra, the head. Together they are a judge:


# %%
def new_judge(make: Any, seed: int) -> Judge:
    in_algebra, in_head = jr.split(jr.key(seed))
    return Judge(
        make(DefiniteF, width, dropout=0.1, key=in_algebra),
        width,
        dropout=0.1,
        key=in_head,
    )


untrained = new_judge(gated, 0)
logit = untrained.read(cata(untrained.algebra)(statement))
print(
    "the probability that x is bound, before any training: "
    f"{float(jax.nn.sigmoid(logit)):.2f}"
)
print(
    f"{baselines.parameter_count(untrained):,} numbers to learn "
    f"in {len(untrained.algebra.cells)} cells"
)

# %% [markdown]
# ## A file of yours
#
# Both algebras read any file. With `--check FILE` this program asks them about it: here, if it has trained a judge
# before; if not, at its end.


# %%
def check(file: Path, judge: Judge) -> None:
    """Prints what both algebras say of each statement of a file and each name in it."""
    match stdlib.parse(file):
        case Success(module):
            pairs = definite.Reader(None).read(module)
        case failure:
            print(f"{file} cannot be read: {failure.failure()}")
            return
    if not pairs:
        print(f"{file} has no compound statement that binds a name")
        return
    forest = pack(DefiniteF, [pair.tree for pair in pairs])
    states = np.asarray(answer(fold(exact, forest)))
    chances = np.asarray(jax.nn.sigmoid(judge(forest)))
    agree = (chances > 0.5) == (states == BOUND)
    asked = states != UNREACHABLE
    print(
        f"{file}: {len(pairs)} questions, {np.sum(~asked)} of them about statements "
        "that never finish normally"
    )
    for state in (BOUND, MAYBE):
        of = asked & (states == state)
        print(
            f"  {ANSWERS[state]:>14}: {np.sum(of):5}, "
            f"and the network agrees at {np.sum(of & agree)}"
        )
    for pair, state, chance in zip(pairs, states, chances, strict=True):
        if state != UNREACHABLE and (chance > 0.5) != (state == BOUND):
            where = f"lines {pair.line}-{pair.end}"
            print(
                f"  {where}: `{pair.name}` is {ANSWERS[int(state)]}; "
                f"the network gives {chance:.2f} to bound"
            )


trained = options.out / f"judge{'-tiny' if options.tiny else ''}.ckpt"
if options.check and trained.exists():
    check(options.check, load(trained, untrained))
    raise SystemExit

# %% [markdown]
# ## Examples: the standard library
#
# Every compound statement of the library is a question about each name that it binds. Files are split in three by the
# hash of their path, and each distinct tree is one example, of the first part that has it. The labels are one `fold` of
# the exact algebra over all trees at once. Statements that never finish normally are dropped; "maybe unbound" is by far
# the commoner answer, so as many of these are kept in each part as there are of the other.

# %%
files = sorted(stdlib.files(), key=stdlib.split_of)
found = definite.collect(files[::8] if options.tiny else files)
states = np.asarray(answer(fold(exact, pack(DefiniteF, found.trees))))
examples = found.pick(kept := definite.balanced(states, found.splits))
bound, parts, sizes = states[kept] == BOUND, examples.splits, examples.sizes
corpus = Corpus(DefiniteF, examples.trees)
nodes = corpus.nodes

print(
    f"{len(found.trees):,} distinct trees, "
    f"{np.mean(states == MAYBE):.0%} of them maybe unbound"
)
for part, name in enumerate(stdlib.SPLITS):
    print(
        f"{name:>12}: {np.sum(parts == part):5,} trees, "
        f"of mean size {sizes[parts == part].mean():.0f}"
    )
print(
    f"a tree has {nodes.mean():.0f} nodes on average and {nodes.max()} at most, "
    "lists unrolled"
)

# %% [markdown]
# There are two tasks. In the first, networks are trained and tested on statements of all sizes. In the second they are
# trained, and the best epoch chosen, on statements of size at most 25, and tested on those of size over 40.


# %%
class Task(NamedTuple):
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


held = np.flatnonzero(parts != stdlib.TRAIN)
tasks = {
    "same": Task(*(np.flatnonzero(parts == part) for part in range(3))),
    "large": Task(
        np.flatnonzero((parts == stdlib.TRAIN) & (sizes <= small)),
        np.flatnonzero((parts == stdlib.VALIDATION) & (sizes <= small)),
        np.flatnonzero((parts != stdlib.TRAIN) & (sizes > large)),
    ),
}
for name, task in tasks.items():
    print(
        f"{name:>6}: "
        + ", ".join(
            f"{len(rows):,} to {verb}"
            for verb, rows in zip(Task._fields, task, strict=True)
        )
    )

# %% [markdown]
# Both algebras read the same packed forest. The state of the network is a pair of vectors, as in any LSTM: `hidden` is
# what the cell shows, and `memory` is what it keeps for the node above. The head reads `hidden`.

# %%
forest = corpus[tasks["same"].train[:batch_size]]
tables, hidden = fold(exact, forest), fold(untrained.algebra, forest).hidden
print(
    f"{len(forest)} trees, {forest.size} nodes, {forest.depth} levels: "
    f"tables {tables.shape}, vectors {hidden.shape}"
)
one = int(tasks["same"].train[0])
assert np.array_equal(tables[0], cata(exact)(examples.trees[one]))
assert jnp.allclose(
    hidden[0], cata(untrained.algebra)(examples.trees[one]).hidden, atol=1e-5
)

# %% [markdown]
# ## What a network has to beat
#
# Four models that do not compose: the commoner answer; and logistic regression on how many nodes of each constructor
# there are, on pairs of a node and its child, and on the paths from the root, with a path's steps numbered. The last is
# the strongest, and knows nearly everything there is to know about a small statement.

# %%
results: dict[
    str, dict[str, list[np.ndarray]]
] = {}  # model, task: for each seed, which of `held` are right
features = {
    "bag": baselines.bag,
    "pairs": baselines.edges,
    "paths": baselines.paths(*SPINES),
}


def of(rows: np.ndarray) -> tuple[list[Any], np.ndarray]:
    return [examples.trees[i] for i in rows], bound[rows]


for name in ("majority", *features):
    results[name] = {}
    for regime, task in tasks.items():
        if name == "majority":
            commoner = np.mean(bound[task.test]) >= 0.5
            right = bound[held] == commoner
        else:
            linear = baselines.fit_linear(
                features[name], *of(task.train), *of(task.validation)
            )
            right = linear.predict(examples.pick(held).trees) == bound[held]
        results[name][regime] = [right]


def accuracies(name: str, regime: str) -> np.ndarray:
    """The share of the test trees that are answered rightly, for each seed."""
    tested = np.isin(held, tasks[regime].test)
    return np.array([np.mean(right[tested]) for right in results[name][regime]])


for name in results:
    print(
        f"{name:>10}: "
        + ", ".join(f"{accuracies(name, regime)[0]:.3f} {regime}" for regime in tasks)
    )

# %% [markdown]
# ## Learning the algebra
#
# A batch is a forest of 64 trees, drawn so that every batch has some small and some large ones and about as many nodes
# as any other. To the compiled program a forest is data: all epochs of both tasks, with thousands of different shapes,
# run in one program for each kind of network, and this is asserted.


# %%
optimiser = optax.chain(
    optax.clip_by_global_norm(1.0), optax.adamw(1.0, weight_decay=0.1)
)


# %% [markdown]
# The other recurrent model is a GRU that reads the tree written out, symbol by symbol and with brackets, with about as
# many parameters as the network with a cell for each constructor. It is a fold as well, of a list: the structure is
# there for it to find. Its batches are of texts of like length.

# %%
alphabet = baselines.Alphabet(DefiniteF, SPINES)
texts = [alphabet.write(tree) for tree in examples.trees]
parameters = baselines.parameter_count(untrained)
makers: dict[str, Callable[[int], Any]] = {
    "gated": lambda seed: new_judge(gated, seed),
    "Tree-LSTM": lambda seed: new_judge(n_ary, seed),
    "GRU": lambda seed: baselines.GruReader.of_size(
        len(alphabet), parameters, key=jr.key(seed)
    ),
}


one_bucket = Trees(
    corpus, bound, tasks["same"].train, batch_size
).bucket  # there is room in it for both tasks


def data_for(name: str, task: Task) -> Trees | Texts:
    """The data as a model learns from it."""
    if name == "GRU":
        return Texts(texts, bound, task.train, batch_size)
    return Trees(corpus, bound, task.train, batch_size, one_bucket)


# %% [markdown]
# Each is trained for the same number of epochs, and the epoch that is best on the validation part is kept. A checkpoint
# is written after each, from which `--resume` goes on to the same numbers as an unbroken run. Programs are compiled
# once, and kept on disk for the next run (`cache=False` leaves that out). The tree networks are trained one after
# another, and beside them, on the other core, the GRU; so times are those of a machine that is busy.

# %%
suffix = "-tiny" if options.tiny else ""


def trained_once(data: Any, name: str, regime: str, seed: int) -> Run[Any]:
    """One model, trained on one task from one seed."""
    asked = tasks[regime].validation
    return train(
        makers[name](seed),
        lambda epoch: data.batches(seed, epoch),
        data.loss,
        lambda model: float(np.mean(data.answers(model, asked) == bound[asked])),
        optimiser=optimiser,
        rate=one_cycle(data.steps * epochs, 5e-3),
        epochs=epochs,
        key=jr.key(100 + seed),
        checkpoint=options.out / f"{name}-{regime}-{seed}{suffix}.ckpt",
        resume=options.resume,
        title=f"{name}, {regime}, seed {seed}",
    )


runs: dict[tuple[str, str], list[Run[Any]]] = {
    pair: [] for pair in itertools.product(seeds, tasks)
}
results |= {name: {regime: [] for regime in tasks} for name in seeds}


def train_each(names: tuple[str, ...]) -> None:
    """Trains models one after another, on each task and from each seed."""
    for name, regime in itertools.product(names, tasks):
        data: Any = data_for(name, tasks[regime])
        for seed in range(seeds[name]):
            run = trained_once(data, name, regime, seed)
            runs[name, regime].append(run)
            results[name][regime].append(data.answers(run.best, held) == bound[held])
            print(
                f"{name:>10}, {regime:>5}, seed {seed}: "
                f"{accuracies(name, regime)[-1]:.3f} of the test trees, after "
                f"epoch {run.best_epoch + 1} of {epochs}; "
                f"{np.median(run.seconds):.2f} s an epoch"
            )


with ThreadPoolExecutor() as pool:
    list(pool.map(train_each, [("gated", "Tree-LSTM"), ("GRU",)]))

learnt = runs["gated", "same"][0].best
save(trained, learnt)
programs = {
    f"{name}, {regime}": max(run.programs for run in some)
    for (name, regime), some in runs.items()
}
assert all(many <= 4 for what, many in programs.items() if "GRU" not in what), programs
print("programs compiled for all steps of all epochs and seeds:", programs)

# %% [markdown]
# ## What came out
#
# Accuracy on the test trees; where there are several seeds, their mean and standard deviation. There are some 350 test
# trees in the last column: a difference of two points there means nothing.


# %%
def share(name: str, regime: str) -> str:
    values = accuracies(name, regime)
    return f"{values.mean():.3f}" + (
        f" ± {values.std(ddof=1):.3f}" if len(values) > 1 else ""
    )


def table() -> str:
    rows = [
        f"{'':<28}{'parameters':>10}{'all sizes':>16}"
        f"{f'≤ {small}, then > {large}':>18}{'fastest epoch':>15}"
    ]
    for name, title in TITLES.items():
        parameters = seconds = ""
        if (name, "same") in runs:
            parameters = f"{baselines.parameter_count(runs[name, 'same'][0].best):,}"
            seconds = f"{np.min([run.seconds for run in runs[name, 'same']]):.2f} s"
        rows.append(
            f"{title:<28}{parameters:>10}"
            f"{share(name, 'same'):>16}{share(name, 'large'):>18}{seconds:>15}"
        )
    return "\n".join(rows)


TITLES = {
    "majority": "the commoner answer",
    "bag": "bag of constructors",
    "pairs": "parent-child pairs",
    "paths": "paths from the root",
    "GRU": "GRU on the tree written out",
    "Tree-LSTM": "Tree-LSTM, a cell by arity",
    "gated": "a cell for each constructor",
}
print(table())

# %% [markdown]
# With three seeds of every model, as `make first-network-full` trains them:

# %%
full = Path(sys.argv[0]).parent / "first_network_full.txt"
if options.full:
    full.write_text(f"Python {sys.version.split()[0]}\n\n{table()}\n")
if full.exists():
    print(full.read_text())

# %% [markdown]
# ## Learning curves
#
# After one epoch the network with a cell for each constructor is past the strongest linear model, and after a few it is
# right on nearly all of the validation part.

# %%
STYLE = {
    "gated": ("cell by constructor", BLUE),
    "Tree-LSTM": ("Tree-LSTM", GREEN),
    "GRU": ("GRU, written out", VERMILION),
    "paths": ("paths", "#707070"),
    "pairs": ("pairs", "#909090"),
    "bag": ("bag", "#A8A8A8"),
    "majority": ("commoner answer", "#BBBBBB"),
}


def keep(figure: Any, name: str) -> None:
    figure.savefig(options.out / f"{name}.png", dpi=150, bbox_inches="tight")


scores = {name: [run.scores for run in runs[name, "same"]] for name in seeds}
lowest = min(0.85, *(np.min(some) for some in scores.values()))
figure, axes = plt.subplots(figsize=(7.2, 3.8))
figures.plain(
    axes,
    "Learning what is certainly assigned",
    xlabel="epoch",
    ylabel="validation accuracy",
    ylim=(lowest - 0.01, 1.004),
)
models = [figures.Curve(*STYLE[name], some) for name, some in scores.items()]
figures.curves(axes, range(1, epochs + 1), models, apart=(1.014 - lowest) / 16)
axes.set_xticks(range(1, epochs + 1))
keep(figure, "learning-curves")

# %% [markdown]
# ## Accuracy against size
#
# To the left, trained on all sizes. To the right, trained on statements of size at most 25, those in the grey band, and
# tested on all. A model that has learnt what each constructor does has no reason to fail on larger statements.


# %%
edges = [0, 10, 18, 25, 32, 40, 55, 75, 150]
tested = np.isin(held, tasks["same"].test)
bins = [
    tested & (sizes[held] > low) & (sizes[held] <= high)
    for low, high in itertools.pairwise(edges)
]
bins = [rows for rows in bins if rows.any()]
middles = [float(sizes[held][rows].mean()) for rows in bins]
figure, both = plt.subplots(
    1, 2, figsize=(10.5, 4.4), sharey=True, gridspec_kw={"wspace": 0.4}
)
for axes, regime in zip(both, tasks, strict=True):
    models = [
        figures.Curve(
            *STYLE[name],
            [[right[rows].mean() for rows in bins] for right in some[regime]],
            name in seeds,
        )
        for name, some in results.items()
    ]
    title = (
        "trained on all sizes"
        if regime == "same"
        else f"trained on sizes up to {small}"
    )
    figures.plain(
        axes, title, xlabel="size of the statement", xscale="log", ylim=(0.3, 1.015)
    )
    figures.curves(axes, middles, models, apart=0.04)
    axes.set_xticks([10, 20, 40, 80], ["10", "20", "40", "80"])
    axes.minorticks_off()
both[0].set_ylabel("accuracy on test trees")
both[1].axvspan(both[1].get_xlim()[0], small, color="#F3F3F3", zorder=0)
keep(figure, "accuracy-by-size")

# %% [markdown]
# ## Inside one statement
#
# Both algebras give a value to every node of a statement, not only to its root: that is `decorate`. So they can be
# compared everywhere, through the head. The network was only ever told the answer for whole compound statements. At
# their roots it is nearly always right. At other nodes, such as a block's tail or a leaf, nobody asked it, and it may
# keep what it needs in any form.


# %%
def outline(tree: Any, judge: Judge) -> list[figures.Node]:
    """Every node in pre-order, with what both algebras say there; members of a list are
    at one depth."""
    lines, stack = [], [(0, decorate(exact)(tree), decorate(judge.algebra)(tree))]
    while stack:
        depth, table, vector = stack.pop()
        state, chance = (
            int(answer(table.head)),
            float(jax.nn.sigmoid(judge.read(vector.head))),
        )
        agrees = None if state == UNREACHABLE else (chance > 0.5) == (state == BOUND)
        lines.append(
            figures.Node(
                depth,
                type(table.tail).__name__,
                ANSWERS[state],
                f"{chance:.2f}",
                agrees,
            )
        )
        below = [
            (depth + 1, *pair)
            for pair in zip(holes(table.tail), holes(vector.tail), strict=True)
        ]
        if isinstance(table.tail, SPINES):
            below[-1] = (depth, *below[-1][1:])
        stack += reversed(below)
    return lines


def kinds(tree: Any) -> set[str]:
    """The names of the constructors in a tree."""
    found, stack = set(), [tree]
    while stack:
        stack += holes(node := stack.pop())
        found.add(type(node).__name__)
    return found


def code(i: int) -> list[str]:
    return textwrap.dedent(examples.sources[i].text()).splitlines()


fitting = [
    i
    for i in tasks["same"].test
    if 18 <= nodes[i] <= 34 and len(code(i)) <= 22 and max(map(len, code(i))) <= 64
]
chosen = max(fitting, key=lambda i: (len(kinds(examples.trees[i])), -i))
source = examples.sources[chosen]
question = (
    f"{stdlib.relative(source.path)}, line {source.line}: is `{source.name}` bound?"
)
heads = {"name": "the node", "exactly": "exactly", "learnt": "learnt: bound?"}
figure = figures.outline(
    question, code(chosen), outline(examples.trees[chosen], learnt), heads
)
keep(figure, "one-statement")

# %% [markdown]
# ## What to notice
#
# - **There is one program.** `gated` makes an `Algebra`, and `exact` is one; `cata`, `fold` and `decorate` run both.
# - **Nothing was tied.** A cell is used at every node of its constructor because an algebra *is* one map for each
#   constructor; there was never a second copy of a weight.
# - **The structure extrapolates, as far as the cells are right.** Where the network errs on large statements it is on
#   nests of `while True` and `try`, whose tables are the ones that differ most from a sequence.
#
# **Next:** [your own signature](your-own-signature.md).

# %%
outcome = {
    "counts": {
        name: int(np.sum(parts == part)) for part, name in enumerate(stdlib.SPLITS)
    },
    "accuracy": {
        name: {regime: accuracies(name, regime).tolist() for regime in tasks}
        for name in results
    },
    "programs": programs,
}
(options.out / f"outcome{suffix}.json").write_text(json.dumps(outcome, indent=1))
if options.check:
    check(options.check, learnt)
after = ", after the training that it was resumed from" if options.resume else ""
print(f"all of it took {time.perf_counter() - began:.0f} s{after}")
