"""Learners: a composite with nothing open but its state and its data, and one step of learning with it."""

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any, final, Generic, Protocol

import equinox as eqx
import jax
from jaxtyping import Array, PRNGKeyArray
from typing_extensions import TypeVar

from .._engine.arrays.shapes import alike, of_lists, shown
from .._engine.calls._traced import noted
from .._functors.expected import expect_fields
from .._functors.words import first_line
from .._optics.letters import P
from .._optics.optic import Optic
from .._optics.parametric import Along, keyed
from .._schemes.expect import expect_key
from .._terms import Beside, Term
from ..errors import CdlError
from ._optax import told


K = TypeVar("K")  # what is kept from step to step
D = TypeVar("D")  # data
D_contra = TypeVar("D_contra", contravariant=True)


class Step(Protocol[K, D_contra]):
    """One step of learning: from a state and data to the next state, and the loss before."""

    def __call__(
        self, state: K, data: D_contra, /, *, key: PRNGKeyArray | None = None, **extra: Any
    ) -> tuple[K, Array]: ...


@final
class Learner(eqx.Module, Generic[K, D, P]):
    """A model, a loss and an optimiser, composed, and the state to start from. `step` gives the next state, and the
    loss before the step.

    Examples:
        >>> layers, losses, optimisers = (
        ...     cdl.learning.layers,
        ...     cdl.learning.losses,
        ...     cdl.learning.optimisers,
        ... )
        >>> model = layers.linear(1, 1, key=jax.random.key(0)).batched()
        >>> learner: cdl.Learner = cdl.supervised(model, losses.mse(), optimisers.adam(0.1))
        >>> inputs = jnp.array([[1.0], [2.0], [3.0]])
        >>> learn = lambda state, _: learner.step(state, (inputs, 5 * inputs))
        >>> state, loss_before = jax.lax.scan(learn, learner.state, length=400)
        >>> bool(loss_before[-1] < 1e-3)
        True
    """

    optic: Optic[tuple[K, D], Array, tuple[K, Any], Array]
    rate: Optic[Array, tuple[()], Array, tuple[()]]
    reader: Optic[K, P, Any, Any]
    state: K

    def __check_init__(self) -> None:
        expect_fields(self)

    @property
    def step(self) -> Step[K, D]:
        """One step of learning, as a function for `jax.jit` and `jax.lax.scan`: the next state, and the loss before.

        It takes a state and data. Where a layer draws random numbers, it takes a new `key` at each step. Other keywords
        are passed to the optimiser, where that is one of optax.

        **Raises:** `CdlError` where a layer wants a key and there is none, or the optimiser is not told what it wants.
        """

        def step(state: K, data: D, /, *, key: PRNGKeyArray | None = None, **extra: Any) -> tuple[K, Array]:
            expect_key(key)
            with _told(self.state, state, data):
                loss, residual = _forward(self.optic, (state, data), key)
            wish = self.rate.put(loss, ())

            def known() -> dict[str, Any]:
                at = lambda params: wish * _forward(_unlearning(self.optic), (params, data), key)[0]
                two = isinstance(self.reader.__term__(), Beside)
                return {"value": wish * loss, **({} if two else {"value_fn": at}), **extra}

            return told(self.optic, known).backward(residual, wish)[0], loss

        return step

    def params(self, state: K, /) -> P:
        """The parameters in a state, at which the model is looked at."""
        return self.reader.get(state)

    @property
    def closed(self) -> Optic[tuple[K, D], tuple[()], tuple[K, Any], tuple[()]]:
        """The composite, closed by its rate: it gives the next state, and a change of the data."""
        return self.optic >> self.rate

    def __term__(self) -> Term:
        return self.closed.__term__()


def _forward(optic: Any, pair: Any, key: Any) -> Any:
    """Forward, with a key for the layers that take one."""
    if key is not None:
        return keyed(optic, key).forward(pair)
    try:
        return optic.forward(pair)
    except (RuntimeError, TypeError) as why:
        if not _misses_key(first_line(why)):
            raise
        raise CdlError(
            f"a layer draws random numbers, and there is no key: {first_line(why)}. Write "
            "`step(state, data, key=key)`, with another key at each step."
        ) from why


@contextlib.contextmanager
def _told(begun: Any, state: Any, data: Any) -> Iterator[None]:
    """Around a step forward. **Raises:** `CdlError` for a state and data in the wrong order, data that are not a pair
    where a pair belongs, and shapes that the model does not take."""
    given = lambda: f"data of {shown(data)}"
    advice = (
        "give data of the shapes that the model and the loss take. A model of one example reads several as "
        f"`model.batched(n)`{of_lists(data)}"
    )
    try:
        with noted("step", given, advice):
            yield
    except CdlError:
        if alike(begun, state):
            raise
        raise CdlError(_ORDER) from None
    except (TypeError, ValueError) as error:
        if not alike(begun, state):
            raise CdlError(_ORDER) from error
        if of_lists(data):
            raise CdlError(f"`step` fails for data of {shown(data)} ({first_line(error)}){of_lists(data)}.") from error
        if "unpack" not in str(error):
            raise
        raise CdlError(
            f"`step` fails for data of {shown(data)} ({first_line(error)}): give a pair, `step(state, (inputs, "
            "targets))`."
        ) from error


_ORDER = (
    "the state of a learner does not have the structure of `learner.state`: the state comes first, as in "
    "`learner.step(learner.state, data)`."
)


def _misses_key(words: str) -> bool:
    """Whether an error says that a key is missing: Python's, of an argument, or one of Equinox's layers."""
    return "argument: 'key'" in words or "without a key" in words or "requires a key" in words or "`key`" in words


def _unlearning(optic: Any) -> Any:
    """A learner's composite without its optimiser: from parameters and data to the loss."""
    number = itertools.count()
    bare = lambda part: part.optic if isinstance(part, Along) and next(number) == 0 else part
    return jax.tree.map(bare, optic, is_leaf=lambda part: isinstance(part, Along))
