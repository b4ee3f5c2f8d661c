"""Many searches from one pool of trainings: architectures are trained once, and searches resampled.

One search has a lucky or an unlucky winner. A pool of `n` architectures, each trained from a few seeds, gives the mean
over thousands of searches at the cost of one training of the pool:

| the step of a search                         | here                                                                 |
| -------------------------------------------- | -------------------------------------------------------------------- |
| draw candidates                              | rows of the pool, without repetition: `trainings / (1 - share)`      |
| leave out the worst by a score               | all but `trainings` of them; NaN is worst                            |
| train, and choose                            | the greatest validation accuracy of seed 0; of equals the first drawn |
| what was found                               | the mean test accuracy of the other seeds; NaN counts as 0           |
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from cdl.checks import whole, with_usage
from cdl.errors import CdlError

from ._scores import to_draw


class Pool(NamedTuple):
    """Architectures trained from several seeds each.

    **Arguments:** `validation`, `test`: the accuracy of each architecture from each seed; NaN where a training did not
    stay finite. `stable`: which of the trainings were stable, as in `Outcome`.

    Examples:
        >>> import numpy as np
        >>> from cdl_arch.search import Pool
        >>> accuracies = np.array(
        ...     [[0.5, 0.6], [0.8, 0.7]]
        ... )  # of two architectures, from two seeds each
        >>> pool = Pool(accuracies, accuracies, np.ones((2, 2), bool))
        >>> pool.test.shape
        (2, 2)
    """

    validation: Float[np.ndarray, "n seeds"]
    test: Float[np.ndarray, "n seeds"]
    stable: Bool[np.ndarray, "n seeds"]


class Resampled(NamedTuple):
    """The results of the resampled searches.

    **Arguments:** `accuracy`: the mean test accuracy of what it found, over the seeds after the first. `stable`: the
    share of its trainings, each from the first seed, that were stable.

    Examples:
        >>> import numpy as np
        >>> from cdl_arch.search import bootstrap, Pool, Resampled
        >>> accuracies = np.array(
        ...     [[0.5, 0.6], [0.8, 0.7]]
        ... )  # of two architectures, from two seeds each
        >>> pool = Pool(accuracies, accuracies, np.ones((2, 2), bool))
        >>> searches: Resampled = bootstrap(pool, 2, draws=10)
        >>> searches.accuracy.shape
        (10,)
    """

    accuracy: Float[np.ndarray, " draws"]
    stable: Float[np.ndarray, " draws"]


@with_usage
def bootstrap(
    pool: Pool,
    trainings: int,
    *,
    scores: Float[np.ndarray, " n"] | None = None,
    share: float = 0.0,
    draws: int = 2000,
    seed: int = 0,
) -> Resampled:
    """Searches of `trainings` trainings each, resampled from a pool.

    **Arguments:** `pool`: the trainings to draw from. `trainings`: how many each search has. `draws`: how many
    searches. `seed`: of the draws. `scores`: of each architecture, the less the better. `share`: how much of what is
    drawn is left out.

    **Raises:** `CdlError` where the pool is too small for one search or has one seed, where `share` has no `scores`
    or is not from 0 to below 1, for no trainings, and for arrays of other shapes.

    Examples:
        >>> import numpy as np
        >>> from cdl_arch.search import bootstrap, Pool
        >>> accuracies = np.array(
        ...     [[0.5, 0.6], [0.8, 0.7]]
        ... )  # of two architectures, from two seeds each
        >>> pool = Pool(accuracies, accuracies, np.ones((2, 2), bool))
        >>> bool(bootstrap(pool, 2).accuracy.mean() > bootstrap(pool, 1).accuracy.mean())
        True
    """
    shapes = {name: np.shape(array) for name, array in pool._asdict().items()}
    if len(set(shapes.values())) > 1 or len(shapes["validation"]) != 2:
        raise CdlError(f"the arrays of a pool have one shape, (architectures, seeds), and these have {shapes}.")
    n, seeds = pool.validation.shape
    if scores is not None and np.shape(scores) != (n,):
        raise CdlError(f"`scores` is of shape {np.shape(scores)}, and the pool has {n} architectures: give ({n},).")
    whole("draws", draws, least=0)
    if whole("trainings", trainings, least=0) < 1:
        raise CdlError(f"a search of {trainings} trainings finds nothing: give 1 or more.")
    drawn = to_draw(trainings, share)
    if drawn > n or seeds < 2 or (scores is None and share > 0):
        raise CdlError(
            f"a search draws {drawn} architectures, and the pool has {n}, each from {seeds} seeds: a pool has as many "
            "as are drawn, from 2 seeds or more; and a share to leave out needs scores."
        )
    rng = np.random.default_rng(seed)
    value = np.where(np.isnan(pool.validation[:, 0]), -np.inf, pool.validation[:, 0])
    others = np.nan_to_num(pool.test[:, 1:], nan=0.0).mean(1)
    rows = np.argsort(rng.random((draws, n)), 1)[:, :drawn]
    if scores is not None:
        left = np.argsort(scores[rows], 1, kind="stable")[:, :trainings]
        rows = np.take_along_axis(rows, np.sort(left, 1), 1)  # in the order in which they were drawn
    found = rows[np.arange(draws), value[rows].argmax(1)]
    return Resampled(others[found], pool.stable[rows, 0].mean(1))
