"""Layers, each a parametrised optic: a map with its reverse derivative, and its parameters at a point.

| the layer             | forward                 | back, on a change `y'`          | parameters                   |
| --------------------- | ----------------------- | ------------------------------- | ---------------------------- |
| `linear(n, m)`        | `(M, x) ↦ M x`          | `(y' ⊗ x, Mᵀ y')`               | `<m,n>`                      |
| `bias(n)`             | `(b, x) ↦ b + x`        | `(y', y')`                      | `<n>`                        |
| `activation(σ)`       | `x ↦ σ(x)`              | `((), R[σ](x, y'))`             | `<0>`                        |
| `dense(n, m, σ)`      | `linear >> bias >> activation`, with the numbers that `eqx.nn.Linear` starts from       ||
| `conv(n, m, k)`       | a convolution in two dimensions, with the numbers of `eqx.nn.Conv2d`                    ||
| `fold(alg)`           | trees or lists, read by an algebra: its way back is backpropagation through structure    ||
| `run(machine, state)` | a sequence, run by a machine: backpropagation through time                              ||

Any other module is a layer by `ParaOptic.of(module)`. A layer takes one input; `model.batched(n)` takes `n`.

Examples:
    >>> layers = cdl.learning.layers
    >>> model = layers.dense(2, 4, jnp.tanh, key=jax.random.key(0)) >> layers.bias(4)
    >>> model(jnp.ones(2)).shape, model.param_types
    ((4,), ('<4,2>', '<4>', '<0>', '<4>'))
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from .._engine import fold as the_fold, run as the_run
from .._functors.usage import whole, with_types, with_usage
from .._optics.para_optic import ParaOptic
from .._para import Para
from .._schemes.algebras import wants_key
from .._schemes.expect import expect_algebras, expect_machine


@with_usage
def linear(inputs: int, outputs: int, *, key: PRNGKeyArray) -> ParaOptic[Array, Array, Array]:
    """`x ↦ M x`.

    **Arguments:** `inputs`, `outputs`: the sizes of the vectors. `key`: for the weights.
    """
    whole("inputs", inputs)
    whole("outputs", outputs, least=0)
    weight = eqx.nn.Linear(inputs, outputs, use_bias=False, key=key).weight
    return ParaOptic.of(Para(weight, lambda m, x: m @ x), source=(inputs,), name="linear")


@with_types
def bias(size: int, at: Array | None = None) -> ParaOptic[Array, Array, Array]:
    """`x ↦ b + x`, at first with `b = 0`, or as given."""
    whole("size", size, least=0)
    start = jnp.zeros(size) if at is None else at
    return ParaOptic.of(Para(start, lambda b, x: x + b), source=(size,), name="bias")


@with_types
def activation(
    fn: Callable[..., Array], *, source: Any = None, name: str | None = None
) -> ParaOptic[tuple[()], Array, Array, tuple[()]]:
    """`x ↦ σ(x)`, or any other map of arrays without parameters: dropout, say, which takes a key.

    **Arguments:** `source`: the type of its input, if it has one.
    """
    named = name or getattr(fn, "__name__", "activation")
    plain: Any = lambda _, x: fn(x)
    drawn: Any = lambda _, x, key=None: fn(x) if key is None else fn(x, key=key)
    return ParaOptic.of(Para((), drawn if wants_key(fn) else plain), source=source, name=named)


@with_usage
def dense(
    inputs: int, outputs: int, fn: Callable[[Array], Array] | None = None, *, key: PRNGKeyArray
) -> ParaOptic[Any, Array, Array]:
    """`x ↦ σ(M x + b)`; without `fn`, no activation."""
    whole("inputs", inputs)
    whole("outputs", outputs, least=0)
    start = eqx.nn.Linear(inputs, outputs, key=key)
    affine = linear(inputs, outputs, key=key).at(start.weight) >> bias(outputs, start.bias)
    return (affine if fn is None else affine >> activation(fn)).named("dense")


@with_usage
def conv(
    inputs: int,
    outputs: int,
    kernel: int,
    *,
    key: PRNGKeyArray,
    size: tuple[int, int] | None = None,
    stride: int | tuple[int, int] = 1,
    padding: Any = 0,
    dilation: int | tuple[int, int] = 1,
    groups: int = 1,
    use_bias: bool = True,
    padding_mode: str = "ZEROS",
    dtype: Any = None,
) -> ParaOptic[Any, Array, Array]:
    """A convolution of images of `inputs` channels. `size`: their height and width; the rest as for `eqx.nn.Conv2d`."""
    for name, given in (("inputs", inputs), ("outputs", outputs), ("kernel", kernel), ("groups", groups)):
        whole(name, given)
    source = None if size is None else (inputs, *size)
    layer = eqx.nn.Conv2d(
        inputs, outputs, kernel, stride, padding, dilation, groups, use_bias, padding_mode, dtype, key=key
    )
    return ParaOptic.of(layer, source=source, name="conv")


@with_usage
def fold(
    alg: Any,
    *,
    key: PRNGKeyArray | None = None,
    how: Any = None,
) -> ParaOptic[Any, Any, Any]:
    """A `Forest`, a `Seq` or a `Packed` read by an algebra; trees are data, and no gradient goes to them. The options
    are those of `cdl.fold`; the `key` of a learner's step goes before that which is given here."""
    expect_algebras("fold", (alg,))
    reader = Para.of(alg)
    always = key

    def read(params: Any, data: Any, key: Any = None) -> Any:
        algebra: Any = Para(params, reader.fn).module()
        return the_fold(algebra, data, key=always if key is None else key, how=how)

    return ParaOptic.of(Para(reader.params, read), inputs=False, name=f"fold {type(alg).__name__}")


@with_types
def run(machine: Any, state: Any) -> ParaOptic[Any, Any, Any]:
    """A sequence run by a machine from a state, which is a parameter as well; gives the outputs.

    **Arguments:** `machine`: the machine, whose arrays are the parameters. `state`: its first state.
    """
    expect_machine("run", machine)
    start = Para.of(machine)

    def through(params: Any, inputs: Any, key: Any = None) -> Any:
        return the_run(Para(params[0], start.fn).module(), params[1], inputs, key=key)[0]

    name = f"run {getattr(machine, '__name__', type(machine).__name__)}"
    return ParaOptic.of(Para((start.params, state), through), name=name)
