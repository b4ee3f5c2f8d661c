"""A second derivative in reverse mode, refused by a sentence.

JAX does not go backwards through a loop whose number of turns is data, and the rules of the compiled forms, which take
the first derivative, are such loops. It says so of `lax.while_loop`, which the user did not write. So what leaves these
loops passes through `forwards_only`: an identity that forward mode goes through, and reverse mode refuses.
"""

from typing import Any, TypeVar

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ...errors import CdlError
from ..arrays.shapes import is_smooth


T = TypeVar("T")


def forwards_only(tree: T, why: str) -> T:
    """The arrays of a tree as they are. **Raises:** `CdlError` where reverse mode comes back to one: `why`."""
    same: T = jax.tree.map(lambda x: _identity.bind(x, why=why) if is_smooth(x) else x, tree)
    return same


def of_rule(*forms: str) -> str:
    """Why the rule of a compiled form has no derivative in reverse mode. `forms`: those that have this rule."""
    of = " or ".join(f"`{form}`" for form in forms)
    return (
        f"reverse mode goes a second time through {of}, as in `jax.grad` of `jax.grad`: its derivative is computed "
        "by loops that have one in forward mode alone. Write `jax.jacfwd(jax.grad(f))`, `jax.hessian(f)`, or "
        "`jax.jvp(jax.grad(f), (x,), (v,))` for the Hessian times `v`."
    )


def of_forward(of: str) -> str:
    """Why a compiled form without its rule has no derivative in reverse mode."""
    return (
        f"reverse mode goes through `{of}` with `forward=True`, which leaves out its rule of reverse mode: leave "
        "`forward=True` out, or use forward mode, `jax.jvp` or `jax.jacfwd`."
    )


def _refuse(_: Any, *__: Any, why: str) -> Any:
    raise CdlError(why)


_identity = Primitive("forwards_only")
_identity.def_impl(lambda x, why: x)
_identity.def_abstract_eval(lambda x, why: x)
ad.deflinear2(_identity, _refuse)
batching.defvectorized(_identity)
mlir.register_lowering(_identity, lambda ctx, x, why: [x])
