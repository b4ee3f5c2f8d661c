"""The forms that grow trees, and `follow`, as text: coalgebras that choose, with a candidate for each shape of layer.

| the form     | what it is beside                                                    |
| ------------ | -------------------------------------------------------------------- |
| `follow`     | `likelihood` at each tree                                            |
| `unfold`     | `ana` at each seed, the best layers; `unfold_key`: drawn with a key  |
| `refold`     | `hylo` at each seed; in a family, `cata` of what `ana` grows         |

A seed is a vector and how deep it is. The deeper, the less layers with children are chosen.
"""

import itertools
import random
from typing import Any

from . import cells, payloads
from .algebras import Algebra
from .families import Constructor, Family
from .forms import COMMON
from .trees import Node, nodes


GROW = """
SEEDS = tuple((jr.normal(jr.fold_in(jr.key({seed}), s), (2, D), {dtype}), jnp.zeros(2, "int32")) for s in range({sorts}))
"""
FOLLOW = """
FOREST = cdl.pack(FAMILY, TREES)
SEEDS = tuple(
    jax.tree.map(lambda x, s=s: x[np.array([i % 2 for i, t in enumerate(TREES) if SORT[type(t)] == s], int)], SEEDS[s])
    for s in range(len(SEEDS))
)


def payload(proposed, node):
    data = lambda x: [x_ for n, t in zip(type(x).__match_args__, TERMS[type(x)]) if t[0] == "data" for x_ in [getattr(x, n)]]
    return -(number(data(proposed)) - number(data(node))).astype({dtype}) ** 2


def of_root(p, t):
    s = SORT[type(TREES[t])]
    return tuple(jax.tree.map(lambda x: x[[SORT[type(t)] for t in TREES[:t]].count(s)], p["seeds"][s]) for _ in SEEDS)


def compiled(p):
    return cdl.follow(one(p["coalgs"]), forest(p), one(p["seeds"]), payload=payload)


def by_cdl(p):
    each = lambda t: several(cdl.likelihood(one(p["coalgs"]), one(of_root(p, t)), payload=payload))
    return jnp.stack([each(t)[SORT[type(TREES[t])]](tree(t, p)) for t in range(len(TREES))])


def plain(p):
    each = lambda t: likely(p["coalgs"], tree(t, p), of_root(p, t)[0], SORT, TERMS, payload)
    return jnp.stack([each(t) for t in range(len(TREES))])
"""
UNFOLD = '''
KEY = {key}
NODES = 24


def written(tree):
    """A tree as its constructors and its numbers."""
    numbers = [jnp.asarray(x) for x in jax.tree.leaves(tree)]
    return [[n.__name__ for n in map(type, every(tree))], [str(jax.tree.structure(tree))], numbers]


def compiled(p):
    grown = several(cdl.unfold(one(p["coalgs"]), one(p["seeds"]), NODES, key=KEY))
    if {smooth}:
        return [[probe(jnp.where(g.mask[i], g.log_prob[i], 0)) for i in range(2) if WHOLE[s][i]] for s, g in enumerate(grown)]
    found = [[r.unwrap() for r in g.results() if isinstance(r, Success)] for g in grown]
    return [[g.cut.tolist() for g in grown], [[written(t) for t in trees] for trees in found]]


def each(p, read):
    trees = [(s, i, read(p, s, i)) for s in range(len(SEEDS)) for i in range(2)]
    cut = [[len(every(t)) > NODES for s_, _, t in trees if s_ == s] for s in range(len(SEEDS))]
    return [cut, [[written(t) for s_, _, t in trees if s_ == s and len(every(t)) <= NODES] for s in range(len(SEEDS))]]


def of(p, s, i):
    return jax.tree.map(lambda x: x[i], p["seeds"][s]), key_of(2 * s + i)


def by_cdl(p):
    if {smooth}:
        return plain(p)
    grow = lambda p, s, i: several(cdl.ana(*p["coalgs"], key=of(p, s, i)[1]))[s](of(p, s, i)[0])
    return each(p, grow)


def plain(p):
    if {smooth}:
        padded = lambda chances: probe(jnp.stack(chances + [jnp.zeros_like(chances[0])] * (NODES - len(chances))))
        return [[padded(grow(p["coalgs"], s, of(p, s, i)[0], TERMS, of(p, s, i)[1])[1]) for i in range(2) if WHOLE[s][i]] for s in range(len(SEEDS))]
    return each(p, lambda p, s, i: grow(p["coalgs"], s, of(p, s, i)[0], TERMS, of(p, s, i)[1])[0])


WHOLE = [[len(every(grow(COALGS, s, *of({"seeds": SEEDS}, s, i)[:1], TERMS, of({"seeds": SEEDS}, s, i)[1])[0])) <= NODES for i in range(2)] for s in range(len(SEEDS))]
'''
REFOLD = """
KEY = None
NODES = 24


def at(p, s, i):
    return jax.tree.map(lambda x: x[i], p["seeds"][s])


WHOLE = [[i for i in range(2) if len(every(grow(COALGS, s, at({"seeds": SEEDS}, s, i), TERMS)[0])) <= NODES] for s in range(len(SEEDS))]


def compiled(p):
    found = cdl.refold(one(p["algs"]), one(p["coalgs"]), one(p["seeds"]), NODES)
    return [jax.tree.map(lambda x: x[np.array(rows)], v) for (v, _), rows in zip(several(found), WHOLE) if rows]


def each(p, read):
    found = [(s, read(p, s, i)) for s, rows in enumerate(WHOLE) for i in rows]
    return by_sort([v for _, v in found], [s for s, _ in found])


def by_cdl(p):
    if len(ALGS) == 1:
        return each(p, lambda p, s, i: cdl.hylo(p["algs"][0], p["coalgs"][0])(at(p, s, i)))
    return each(p, lambda p, s, i: cdl.cata(*p["algs"])[s](cdl.ana(*p["coalgs"])[s](at(p, s, i))))


def plain(p):
    found, kinds, types = [], [], []
    for s, rows in enumerate(WHOLE):
        for i in range(2):
            tree = grow(p["coalgs"], s, at(p, s, i), TERMS)[0]
            below = values(p["algs"], tree, SORT)
            types += [(SORT[type(n)], v) for n, v in zip(every(tree), below)]
            found, kinds = ([*found, below[0]], [*kinds, s]) if i in rows else (found, kinds)
    return by_sort(found, kinds, types)
"""
FORMS = ("follow", "unfold", "unfold_key", "refold")


def text(form: str, family: Family, trees: tuple[Node, ...], algebra: Algebra, smooth: bool) -> str:
    """The functions of a form, for algebras `ALGS` and trees `TREES`."""
    dtype, seed, cell = algebra.dtypes[0], algebra.seed, cells.text(algebra.one, 2)
    shapes = _of_trees(family, trees) if form == "follow" else _of_family(family, seed)
    lines = []
    for s in range(family.sorts):
        layers = [_layer(c, shape) for c, shape in shapes if c.sort == s]
        sizes = [str(str(shape).count("'s'")) for c, shape in shapes if c.sort == s]
        lines += [f"class G{s}(eqx.Module):", "    w: Any", "    cell: Any", "", "    def __call__(self, seed):"]
        lines += ["        h, n = seed", f"        h = self.cell(h).astype('{dtype}')"]
        lines += [f"        scores = jnp.tile(self.w['score'] @ h, {len(layers) // 3 + 1})[: {len(layers)}]"]
        lines += [f"        grows = jnp.array([{', '.join(sizes)}]) * n"]
        lines += [f"        scores = scores * jnp.arange(1, {len(layers) + 1}) - 1.5 * grows.astype(h.dtype)"]
        lines += ["        return cdl.choose(scores.astype(h.dtype), " + ", ".join(layers) + ")"]
    made = ", ".join(
        f"G{s}(weights({seed + s}, ['score', *map(str, range(7))], '{dtype}'), {cell})" for s in range(family.sorts)
    )
    grow = GROW.format(seed=seed, dtype=f'"{dtype}"', sorts=family.sorts)
    body = {"follow": FOLLOW, "refold": REFOLD}.get(form, UNFOLD)
    body = body.replace("{dtype}", f'"{dtype}"').replace("{smooth}", str(smooth))
    body = body.replace("{key}", "jr.key(9)" if form == "unfold_key" else "None")
    params = 'PARAMS = {"algs": ALGS, "coalgs": COALGS, "seeds": SEEDS}'
    first = "KEY = None" if form == "follow" else ""
    return "\n".join([*lines, f"COALGS = ({made},)", grow, first, COMMON, body, params])


def _of_trees(family: Family, trees: tuple[Node, ...]) -> list[Any]:
    """The shapes of layer that trees have, and those of constructors that they do not."""
    kinds = {c.name: c for c in family.constructors}
    found: dict[Any, Any] = {}
    for node in (n for t in trees for n in nodes(t)):
        c = kinds[node.name]
        shape = tuple(_shape(t, x) for t, x in zip(c.terms, node.fields, strict=True))
        found[c.name, shape] = (c, shape)
    used = {name for name, _ in found}
    return [
        *found.values(),
        *_of_family(Family(family.sorts, tuple(c for c in kinds.values() if c.name not in used)), 0),
    ]


def _of_family(family: Family, seed: int) -> list[Any]:
    """Some shapes of each constructor's layers; the least among them."""
    rng = random.Random(seed)
    found = []
    for c in family.constructors:
        shapes = list(itertools.product(*(_shapes(t) for t in c.terms)))
        found += [(c, shape) for shape in [shapes[0], *rng.sample(shapes[1:], min(len(shapes) - 1, 1))]]
    return found


def _shape(term: Any, value: Any) -> Any:
    match term:
        case ("x", _):
            return "s"
        case ("data", kind):
            return "d", None if value == "None" and kind[0] == "maybe" else "d"
        case ("maybe", of):
            return None if value is None else _shape(of, value)
        case ("many", sort):
            return tuple("s" for _ in value)
        case ("list", of):
            return tuple(_shape(of, x) for x in value)
    return tuple(_shape(t, x) for t, x in zip(term[1], value, strict=True))


def _shapes(term: Any) -> list[Any]:
    match term:
        case ("x", _):
            return ["s"]
        case ("data", _):
            return [("d", "d")]
        case ("maybe", of):
            return [None, *_shapes(of)]
        case ("many", _):
            return [(), ("s", "s")]
        case ("list", of):
            return [(), *((x, x) for x in _shapes(of)[:1])]
    return list(itertools.product(*map(_shapes, term[1])))


def _layer(c: Constructor, shape: Any) -> str:
    """A candidate: seeds at its places, each by other weights."""
    numbers = itertools.count(len(c.name))

    def of(term: Any, shape: Any) -> str:
        match term:
            case ("x", _):
                i = next(numbers)
                return f"(jnp.sin(self.w['{i % 7}'][{i % 3}] * h + {i}), n + 1)"
            case ("data", kind):
                return "None" if shape[1] is None else payloads.grown(kind, "h")
            case ("maybe", inner):
                return "None" if shape is None else of(inner, shape)
            case ("many", sort):
                return f"cdl.Many([{', '.join(of(('x', sort), x) for x in shape)}])"
            case ("list", inner):
                return f"({''.join(of(inner, x) + ', ' for x in shape)})"
        return f"({''.join(of(t, x) + ', ' for t, x in zip(term[1], shape, strict=True))})"

    return f"{c.name}({', '.join(of(t, s) for t, s in zip(c.terms, shape, strict=True))})"
