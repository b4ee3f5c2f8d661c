"""A user's function, traced for many nodes at once: what only runs on one node is refused by a sentence.

| what it does                  | why not                                         | what to write               |
| ----------------------------- | ----------------------------------------------- | --------------------------- |
| `if x > 0:`, `float(x)`       | the program is compiled before there is a value | `jnp.where`, `jax.lax.cond` |
| `np.tanh(x)`                  | NumPy computes at once                          | `jnp.tanh(x)`               |
| `jax.grad` through a `Many`   | its children are those of many nodes            | `jax.grad` of `fold`        |
| keeps an array, as in a memo   | one compiled program alone can read it          | the array made outside      |
| gives a string, or a function | a value is kept in an array                     | numbers, or `cata`          |
"""

import contextlib
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from ..._functors.described import described
from ..._functors.many import Many, source_of
from ..._functors.users_line import told, users_line
from ..._functors.words import first_line
from ..._schemes.algebras import apply, name_of
from ...errors import CarrierMismatch, CdlError
from ..arrays.shapes import shown
from ..numbers._as_defined import as_defined
from ..numbers._differing import Differs, is_integer
from ..numbers._types import expect_in_type


NEEDS_VALUE = (  # what JAX raises where Python or NumPy asks what a traced number is
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


@contextlib.contextmanager
def without_values(name: str, where: str) -> Iterator[None]:
    """Around a call of the function `name`, `where` it is. **Raises:** `CdlError` where it asks for a value."""
    try:
        with without_leaks(name):
            yield
    except Differs as error:
        raise told(error.told(name, where), error) from error
    except jax.errors.TracerArrayConversionError as error:
        raise told(
            f"`{name}` gives NumPy a traced array {where}, and NumPy computes at once, not in the compiled program: "
            "write `jnp` for `np`.",
            error,
        ) from error
    except (ValueError, AssertionError) as error:
        bare = isinstance(error, AssertionError) and not str(error) and _raised_in(error, "jax")  # of `jax.jacfwd`
        if not bare and not str(error).startswith("Linearization failed"):
            raise
        raise told(
            f"`{name}` takes a derivative {where} through a `Many`, which has none inside a case: differentiate the "
            "compiled form itself, or annotate the field `tuple[X, ...]`.",
            error,
        ) from error
    except ZeroDivisionError as error:
        raise told(
            f"`{name}` divides by zero {where}: divide by what is never 0, or decide by `jnp.where`. `mean(zero)` of a "
            "`Many` is `zero` where it has no child.",
            error,
        ) from error
    except NEEDS_VALUE as error:
        raise told(
            f"`{name}` asks for the value of a number {where}, {_asked(error)}, and one compiled "
            f"program runs for all nodes, whatever their values: {_instead(error)}.",
            error,
        ) from error
    except jax.errors.NonConcreteBooleanIndexError as error:
        raise told(
            f"`{name}` indexes an array with a truth value {where}, which JAX reads as a mask: write `jnp.where(x, a, "
            "b)`, or index with `jnp.asarray(x, int)`.",
            error,
        ) from error
    except OverflowError as error:
        if not any(words in str(error) for words in ("Python int", "argument to a jitted computation")):
            raise
        raise told(
            f"`{name}` gives JAX a whole number {where} that its type has no room for ({error}): write a float, or "
            "switch on `jax_enable_x64`.",
            error,
        ) from error
    except AttributeError as error:
        if not isinstance(error.obj, Tracer):
            raise
        if hasattr("", str(error.name)) and is_integer(error.obj) and not error.obj.shape:
            raise told(
                f"`{name}` uses `.{error.name}` of a payload {where}. Texts have it, and in an encoded tree a word is "
                'its number: compare that, `word == words.id("and")`, or compute with the text before the tree is '
                "encoded.",
                error,
            ) from error
        if not any(hasattr(n, str(error.name)) for n in (0, 0.0, 0j)):
            raise
        raise told(
            f"`{name}` uses `.{error.name}` of a number {where}. Python's numbers have it, and traced arrays do not: "
            "write it with `jnp`.",
            error,
        ) from error
    except TypeError as error:
        if "unhashable type" in str(error) and "Tracer" in str(error):
            raise told(
                f"`{name}` hashes a number {where}, as a look-up in a `dict`, `functools.cache` or `jax.checkpoint` of "
                "a module does, and one compiled program runs for all nodes, whatever their values: index an array, "
                "`jnp.array([…])[x]`, compare, `(x == 2) | (x == 3)`, or use `eqx.filter_checkpoint`.",
                error,
            ) from error
        if "Integers cannot be raised to negative powers" in str(error):
            raise told(
                f"`{name}` raises a whole number to a negative power {where}, which gives a real number in Python, and "
                "an error for an array of whole numbers: write `1.0 / n`, or `(1.0 * n)**-1`.",
                error,
            ) from error
        if "does not accept dtype bool" not in str(error):
            raise
        raise told(
            f"`{name}` reckons with truth values {where}, which those of an array do not allow: write `1 * a - b`, "
            "say, or `jnp.logical_not(a)`.",
            error,
        ) from error


def _instead(error: Exception) -> str:
    """What to write where a value is asked for."""
    if isinstance(error, jax.errors.TracerIntegerConversionError):
        return "index an array, `jnp.asarray(xs)[i]`, and loop by `jax.lax.fori_loop`"
    if "`float` function" in str(error):
        return "write `jnp.asarray(x, float)` for `float(x)`, and `jnp.sqrt(x)` for `math.sqrt(x)`"
    if "`int` function" in str(error):
        return "write `jnp.asarray(x, int)` for `int(x)`"
    return "write `jnp.where(x > 0, a, b)`, or `jax.lax.cond`"


def _asked(error: Exception) -> str:
    """Where a value is asked for: the user's line, where it is known."""
    line = users_line(error)
    return f"in `{line[0]}` at line {line[1]}" if line and line[0] else "as in `if x > 0:` or `float(x)`"


@contextlib.contextmanager
def told_with(name: str, given: str | Callable[[], str], advice: str, *, of_number: str = "") -> Iterator[None]:
    """Around a call of the user's function `name` with what was `given`, arrays of some shapes; a function where the
    words are to be found only for an error. `of_number`: more advice, for where a vector was asked for.

    **Raises:** `CdlError` with these shapes where JAX or Equinox refuses an operation in it, such as a product of
    arrays that do not fit, or Python refuses one on a traced array. Another error stays what it is, with a note of the
    shapes.
    """
    try:
        yield
    except CdlError:
        raise
    except (TypeError, ValueError, IndexError) as error:
        if "Tracer" not in str(error) and not _raised_in(error, "jax", "equinox"):
            error.add_note(f"cdl called `{name}` for {_words(given)}.")
            raise
        line = first_line(error)
        more = f"; {of_number}" if of_number and "must have ndim at least 1" in line else ""
        raise CdlError(f"`{name}` fails for {_words(given)} ({line}): {advice}{more}.") from error
    except RuntimeError as error:
        if "requires a key" not in str(error):
            raise
        raise CdlError(
            f"`{name}` draws at random for {_words(given)}, and has no key: let it take one, as a parameter "
            "`key=None`, and give `key=` to the compiled form; or switch dropout off, `eqx.nn.inference_mode(model)`."
        ) from error
    except AttributeError as error:
        error.add_note(f"cdl called `{name}` for {_words(given)}.")
        raise


def _words(given: str | Callable[[], str]) -> str:
    return given if isinstance(given, str) else given()


def _raised_in(error: Exception, *packages: str) -> bool:
    """Whether the line that raised is in one of these packages."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).partition(".")[0] in packages


@contextlib.contextmanager
def without_leaks(name: str) -> Iterator[None]:
    """Around a call of the function `name`. **Raises:** `CdlError` where it reads an array of another program."""
    try:
        yield
    except jax.errors.UnexpectedTracerError as error:
        kind = re.search(r"with type (\w+\[[\d,]*\])", str(error))
        raise CdlError(
            f"`{name}` keeps an array{f', {kind[1]},' if kind else ''} that was made while it was traced, as in a "
            "table under `functools.cache` or a memo in a `dict`: it is a part of that compiled program, and no other "
            "can read it. Make the array outside of the case, or as a NumPy array."
        ) from error


@contextlib.contextmanager
def without_varying() -> Iterator[None]:
    """Around a call under `jax.shard_map`. **Raises:** `CdlError` where it checks along which axes values vary."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if not any(words in str(error) for words in ("varying manual axes", "manual axis types")):
            raise
        raise CdlError(
            "a compiled form is called inside `jax.shard_map` with `check_vma=True`, the default, which follows along "
            "which axes each number varies; the loops of cdl do not tell: write `jax.shard_map(…, check_vma=False)`, "
            "or use `cdl.compiled.shard_mean`, which does."
        ) from error


def applied(alg: Any, layer: Any, key: Any = None) -> Any:
    """The algebra at a layer of traced values: `apply`, and numbers in the end.

    **Raises:** `CdlError` where it asks for a value, `CarrierMismatch` where it gives anything other than numbers.
    """
    name, kind = name_of(alg), type(layer).__name__
    told = told_with(
        name,
        lambda: f"`{_without_children(layer)}`",
        f"write the case of `{kind}` for fields of these shapes",
        of_number='a number is read by `eqx.nn.Linear("scalar", …)`',
    )
    with told, without_values(name, f"at `{kind}`"):
        value = apply(alg, as_defined(layer), key)
    for x in jax.tree.leaves(value):
        if not is_number(x):
            raise CarrierMismatch(
                f"`{name}` gives {described(x)} at `{kind}`, and a compiled carrier is made of numbers and arrays: "
                "number the values, or read one tree at a time with `cata`."
            )
        if isinstance(x, bool | int | float | complex):
            expect_in_type(x, f"`{name}`", f" at `{kind}`")
    return value


class _Children:
    """In place of a `Many`, whose children cannot be listed: the shapes of one."""

    def __init__(self, many: Many[Any]) -> None:
        child = getattr(source_of(many), "child", None)
        self.shown = "" if child is None else f"{' '.join(shown(child).split())}, "

    def __repr__(self) -> str:
        return f"Many({self.shown}…)"


def _without_children(layer: Any) -> str:
    """A layer with the shapes of its fields; of a `Many` those of one child."""
    is_many: Any = lambda x: isinstance(x, Many)
    fields = {n: getattr(layer, n) for n in layer.__match_args__}
    plain = {
        n: jax.tree.map(lambda x: _Children(x) if is_many(x) else x, x, is_leaf=is_many) for n, x in fields.items()
    }
    each = ", ".join(f"{n}={' '.join(shown(x).split())}" for n, x in plain.items())
    return f"{type(layer).__name__}({each})"


def is_number(x: Any) -> bool:
    """Whether a leaf is a number or an array of numbers, or of keys."""
    if isinstance(x, bool | int | float | complex | jax.Array):
        return True
    kind = getattr(x, "dtype", None)
    return kind is not None and (jnp.issubdtype(kind, jnp.number) or jnp.issubdtype(kind, jnp.bool_))


@contextlib.contextmanager
def reverse_only(of: str, instead: str) -> Iterator[None]:
    """Around a reverse rule. **Raises:** `CdlError` where forward mode meets it. `instead`: what to write."""
    try:
        yield
    except TypeError as error:
        if "custom_vjp" not in str(error) or "jvp" not in str(error):
            raise
        raise CdlError(
            f"forward-mode differentiation (`jax.jvp`, `jax.jacfwd`) goes through `{of}`, which has a rule for reverse "
            f"mode alone: {instead}. A `jax.custom_vjp` in an algebra has no second derivative: write it as a "
            "`jax.custom_jvp`."
        ) from error
