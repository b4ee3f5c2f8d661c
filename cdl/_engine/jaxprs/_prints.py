"""What a function prints while it runs: `jax.debug.print` and `jax.debug.callback`.

A compiled form computes with more rows than there are nodes, and may compute a case twice. So a case is traced to a
jaxpr that prints, and `silent` gives the one that computes the same values and prints nothing. Values and derivatives
are made by the second; the first runs once for each node (`folds._telling`).
"""

from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from ...errors import CdlError
from ._jaxprs import changed, needed


PRINTS = "debug_callback", "debug_print"
EFFECTS = "DebugEffect", "OrderedDebugEffect"
RULED = "custom_jvp_call", "custom_vjp_call", "custom_vmap_call"


def prints(jaxpr: Jaxpr) -> bool:
    """Whether something is printed where a jaxpr runs."""
    return any(map(_is_print, jaxpr.effects))


def expect_no_prints(jaxpr: Jaxpr, name: str, instead: str) -> None:
    """**Raises:** `CdlError` where the function `name` prints. `instead`: the definition, where it can."""
    if prints(jaxpr):
        raise CdlError(
            f"`{name}` prints, by `jax.debug.print` or `jax.debug.callback`, and this compiled form would not print "
            f"once for each node: run it by its definition, `{instead}`, or print what comes out."
        )


def silent(case: ClosedJaxpr) -> ClosedJaxpr:
    """The jaxpr with the same constants that prints nothing.

    **Raises:** `CdlError` where it prints inside a function with a derivative rule or a rule of `vmap`.
    """
    return ClosedJaxpr(_silent(case.jaxpr), case.consts) if prints(case.jaxpr) else case


def _silent(jaxpr: Jaxpr) -> Jaxpr:
    if not prints(jaxpr):
        return jaxpr
    eqns = [_without(eqn) for eqn in jaxpr.eqns if eqn.primitive.name not in PRINTS]
    return jaxpr.replace(eqns=needed(jaxpr.outvars, eqns), effects=_others(jaxpr.effects))


def _without(eqn: JaxprEqn) -> JaxprEqn:
    if not any(map(_is_print, eqn.effects)):
        return eqn
    if eqn.primitive.name in RULED:
        raise CdlError(
            "a case prints, by `jax.debug.print` or `jax.debug.callback`, inside a function with a rule for its "
            "derivative or for `vmap`: print outside of that function."
        )
    params = {name: changed(x, _silent) for name, x in eqn.params.items()}
    return eqn.replace(params=params, effects=_others(eqn.effects))


def _others(effects: Any) -> Any:
    return {e for e in effects if not _is_print(e)}


def _is_print(effect: object) -> bool:
    return type(effect).__name__ in EFFECTS
