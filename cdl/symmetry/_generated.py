"""What some letters generate: all their products, numbered in the order in which they are found."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from .._functors.usage import with_usage
from ..errors import CdlError


E = TypeVar("E", bound=Hashable)


@with_usage
def generated(
    unit: E, letters: int, times: Callable[[int, E], E], limit: int, what: Any
) -> tuple[list[E], list[list[int]]]:
    """All products of letters, breadth first, and where each letter takes each of them.

    **Arguments:** `unit`: element 0. `times`: of the number of a letter and an element, their product, on whichever
    side. `limit`: of how many elements. `what`: generates them, for the error.

    **Returns:** the elements, and for each letter the number of its product with each element.

    **Raises:** `CdlError` where there are more elements than the limit.

    Examples:
        >>> elements, _ = cdl.symmetry.generated(
        ...     1, 1, lambda letter, x: 2 * x % 5, limit=9, what="doubling mod 5"
        ... )
        >>> elements
        [1, 2, 4, 3]
    """
    number, found, targets = {unit: 0}, [unit], [list[int]() for _ in range(letters)]
    for element in found:
        for letter, goes in enumerate(targets):
            made = times(letter, element)
            if made not in number:
                if len(found) == limit:
                    raise CdlError(f"{what} generates more than {limit} elements: `limit=…` takes more.")
                number[made] = len(found)
                found.append(made)
            goes.append(number[made])
    return found, targets
