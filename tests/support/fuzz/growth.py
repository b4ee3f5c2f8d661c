"""The forms that grow trees, and `follow`, as text: coalgebras that choose, with a candidate for each shape of layer.

| the form     | what it is beside                                                    |
| ------------ | -------------------------------------------------------------------- |
| `follow`     | `likelihood` at each tree                                            |
| `unfold`     | `ana` at each seed, the best layers; `unfold_key`: drawn with a key  |
| `refold`     | `hylo` at each seed; in a family, `cata` of what `ana` grows         |

A seed is a vector and how deep it is. The deeper, the less layers with children are chosen.
"""

from . import candidates, cells
from .algebras import Algebra
from .families import Family
from .forms import COMMON
from .trees import Node


GROW = """
normals = lambda s: jr.normal(jr.fold_in(jr.key({seed}), s), (2, D), np.dtype("f4"))
seeds_of = lambda s: (normals(s).astype({dtype}), jnp.zeros(2, "int32"))
SEEDS = tuple(map(seeds_of, range({sorts})))
"""
FOLLOW = """
FOREST = cdl.pack(FAMILY, TREES)
PACKED = FOREST.trees()
TREES = list(map(arrays, TREES))
SEEDS = tuple(
    jax.tree.map(lambda x, s=s: x[np.array([i % 2 for i, t in enumerate(TREES) if SORT[type(t)] == s], int)], SEEDS[s])
    for s in range(len(SEEDS))
)


def payload(proposed, node):
    data = lambda x: [getattr(x, n) for n, t in zip(type(x).__match_args__, TERMS[type(x)]) if t[0] == "data"]
    return -(number(data(proposed)) - number(data(node))).astype({dtype}) ** 2


def of_root(p, t):
    s = SORT[type(TREES[t])]
    return tuple(jax.tree.map(lambda x: x[[SORT[type(t)] for t in TREES[:t]].count(s)], p["seeds"][s]) for _ in SEEDS)


def compiled(p):
    return cdl.follow(one(p["coalgs"]), forest(p), one(p["seeds"]), payload=payload)


def by_cdl(p):
    each = lambda t: several(cdl.likelihood(one(p["coalgs"]), one(of_root(p, t)), payload=payload))
    return jnp.stack([each(t)[SORT[type(TREES[t])]](PACKED[t]) for t in range(len(TREES))])


def plain(p):
    each = lambda t: likely(p["coalgs"], tree(t, p), of_root(p, t)[0], SORT, TERMS, payload)
    return jnp.stack([each(t) for t in range(len(TREES))])
"""
GROWN = """
NODES = 24
seed = lambda p, s, i: jax.tree.map(lambda x: x[i], p["seeds"][s])
grown = lambda p, s, i: grow(p["coalgs"], s, seed(p, s, i), TERMS, key_of(2 * s + i))
EACH = [(s, i) for s in range(len(SEEDS)) for i in range(2)]
WHOLE = [(s, i) for s, i in EACH if len(grown(PARAMS, s, i)[1]) <= NODES]
"""
UNFOLD = '''
def written(tree):
    """A tree as its constructors and its numbers."""
    kinds = [type(n).__name__ for n in every(tree)]
    return [kinds, [str(jax.tree.structure(tree))], [jnp.asarray(x) for x in jax.tree.leaves(tree)]]


def compiled(p):
    found = several(cdl.unfold(one(p["coalgs"]), one(p["seeds"]), NODES, key=KEY))
    whole = [(s, i) for s, i in EACH if not found[s].cut[i]]
    return [whole, [written(found[s].results()[i].unwrap()) for s, i in whole]]


def by_cdl(p):
    read = lambda s, i: several(cdl.ana(*p["coalgs"], key=key_of(2 * s + i)))[s](seed(p, s, i))
    return [WHOLE, [written(read(s, i)) for s, i in WHOLE]]


def plain(p):
    return [WHOLE, [written(grown(p, s, i)[0]) for s, i in WHOLE]]
'''
CHANCES = """
def compiled(p):
    found = several(cdl.unfold(one(p["coalgs"]), one(p["seeds"]), NODES, key=KEY))
    return [found[s].log_prob[i] for s, i in WHOLE]


def plain(p):
    chances = [grown(p, s, i)[1] for s, i in WHOLE]
    return [jnp.stack(xs + [jnp.zeros_like(xs[0])] * (NODES - len(xs))) for xs in chances]


by_cdl = plain
"""
REFOLD = """
def compiled(p):
    found = several(cdl.refold(one(algs(p)), one(p["coalgs"]), one(p["seeds"]), NODES))
    rows = [(s, np.array([i for k, i in WHOLE if k == s])) for s in sorted({s for s, _ in WHOLE})]
    return [jax.tree.map(lambda x, i=i: x[i], found[s][0]) for s, i in rows]


def by_cdl(p):
    if len(ALGS) == 1:
        found = [cdl.hylo(algs(p)[0], p["coalgs"][0])(seed(p, s, i)) for s, i in WHOLE]
    else:
        found = [cdl.cata(*algs(p))[s](cdl.ana(*p["coalgs"])[s](seed(p, s, i))) for s, i in WHOLE]
    return by_sort(found, [s for s, _ in WHOLE])


def plain(p):
    found = {at: values(algs(p), grown(p, *at)[0], SORT) for at in WHOLE}
    return by_sort([found[at][0] for at in WHOLE], [s for s, _ in WHOLE])
"""
FORMS = ("follow", "unfold", "unfold_key", "refold")


def text(form: str, family: Family, trees: tuple[Node, ...], algebra: Algebra, smooth: bool) -> str:
    """The functions of a form, for algebras `ALGS` and trees `TREES`."""
    dtype, seed, cell = algebra.dtypes[0], algebra.seed, cells.text(algebra.one, 2)
    shapes = candidates.of_trees(family, trees) if form == "follow" else candidates.of_family(family, seed)
    lines = []
    for s in range(family.sorts):
        layers = [candidates.layer(c, shape, algebra) for c, shape in shapes if c.sort == s]
        sizes = [str(str(shape).count("'s'")) for c, shape in shapes if c.sort == s]
        lines += [
            f"class G{s}(eqx.Module):",
            "    w: Any",
            "    cell: Any",
            "    own: Any",
            "",
            "    def __call__(self, seed):",
        ]
        lines += ["        h, n = seed", f"        h = self.cell(h).astype('{dtype}')"]
        lines += [f"        scores = jnp.tile(self.w['score'] @ h, {len(layers) // 3 + 1})[: {len(layers)}]"]
        lines += [f"        grows = jnp.array([{', '.join(sizes)}]) * n"]
        lines += [f"        scores = scores * jnp.arange(1, {len(layers) + 1}) - 1.5 * grows.astype(h.dtype)"]
        lines += ["        return cdl.choose(scores.astype(h.dtype), " + ", ".join(layers) + ")"]
    made = ", ".join(
        f"G{s}(weights({seed + s}, ['score', *map(str, range(7))], '{dtype}'), {cell}, {algebra.own(family, s)})"
        for s in range(family.sorts)
    )
    grow = GROW.format(seed=seed, dtype=f'"{dtype}"', sorts=family.sorts)
    read = {"follow": FOLLOW, "refold": REFOLD}.get(form, CHANCES if smooth else UNFOLD)
    body = ("" if form == "follow" else GROWN) + read.replace("{dtype}", f'"{dtype}"')
    key = f"KEY = {'jr.key(9)' if form == 'unfold_key' else None}"
    by = ', "by": jnp.array(0.75)' if algebra.closed else ""
    params = f'PARAMS = {{"algs": ALGS, "coalgs": COALGS, "seeds": SEEDS{by}}}'
    return "\n".join(
        [*lines, f"COALGS = ({made},)", grow, key, COMMON, *((body, params) if form == "follow" else (params, body))]
    )
