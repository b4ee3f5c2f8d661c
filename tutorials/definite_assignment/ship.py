"""Trains the judge that comes with `cdl_arch.demo`: `PYTHONPATH=tutorials python -m definite_assignment.ship`.

It learns from the standard library's training files and keeps the epoch that is best on the validation files. The
accuracy on the test files is printed and written into the file of weights. On one machine, with one Python, the
weights come out the same each time.
"""

import platform

import jax.random as jr
import numpy as np
import optax

from cdl import Corpus, fold, pack
from cdl.io import export_safetensors
from cdl_arch.data import stdlib
from cdl_arch.demo import _judge as shipped, BOUND, DefiniteF, exact, state_of
from cdl_arch.train import one_cycle, train

from ._examples import balanced, collect
from .classify import Judge, Trees


EPOCHS, BATCH = 12, 64


def main() -> None:
    found = collect()
    states = np.asarray(state_of(fold(exact, pack(DefiniteF, found.trees))))
    examples = found.pick(kept := balanced(states, found.splits))
    bound, parts = states[kept] == BOUND, examples.splits
    rows = [np.flatnonzero(parts == part) for part in range(3)]
    data = Trees(Corpus(DefiniteF, examples.trees), bound, rows[stdlib.TRAIN], BATCH)

    def accuracy(judge: Judge, part: int) -> float:
        return float(np.mean(data.answers(judge, rows[part]) == bound[rows[part]]))

    run = train(
        shipped.untrained(jr.key(0)),
        lambda epoch: data.batches(0, epoch),
        data.loss,
        lambda judge: accuracy(judge, stdlib.VALIDATION),
        optimiser=optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1.0, weight_decay=0.1)),
        rate=one_cycle(data.steps * EPOCHS, 5e-3),
        epochs=EPOCHS,
        key=jr.key(100),
    )
    said = {
        "trained_on": f"{len(rows[stdlib.TRAIN]):,} statements of the library of Python {platform.python_version()}",
        "accuracy": f"{accuracy(run.best, stdlib.TEST):.3f} on {len(rows[stdlib.TEST]):,} held-out statements",
    }
    export_safetensors(shipped.WEIGHTS, run.best, metadata=said)
    print(*said.values(), f"{shipped.WEIGHTS.stat().st_size:,} bytes", sep="\n")


if __name__ == "__main__":
    main()
