"""Payloads: one array for each place, of the annotated type, or else of JAX's default type for it."""

from typing import Any, get_args, get_origin

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from numpy.typing import NDArray

from ..._errors import PayloadMismatch
from ...functor._read import layout
from ...functor.poly import Const, walk


def stack(constructor: type[Any], leaf: int, values: list[Any]) -> NDArray[Any]:
    """The values of one payload leaf, one row for each, cast to the annotation's type.

    **Raises:** `PayloadMismatch` where shapes differ, where a value is no number, and where an integer does not fit.
    """
    name, annotation = _field(constructor, leaf)
    try:
        rows = np.array(values) if np.ndim(values[0]) == 0 else np.stack([np.asarray(v) for v in values])
    except (ValueError, TypeError, OverflowError):
        rows = _explain(name, values)
    if rows.dtype == object or (rows.dtype.kind not in "biufc" and not jnp.issubdtype(rows.dtype, jnp.inexact)):
        rows = _explain(name, values)
    return _cast(name, annotation, rows)


def _field(constructor: type[Any], leaf: int) -> tuple[str, Any]:
    record = layout(constructor)
    consts = [
        (n, t.of) for n, f in zip(record.names, record.factors, strict=True) for t in walk(f) if isinstance(t, Const)
    ]
    name, annotation = consts[leaf] if leaf < len(consts) else (consts[-1][0], None)
    return f"{constructor.__name__}.{name}", annotation


def _cast(name: str, annotation: Any, rows: NDArray[Any]) -> NDArray[Any]:
    kind, exact = wanted(annotation)
    target = jax.dtypes.canonicalize_dtype(rows.dtype) if exact is None else np.dtype(exact)
    if exact is None and kind == "f" and rows.dtype.kind in "biu":
        target = jax.dtypes.canonicalize_dtype(np.float64)
    if kind in ("i", "b") and rows.dtype.kind in "fc":
        raise PayloadMismatch(
            f"`{name}` is annotated as integers and holds `{rows.dtype}`: round the values, or annotate `Float`."
        )
    if target.kind in "iu" and rows.dtype.kind in "biu" and rows.size:
        low, high, info = rows.min(), rows.max(), np.iinfo(target)
        if low < info.min or high > info.max:
            worst, bound = (high, info.max) if high > info.max else (low, info.min)
            raise PayloadMismatch(
                f"`{name}` holds {worst}, and `{target}` ends at {bound}: the number would be changed. Number things "
                "from 0, or switch on `jax_enable_x64`."
            )
    return rows.astype(target, copy=False)


def wanted(annotation: Any) -> tuple[str | None, Any]:
    """The kind of number that an annotation asks for (`f`, `i`, `b` or none), and the exact type where it names one."""
    if annotation in (float, int, bool):
        return {float: "f", int: "i", bool: "b"}[annotation], None
    dtypes = getattr(annotation, "dtypes", None)
    if isinstance(dtypes, list | tuple) and dtypes:
        exact = dtypes[0] if len(dtypes) == 1 and isinstance(dtypes[0], str) else None
        kinds = {"b" if str(d).startswith("bool") else "i" if "int" in str(d) else "f" for d in dtypes}
        return (kinds.pop() if len(kinds) == 1 else None), exact if exact in _KNOWN else None
    if get_origin(annotation) is not None:
        inner = {wanted(a)[0] for a in get_args(annotation)}
        return (inner.pop() if len(inner) == 1 else None), None
    return None, None


_KNOWN = {f"{k}{b}" for k in ("int", "uint") for b in (8, 16, 32, 64)} | {"float16", "float32", "float64", "bool"}


def _explain(name: str, values: list[Any]) -> Any:
    """Says which value is no number, or which two shapes differ."""
    shapes: dict[Any, int] = {}
    for i, v in enumerate(values):
        if not isinstance(v, bool | int | float | complex) and not hasattr(v, "dtype"):
            raise PayloadMismatch(
                f"`{name}` holds a `{type(v).__name__}`, and a packed payload is a number or an array: number the "
                "values."
            )
        if isinstance(v, Tracer):
            raise PayloadMismatch(f"`{name}` holds a traced value: `pack` runs on the host, outside `jit` and `grad`.")
        shapes.setdefault(np.shape(v), i)
    if len(shapes) > 1:
        (a, i), (b, j), *_ = shapes.items()
        raise PayloadMismatch(
            f"`{name}` has shape {a} in one node (number {i} of its kind) and {b} in another (number {j}): give every "
            "node of a constructor the same shape, or write a constructor for each."
        )
    kinds = sorted({type(v).__name__ for v in values})
    raise PayloadMismatch(
        f"`{name}` holds values that make no array ({', '.join(kinds)}): give numbers within 64 bits."
    )
