"""Algebras, coalgebras and keys at the front door: what is not one is refused before anything runs."""

import functools
import inspect
from typing import Any, get_origin, get_type_hints

import jax
import jax.numpy as jnp

from .._functors import Base, MealyF, MooreF
from .._functors.described import described
from .._functors.expected import unmade
from .._functors.usage import takes
from .._functors.words import an
from ..errors import CarrierMismatch, CdlError
from .algebras import Algebra, wants_key


def expect_algebras(of: str, algs: tuple[Any, ...], *, several: str = "one after the other") -> None:
    """**Raises:** `CdlError` where one of them is not an algebra. `several`: how the function `of` takes several."""
    for alg in algs:
        _expect(of, "an algebra", "reads one layer", alg, several)
        if inspect.isfunction(alg) and not (takes(alg, None) or wants_key(alg)) and takes(alg, None, None):
            raise CdlError(
                f"`{of}` takes an algebra, a function of one layer, and {described(alg)} takes two arguments. A step "
                "from the root down, of what a node inherits and its layer, is for `inherit`."
            )


def expect_coalgebras(
    of: str,
    coalgs: tuple[Any, ...],
    *,
    several: str = "one after the other",
    does: str = "gives one layer for a seed",
    key: Any = None,
    takes_key: bool = False,
) -> None:
    """**Raises:** `CdlError` where one of them is not a coalgebra, which is a function from a seed to a layer, or needs
    a key and gets none. `key`: the one that the function `of` was given, if it `takes_key` at all."""
    for coalg in coalgs:
        _expect(of, "a coalgebra", does, coalg, several)
        if key is None and wants_key(coalg) and not takes(coalg, None):
            write = "give one, `key=jax.random.key(0)`, or write" if takes_key else "write"
            raise CdlError(
                f"{described(coalg)} needs a `key`, and `{of}` has none for it: {write} its parameter `key=None`, for "
                "a pass in which nothing is drawn."
            )


def expect_seed_algebra(of: str, alg: Any) -> None:
    """**Raises:** `CdlError` where it is not a function of a seed and its layer of values."""
    _expect(of, "a function", "reads a seed and its layer of values", alg, "one after the other")
    if not takes(alg, None, None):
        raise CdlError(
            f"`{of}` takes a function of a seed and its layer of values, and {described(alg)} does not take two "
            "arguments: write `lambda seed, layer: …`."
        )


def expect_machine(of: str, machine: Any) -> None:
    """**Raises:** `CdlError` where it is not a machine, which is a function from a state to `MealyF` or `MooreF`."""
    does = "gives `MealyF(step)` or `MooreF(out, step)` for a state"
    _expect(of, "a machine", does, machine, "`parallel(a, b)`")
    if not takes(machine, None):
        if lone := _needed(machine):
            raise CdlError(
                f"`{of}` takes a machine, and {described(machine)} is called with a state alone where there is no "
                f"`{lone}`: give it a default, `{lone}=None`."
            )
        if takes(machine, None, None):
            raise CdlError(
                f"`{of}` takes a machine, and {described(machine)} takes two arguments, as a recurrent cell does: "
                "write a function of the state, `lambda h: MooreF(h, lambda x: cell(x, h))`, which shows its state."
            )
        raise CdlError(
            f"`{of}` takes a machine, and {described(machine)} does not take a state: write a function that {does}."
        )
    result = returned(machine)
    kind = get_origin(result) or result
    if isinstance(kind, type) and kind not in (Any, object) and not issubclass(kind, Base):
        gives = an(kind.__name__.rpartition(".")[2])
        raise CdlError(
            f"`{of}` takes a machine, and was given {described(machine)}, which says that it returns {gives}: give a "
            f"function that {does}, or `stateless(f)` of one from inputs to outputs."
        )


def _needed(machine: Any) -> str | None:
    """The keyword without a default for the lack of which alone a machine does not take a state."""
    each = inspect.signature(machine).parameters.values()
    needed = [x.name for x in each if x.kind is x.KEYWORD_ONLY and x.default is x.empty]
    return needed[0] if needed and takes(functools.partial(machine, **dict.fromkeys(needed)), None) else None


def expect_step(name: str, layer: Any) -> None:
    """**Raises:** `CarrierMismatch` where the `step` of a machine's layer is not a function."""
    if not callable(layer.step) or not takes(layer.step, None):
        raise CarrierMismatch(
            f"`{name}` gives a `{type(layer).__name__}` whose `step` is {described(layer.step)}: it is a function of "
            "an input, as in `MealyF(lambda i: (output, state))` or `MooreF(output, lambda i: state)`."
        )


def expect_answer(name: str, answer: Any) -> tuple[Any, Any]:
    """What a Mealy machine answers, and its next state. **Raises:** `CarrierMismatch` where it gives no such pair."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise CarrierMismatch(
            f"`{name}` answers with {described(answer)}: the `step` of a `MealyF` gives a pair, the output and the "
            "next state."
        )
    return answer


def expect_steps(of: str, steps: tuple[Any, ...]) -> None:
    """**Raises:** `CdlError` where one is not a step, from what a node inherits, and its layer, to a layer."""
    for step in steps:
        _expect(of, "a step", "gives the children's layer for `(value, layer)`", step, "in a tuple")


def expect_key(key: Any) -> None:
    """**Raises:** `CdlError` where anything other than a key is given as one.

    Examples:
        >>> cdl.checks.expect_key(jax.random.key(0))
        >>> cdl.checks.expect_key(0)
        Traceback (most recent call last):
            ...
        cdl.errors.CdlError: `key` is `0`, and a key comes from JAX: write `key=jax.random.key(0)`.
    """
    if key is None:
        return
    typed = isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    raw = hasattr(key, "dtype") and key.dtype == jnp.uint32 and jnp.ndim(key) == 1 and _is_key_data(key)
    if not (typed and jnp.ndim(key) == 0) and not raw:
        raise CdlError(f"`key` is {described(key)}, and a key comes from JAX: write `key=jax.random.key(0)`.")


def _is_key_data(key: Any) -> bool:
    """Whether an array is as long as a key is in this setting of JAX."""
    try:
        jax.eval_shape(jax.random.wrap_key_data, key)
    except TypeError:
        return False
    return True


def returned(fn: Any) -> Any:
    """What a function says that it returns; `None` where it does not tell."""
    try:
        return get_type_hints(fn if hasattr(fn, "__code__") else type(fn).__call__).get("return")
    except (AttributeError, NameError, TypeError):
        return None


def _expect(of: str, what: str, does: str, given: Any, several: str) -> None:
    if isinstance(given, Algebra) and what != "an algebra":
        write = f"an algebra reads layers, for `cata` and `fold`; write a function that {does}"
    elif unmade(given):
        write = f"make one, `{given.__name__}(…)`, and give that"
    elif isinstance(given, Base) and what == "an algebra":
        write = "the tree comes after the algebra, as in `cata(alg)(tree)` or `fold(alg, pack(signature, [tree]))`"
    elif isinstance(given, MealyF | MooreF):
        write = "that is its layer at one state, as `delay(0.0)` is; give the function, as `delay` is"
    elif callable(given):
        return
    elif isinstance(given, list | tuple) and given and all(map(callable, given)):
        write = f"for a family of sorts, give one for each, {several}"
    else:
        write = f"write a function that {does}" + (", or extend `Algebra`" if what == "an algebra" else "")
    raise CdlError(f"`{of}` takes {what}, and was given {described(given)}: {write}.")
