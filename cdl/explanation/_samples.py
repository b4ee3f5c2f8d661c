"""Small trees of any signature, from a seed, to run its laws on."""

import math
import random
from collections.abc import Sequence
from typing import Any, get_args

import jax.numpy as jnp

from .._functors import Many
from .._functors.base import rebuild
from .._functors.poly import Const, Id, ListOf, ManyOf, Maybe, Poly, Product, Record, walk
from .._functors.read import layout
from .._para.family import Kinds
from ..errors import CdlError


NODES, DEPTH = 9, 3  # about how large a tree is
KINDS = {"bool": jnp.bool_, "uint": jnp.uint32, "int": jnp.int32, "float": jnp.float32, "bfloat": jnp.float32}


def samples(kinds: Kinds, count: int = 3, *, seed: int = 0) -> list[Any]:
    """Trees in which every constructor stands, as far as they are large enough; of a family, of each sort in turn.

    **Raises:** `CdlError` for a signature without finite trees, for payloads whose annotation does not say what they
    are, and for constructors with a function in them.
    """
    rng = random.Random(seed)
    least = _least(kinds)
    used: dict[type[Any], int] = {k: 0 for some in kinds for k in some}

    def tree(sort: int, depth: int) -> Any:
        depth = depth if next(room, None) is not None else 0
        some = kinds[sort]
        ends = [k for k in some if _height(layout(k), least) == least[sort]]
        inner = [k for k in some if any(isinstance(t, Id) for t in walk(layout(k)))]
        among = ends if depth <= least[sort] else inner if depth > 1 and inner else some
        kind = min(among, key=lambda k: (used[k], rng.random()))
        used[kind] += 1
        return value(layout(kind), depth)

    def value(term: Poly, depth: int) -> Any:
        match term:
            case Const(of):
                return _payload(of, rng)
            case Id(sort):
                return tree(sort, depth - 1)
            case Record(kind, names, factors):
                return rebuild(kind, {n: value(f, depth) for n, f in zip(names, factors, strict=True)})
            case Product(factors):
                return tuple(value(f, depth) for f in factors)
            case Maybe(of):
                return value(of, depth) if depth > 0 and rng.random() < 0.7 else None
            case ListOf(of):
                return tuple(value(of, depth) for _ in range(rng.randint(1, 2) if depth > 0 else 0))
            case ManyOf(of):
                return Many([value(of, depth) for _ in range(rng.randint(1, 3) if depth > 0 else 0)])
            case _:
                raise CdlError(f"`{term}` has no finite values to try: give `samples`.")

    found = []
    for i in range(count):
        room = iter(range(NODES))  # once it is used up, the places that there are get the smallest trees
        found.append(tree(i % len(kinds), 1 + i % DEPTH))
    return found


def _least(kinds: Kinds) -> list[int]:
    """How high the lowest trees of each sort are; those of one node have height 0."""
    found = [math.inf] * len(kinds)
    while (lower := [min(_height(layout(k), found) for k in some) for some in kinds]) != found:
        found = lower
    if math.inf in found:
        order = " Or were the sorts given in another order than the family's tuple has?" if len(kinds) > 1 else ""
        raise CdlError(f"every constructor needs a child, so that there is no finite tree to try.{order}")
    return [int(height) for height in found]


def _height(term: Poly, least: Sequence[float]) -> float:
    """How high a value of a term is at least, where the lowest trees of each sort are so high."""
    match term:
        case Id(sort):
            return 1 + least[sort]
        case Product(factors) | Record(_, _, factors):
            return max((_height(f, least) for f in factors), default=0)
        case _:
            return 0


def _payload(annotation: Any, rng: random.Random) -> Any:
    """A value for a payload, where its annotation says what it is."""
    if annotation in (bool, int):
        return annotation(rng.randint(0, 1))
    if annotation is float:
        return rng.randint(-8, 8) / 4
    sizes = getattr(annotation, "dim_str", None)
    if sizes is not None and all(map(str.isdigit, sizes.split())):
        shape = tuple(map(int, sizes.split()))
        named = annotation.dtypes if isinstance(annotation.dtypes, tuple | list) else ()
        kinds = [kind for start, kind in KINDS.items() if any(str(d).startswith(start) for d in named)]
        if kinds:
            return jnp.asarray([rng.randint(0, 1) for _ in range(math.prod(shape))], kinds[0]).reshape(shape)
    for member in get_args(annotation):
        try:
            return _payload(member, rng)
        except CdlError:
            continue
    name = getattr(annotation, "__name__", annotation)
    raise CdlError(f"a payload is annotated `{name}`, which does not say what to try: give `samples`, some trees.")
