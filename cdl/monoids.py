"""Monoids that `fold` and `annotate` read a `Seq` with, in any bracketing."""

# isort: off
from ._engine import check_monoid as check_monoid, with_resets as with_resets
from ._engine import linear_recurrence as linear_recurrence, matrices as matrices, max_plus as max_plus
from ._engine import min_plus as min_plus, transitions as transitions
