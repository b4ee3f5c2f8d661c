"""How equivariant is it? Lie derivatives of networks before and after training, and of operations on a photograph.

The first table measures how the logits of three networks change as a digit is moved, turned or made larger:
`E ‖L f‖²` over the variance of the logits from one digit to another. 0 is an invariant network; 1 says that a pixel, a
radian or a factor e changes the logits as much as another digit does. "Augmented" networks were trained on digits that
were moved by up to a pixel, turned by up to 20° and scaled by up to 15 %. The second table is the error of
convolutional networks under translation, by their parts: shares that add up to 100 %. The third table gives the
relative error of single operations on a photograph, with images on both sides.

After Gruver, Finzi, Goldblum and Wilson, The Lie derivative for measuring learned equivariance (2023).
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from cdl.errors import CdlError
from cdl.symmetry import attributed, fields, lie_error
from cdl_arch.data.pictures import digits, photograph
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from ._classifiers import Cnn, Mixer, Transformer
from ._fitting import accuracy, cross_entropy, fitted, parameters, predicted


Field = Callable[[jax.Array], jax.Array]
NETS: dict[str, Callable[..., Any]] = {"CNN": Cnn, "mixer": Mixer, "transformer": Transformer}
MOTIONS: dict[str, tuple[Field, ...]] = {
    "translation": (partial(fields.translation, axis=-2), partial(fields.translation, axis=-1)),
    "rotation": (fields.rotation,),
    "scaling": (fields.scaling,),
}
TRAINED = ("untrained", "trained", "trained, augmented")


class Row(NamedTuple):
    """One network of one seed: its error for each motion, and how often it is right."""

    errors: list[float]
    accuracy: float


def augmented(model: Any, batch: Sequence[jax.Array], key: jax.Array) -> jax.Array:
    """The cross-entropy at images that are moved, turned and scaled at random."""
    images, labels = batch
    moved = jax.vmap(_moved)(images, jr.split(key, len(images)))
    return cross_entropy(model, (moved, labels), key)


def digit_rows(seed: int, samples: int, steps: int) -> Iterator[tuple[str, str, Any, jax.Array, Row]]:
    """Each network, untrained and trained with and without augmentation, with the images it is measured at."""
    data = digits()
    order = np.random.default_rng(seed).permutation(len(data.images))
    seen, test = order[:1280], order[1280:]
    xs = jnp.asarray(data.images[test[:samples]])
    for name, make in NETS.items():
        net = make(key=jr.key(seed))
        train = partial(
            fitted, net, data=[data.images[seen], data.labels[seen]], steps=steps, batch=64, rate=5e-3, seed=seed
        )
        for title, one in zip(TRAINED, (net, train(loss=cross_entropy), train(loss=augmented)), strict=True):
            share = 100 * accuracy(one, data.images[test], data.labels[test])
            errors = [float(np.mean([unsteady(one, move, xs) for move in moves])) for moves in MOTIONS.values()]
            yield name, title, one, xs, Row(errors, share)


@eqx.filter_jit
def unsteady(net: Any, move: Field, xs: jax.Array) -> jax.Array:
    """`E ‖L f‖²` over the variance of what the network gives from one image to another."""
    logits = predicted(net, xs)
    return lie_error(net, move, fields.still, xs).mean / jnp.mean(jnp.var(logits, 0))


@eqx.filter_jit
def shares(net: Cnn, move: Field, xs: jax.Array) -> jax.Array:
    """The part that each stage has in the error of translation, in per cent."""
    stages = [stage for _, stage in net.stages()]
    found = attributed(stages, [*([move] * len(stages)), fields.still], xs).shares
    return 100 * found / jnp.sum(found)


def operations() -> dict[str, tuple[Callable[[Any], Any], bool]]:
    """Single operations on an image, and whether they halve its sides."""
    kernel = jnp.asarray(np.outer([1, 2, 1], [1, 2, 1]) / 16, jnp.float32)
    blur: Callable[..., jax.Array] = lambda x, stride=1: jax.lax.conv_general_dilated(
        x[None, None], kernel[None, None], (stride, stride), "VALID"
    )[0, 0]
    return {
        "blur, periodic": (lambda x: blur(jnp.pad(x, 1, mode="wrap")), False),
        "blur, zeros outside": (lambda x: blur(jnp.pad(x, 1)), False),
        "blur with stride 2, periodic": (lambda x: blur(jnp.pad(x, 1, mode="wrap"), 2), True),
        "edges across, periodic": (lambda x: x - jnp.roll(x, 1, -1), False),
        "square": (jnp.square, False),
        "tanh": (jnp.tanh, False),
        "relu": (jax.nn.relu, False),
    }


def photograph_rows(side: int) -> list[list[str]]:
    """The relative error of each operation, on squares of a photograph."""
    try:
        image = photograph()
    except CdlError as error:
        return [[f"no photograph: {error}", *["–"] * len(MOTIONS)]]
    squares = [image[i : i + side, j : j + side] for i in (100, 200) for j in (100, 250, 400)]
    xs = jnp.asarray(np.stack([(x - x.mean()) / x.std() for x in squares]), jnp.float32)
    rows = []
    for name, (f, halved) in operations().items():
        cells = []
        for motion, moves in MOTIONS.items():
            slow = 0.5 if halved and motion == "translation" else 1.0  # pixels of the smaller image
            targets = [lambda y, move=move: slow * move(y) for move in moves]  # noqa: B023
            found = [float(lie_error(f, *both, xs).relative) for both in zip(moves, targets, strict=True)]
            cells.append(spread([float(np.mean(found))]))
        rows.append([name, *cells])
    return rows


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The three tables."""
    rows: dict[tuple[str, str], list[Row]] = {}
    parts: dict[str, list[np.ndarray]] = {}
    sizes = {name: parameters(make(key=jr.key(0))) for name, make in NETS.items()}
    for seed in range(options.seeds):
        for name, title, net, xs, row in digit_rows(seed, options.samples, options.steps):
            rows.setdefault((name, title), []).append(row)
            if isinstance(net, Cnn):
                found = [shares(net, move, xs) for move in MOTIONS["translation"]]
                parts.setdefault(title, []).append(np.mean(found, 0))
    head = ["network", "", "parameters", *MOTIONS, "right, %"]
    table = [[name, title, str(sizes[name]), *_cells(found)] for (name, title), found in rows.items()]
    stages = [title for title, _ in Cnn(key=jr.key(0)).stages()]
    by_parts = [
        [title, *(spread([float(np.round(x[i], 3)) for x in found], 3) for i in range(len(stages)))]
        for title, found in parts.items()
    ]
    return {
        "learnt-equivariance": Table(head, table, texts=2),
        "parts-of-a-cnn": Table(["CNN, share of the error in %", *stages], by_parts),
        "photograph": Table(["on a photograph", *MOTIONS], photograph_rows(options.side)),
    }


def _cells(found: list[Row]) -> list[str]:
    errors = [spread([row.errors[i] for row in found]) for i in range(len(MOTIONS))]
    return [*errors, spread([row.accuracy for row in found], 3)]


def _moved(image: jax.Array, key: jax.Array) -> jax.Array:
    """An image moved by up to a pixel, turned by up to 20° and scaled by up to 15 %, with zeros outside."""
    draw = jr.uniform(key, (4,), minval=-1)
    angle, size = draw[2] * np.deg2rad(20), 1 + 0.15 * draw[3]
    centre = (image.shape[0] - 1) / 2
    r, s = jnp.meshgrid(*[jnp.arange(n, dtype=image.dtype) - centre for n in image.shape], indexing="ij")
    c, d = jnp.cos(angle) / size, jnp.sin(angle) / size
    places = [c * r + d * s + centre - draw[0], c * s - d * r + centre - draw[1]]
    return jax.scipy.ndimage.map_coordinates(image, places, order=1)


PROGRAM = Program("symmetry.how_equivariant", arguments(__doc__, seeds=5, samples=200, steps=600, side=128), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
