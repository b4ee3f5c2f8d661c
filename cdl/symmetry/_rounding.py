"""What counts as zero, where equations are solved in rounded numbers: a number between is refused, never decided.

Entries are known to the precision of the type that they were given in: matrices of float32 are not solved as if they
were exact.
"""

from typing import NamedTuple

import numpy as np

from ..errors import CdlError


EXACT = float(np.finfo(np.float64).eps)
LEAST = 1e3 * EXACT  # what elimination in double precision leaves of zeros


class Rounding(NamedTuple):
    """Below `zero`, a number is zero; above `sure`, it is not. Both are over the size of what was added up."""

    zero: float
    sure: float
    exact: bool = True  # whether the entries are known as `float64` has them

    @staticmethod
    def of(precision: float) -> "Rounding":
        """For entries that are known to a relative precision, such as 2e-16."""
        zero = max(20 * precision, LEAST)
        return Rounding(zero, max(20 * zero, 5e-7), precision <= EXACT)

    @staticmethod
    def of_factors(precision: float) -> "Rounding":
        """For products of factors that are known to a relative precision, for each factor."""
        return Rounding(16 * precision, max(320 * precision, 5e-7), precision <= EXACT)

    def split(self, sizes: np.ndarray) -> np.ndarray:
        """Which of some sizes are not zero. **Raises:** `CdlError` where one is neither."""
        found = sizes > self.zero
        between = sizes[found & (sizes < self.sure)]
        if len(between):
            raise CdlError(
                f"the equations of these generators have no clear rank: {between.max():.1e} is neither zero nor "
                f"clearly not zero, where rounding is {self.zero:.0e}. Give matrices in float64, with exact entries "
                "that differ less in size."
            )
        return found
