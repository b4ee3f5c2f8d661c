"""`ahead`: items made on other threads before they are asked for."""

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar


I = TypeVar("I")
B = TypeVar("B")


def ahead(
    make: Callable[[I], B], items: Iterable[I], *, workers: int = 1, depth: int = 2, executor: Executor | None = None
) -> Generator[B, None, None]:
    """`map(make, items)`, with the next `depth` of them made beforehand. What `make` raises comes out where its item
    would have. The threads end with the last item, and when the generator is closed.

    **Arguments:** `make`: of one item. `workers`: how many threads; with 0, everything is made when it is asked for.
    `depth`: how many are made beforehand, at least 1. `executor`: runs them instead of threads, of any kind that
    `concurrent.futures` has.
    """
    if workers < 1 and executor is None:
        yield from map(make, items)
        return
    own = executor or ThreadPoolExecutor(workers, "ahead")
    todo = iter(items)
    pending: deque[Future[B]] = deque()
    try:
        pending.extend(own.submit(make, item) for item in islice(todo, max(depth, 1)))
        while pending:
            made = pending.popleft().result()
            pending.extend(own.submit(make, item) for item in islice(todo, 1))
            yield made
    finally:
        if not sys.is_finalizing():  # at the end of Python threads have ended, and their modules are gone
            for future in pending:
                future.cancel()
            if executor is None:
                own.shutdown(wait=True, cancel_futures=True)
