"""Running a case, and the verdict: equal, refused by name, or a failure.

| the compiled form          | its definitions          | the verdict                              |
| -------------------------- | ------------------------ | ---------------------------------------- |
| gives a value              | give it too              | `equal`: structure, shapes, types, values |
| raises a `CdlError`        | whatever they do         | `refused`, counted by its message        |
| raises                     | raise as well            | `no case`: the program itself is wrong   |
| anything else              |                          | a failure                                |
"""

import contextlib
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import jaxtyping
import numpy as np
from returns.result import Success

import cdl
from cdl._engine.arrays._platform import ACCELERATOR, CPU, taken_for

from .cases import Case


GIVEN = (
    "import functools\nfrom collections.abc import Callable\nfrom typing import Any, Generic, Never, TypeVar, Union\n"
)
PLATFORMS = {
    "a CPU": CPU,
    "a CPU, weights apart": replace(CPU, apart=0),
    "a CPU, products batched": replace(CPU, batched=True),
    "an accelerator": ACCELERATOR,
}
TOLERANCES = {"float64": 1e-8, "float32": 3e-4, "float16": 4e-2, "bfloat16": 2e-1}


@dataclass(frozen=True)
class Verdict:
    """`equal`, `refused`, `no case` or `failure`; what it is of, in a line that others of its kind have too."""

    kind: str
    why: str = ""
    detail: str = field(default="", compare=False)
    pair: Any = field(default=None, compare=False, repr=False)  # of a failure: what was compiled, and what is right


@contextlib.contextmanager
def as_a_user(x64: bool) -> Iterator[None]:
    """JAX as it is by default, on all threads: callbacks run on others, which do not see what `with` sets."""
    wanted = {"jax_enable_x64": x64, "jax_numpy_dtype_promotion": "standard", "jax_numpy_rank_promotion": "allow"}
    before = {name: getattr(jax.config, name) for name in wanted}
    try:
        for name, value in wanted.items():
            jax.config.update(name, value)
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


def run_for(platform: str, case: Case) -> Verdict:
    """The verdict of a case whose programs are made as for a platform; JAX keeps those that were made before."""
    with taken_for(PLATFORMS[platform]):
        return run(case)


def run(case: Case) -> Verdict:
    """The verdict of a case, run in this process. A cell may make much of a rounding: digits that differ are excused
    where those of the definition are as far from the numbers in double precision."""
    with as_a_user(case.x64):
        verdict = _run(case)
    random = case.algebra.keyed  # numbers that are others in double precision
    if not verdict.why.endswith("differs: values") or random or case.coarsest == "float64":
        return verdict
    if not _excused(case, verdict):
        return verdict
    return Verdict("equal", "but for rounding", verdict.detail)


def _excused(case: Case, verdict: Verdict) -> bool:
    with as_a_user(True):
        names = made(replace(case, x64=True, double=True))
        exact, error, _ = outcome(lambda: names["DEFINED"](names["plain"])(names["PARAMS"]))
    if error is not None:
        return False
    given = zip(*map(jax.tree.leaves, (*verdict.pair, exact)), strict=True)
    for leaves in given:
        if not jnp.issubdtype(jnp.asarray(leaves[1]).dtype, jnp.inexact):
            if not np.array_equal(*map(np.asarray, leaves[:2])):
                return False
            continue
        ours, plain, true = (np.asarray(x, "complex128") for x in leaves)
        room = 8 * np.max(np.abs(plain - true), initial=0) + 1e-6 * np.max(np.abs(true), initial=0)
        if not np.max(np.abs(ours - true), initial=0) <= room:
            return False
    return True


def made(case: Case) -> dict[str, Any]:
    """The names of a program that has run as far as its functions."""
    names: dict[str, Any] = dict(
        __name__="fuzzed", eqx=eqx, jax=jax, jnp=jnp, jr=jr, jaxtyping=jaxtyping, np=np, Success=Success, cdl=cdl
    )
    exec(compile(GIVEN + case.body, "<case>", "exec"), names)
    return names


def _run(case: Case) -> Verdict:
    try:
        names = made(case)
    except cdl.CdlError as e:
        return Verdict("refused", message(e), str(e))
    except Exception as e:
        return Verdict("failure", f"making: {message(e)}", traceback.format_exc(limit=-4))
    transform: Any = names["COMPILED"]
    plainly: Any = names["DEFINED"]
    compiled = outcome(lambda: transform(names["compiled"])(names["PARAMS"]))
    if isinstance(compiled[1], cdl.CdlError):
        return Verdict("refused", message(compiled[1]), str(compiled[1]))
    plain = outcome(lambda: plainly(names["plain"])(names["PARAMS"]))
    if plain[1] is not None:
        if compiled[1] is not None:
            return Verdict("no case", message(plain[1]), plain[2])
        return Verdict("failure", f"only plain recursion raises: {message(plain[1])}", plain[2])
    if compiled[1] is not None:
        return Verdict("failure", f"{case.form}, {case.transform} raises {message(compiled[1])}", compiled[2])
    tolerance = TOLERANCES[case.coarsest]
    # A Python number takes the type of what other cases return, which plain recursion does not know.
    typed = case.algebra.style != "number" and (case.lists is None or case.lists.state in ("vector", "pair"))
    if differs := difference(compiled[0], plain[0], tolerance, types=typed):
        pair = compiled[0], plain[0]
        return Verdict("failure", f"{case.form}, {case.transform} differs: {kind_of(differs)}", differs, pair)
    if case.transform not in ("value", "jitted"):
        return Verdict("equal")
    by_cdl = outcome(lambda: plainly(names["by_cdl"])(names["PARAMS"]))
    if by_cdl[1] is not None:
        return Verdict("failure", f"the definition of {case.form} raises {message(by_cdl[1])}", by_cdl[2])
    if differs := difference(by_cdl[0], plain[0], tolerance, types=False):
        return Verdict("failure", f"the definition of {case.form} differs: {kind_of(differs)}", differs)
    return Verdict("equal")


def outcome(f: Callable[[], Any]) -> tuple[Any, Exception | None, str]:
    """What a function gives, or the error that it raises, with where."""
    try:
        return jax.block_until_ready(f()), None, ""
    except Exception as e:
        return None, e, traceback.format_exc(limit=-5)


def difference(a: Any, b: Any, tolerance: float, *, types: bool = True) -> str:
    """How two results differ; nothing where they do not."""
    if jax.tree.structure(a) != jax.tree.structure(b):
        return f"structure: {jax.tree.structure(a)} and {jax.tree.structure(b)}"
    for path, x in jax.tree_util.tree_leaves_with_path(a):
        y = b
        for step in path:
            y = _at(y, step)
        if isinstance(x, str | bool) or isinstance(y, str | bool):
            if x != y:
                return f"values: {x} and {y}"
            continue
        if any(getattr(z, "dtype", None) == jax.dtypes.float0 for z in (x, y)):
            continue
        x, y = jnp.asarray(x), jnp.asarray(y)
        if x.shape != y.shape:
            return f"shapes: {x.shape} and {y.shape}"
        if types and x.dtype != y.dtype:
            return f"types: {x.dtype} and {y.dtype}, of {x} and {y}"
        loose = max(tolerance, *(TOLERANCES.get(str(z.dtype), 0) for z in (x, y)))
        u, v = (np.asarray(z).astype("complex128" if jnp.iscomplexobj(z) else "float64") for z in (x, y))
        exact = not jnp.issubdtype(x.dtype, jnp.inexact)
        scale = float(np.max(np.abs(np.where(np.isfinite(v), v, 0)), initial=0)) if not exact else 0.0
        if not np.allclose(
            u, v, rtol=0 if exact else loose, atol=0 if exact else loose * max(scale, 1e-2), equal_nan=True
        ):
            return f"values: {x} and {y}"
    return ""


def _at(tree: Any, step: Any) -> Any:
    if isinstance(step, jax.tree_util.GetAttrKey):
        return getattr(tree, step.name)
    return tree[step.key if isinstance(step, jax.tree_util.DictKey) else step.idx]


def kind_of(differs: str) -> str:
    kind, _, rest = differs.partition(":")
    return f"{kind}:{rest.partition(', of')[0]}" if kind == "types" else kind


def message(e: Exception) -> str:
    """An error in a line, without its names and numbers."""
    text = re.sub(r"`[^`]*`", "`…`", str(e).strip().split("\n")[0])
    text = re.sub(r"[0-9]+", "n", re.sub(r"[(\[{].*?[)\]}]", "(…)", text))
    return f"{type(e).__name__}: {text[:160]}"
