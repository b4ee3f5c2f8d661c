"""The forms that read a forest, and their definitions, as text.

| the form           | what it is beside                                                           |
| ------------------ | --------------------------------------------------------------------------- |
| `fold`             | `cata` at each tree                                                         |
| `annotate`         | `decorate` at each tree; in a family, `cata` at each subtree                |
| `corpus`           | `fold` of a batch of a `Corpus`, its trees permuted and some twice          |
| `bucket`           | `fold` of some of the trees in the bucket of all                            |
| `shard`            | the mean over devices of a number from each one's trees                     |
| `remat`            | `fold`, with what the reverse pass computes again                           |
| `inherit`          | `inherited` (`descents.py`)                                                 |
"""

from . import descents
from .algebras import Algebra
from .families import Family


COMMON = '''
several = lambda x: x if isinstance(FAMILY, tuple) else (x,)
one = lambda x: x if isinstance(FAMILY, tuple) else x[0]
key_of = lambda t: None if KEY is None else jr.fold_in(KEY, t)
stack = lambda found: jax.tree.map(lambda *xs: jnp.stack(xs), *found)


def forest(p):
    return FOREST if "s" not in p else eqx.tree_at(lambda f: f.payload, FOREST, moved(FOREST.payload, p["s"]))


def tree(t, p):
    return TREES[t] if "s" not in p else moved(TREES[t], p["s"])


def by_sort(found, sorts, types=None):
    """Values of each sort, stacked, of the types that they have anywhere."""
    rows = [(s, stack([v for v, k in zip(found, sorts) if k == s])) for s in dict.fromkeys(sorted(sorts))]
    if types is None:
        return [x for _, x in rows]
    wide = {s: jax.tree.map(lambda *xs: jnp.result_type(*xs), *[v for k, v in types if k == s]) for s, _ in rows}
    return [jax.tree.map(lambda x, d: x.astype(d), x, wide[s]) for s, x in rows]


def at_nodes(found):
    """The rows of each sort's nodes."""
    of = lambda s: np.array([r for r, k in zip(ROWS, KINDS) if k == s])
    return [jax.tree.map(lambda x, s=s: x[of(s)], found[s]) for s in sorted({*KINDS})]


def at_roots(found):
    return [found[s] for s in sorted({SORT[type(t)] for t in TREES})]
'''
PLAIN = """
def plain_values(p):
    found = [values(p["algs"], tree(t, p), SORT, key_of(t)) for t in range(len(TREES))]
    left = [t for t in EVERY if id(t) not in map(id, TREES)]
    each = zip([*TREES, *left], [*found, *[values(p["algs"], t, SORT, KEY) for t in left]])
    return found, [(SORT[type(n)], v) for t, vs in each for n, v in zip(every(t), vs)]
"""
FOLD = """
def compiled(p):
    return at_roots(several(cdl.fold(one(p["algs"]), forest(p), key=KEY{options})))


def by_cdl(p):
    read = lambda t: several(cdl.cata(*p["algs"], key=key_of(t)))[SORT[type(TREES[t])]](tree(t, p))
    return by_sort([read(t) for t in range(len(TREES))], [SORT[type(t)] for t in TREES])


def plain(p):
    found, types = plain_values(p)
    return by_sort([vs[0] for vs in found], [SORT[type(t)] for t in TREES], types)
"""
ANNOTATE = """
def compiled(p):
    return at_nodes(several(cdl.annotate(one(p["algs"]), forest(p), key=KEY{options})))


def heads(c):
    found = [c.head]
    layer(c.tail, lambda x: found.extend(heads(x)))
    return found


def by_cdl(p):
    if len(p["algs"]) == 1:
        found = [v for t in range(len(TREES)) for v in heads(cdl.decorate(*p["algs"], key=key_of(t))(tree(t, p)))]
    elif KEY is None:
        found = [cdl.cata(*p["algs"])[SORT[type(n)]](n) for t in range(len(TREES)) for n in every(tree(t, p))]
    else:
        return plain(p)
    return by_sort(found, KINDS)


def plain(p):
    found, types = plain_values(p)
    return by_sort([v for vs in found for v in vs], KINDS, types)
"""
SHARD = """
COUNT = jax.device_count()
CORPUS = cdl.Corpus(FAMILY, TREES)
TURNED = [[*range(i, len(TREES)), *range(min(i, len(TREES)))][: len(TREES)] for i in range(COUNT)]
BUCKET = CORPUS[TURNED[0]].bucket
PARTS = cdl.compiled.shard([CORPUS.pack(some, bucket=BUCKET) for some in TURNED], jax.make_mesh((COUNT,), ("data",)))


def compiled(p):
    def loss(algs, part):
        found = several(cdl.fold(one(algs), part, key=KEY))
        total = probe([x for s, x in enumerate(found) if s in {SORT[type(t)] for t in TREES}])
        return total, jnp.ones((), total.dtype)

    return cdl.compiled.shard_mean(loss)(p["algs"], PARTS)


def mean(p, read):
    found = []
    for some in TURNED:
        trees = [TREES[i] for i in some]
        roots = [read(p["algs"], t, key_of(i)) for i, t in enumerate(trees)]
        found.append(probe(by_sort(roots, [SORT[type(t)] for t in trees])))
    return sum(found) / len(found)


def by_cdl(p):
    return mean(p, lambda algs, t, key: several(cdl.cata(*algs, key=key))[SORT[type(t)]](t))


def plain(p):
    return mean(p, lambda algs, t, key: values(algs, t, SORT, key)[0])
"""
FORMS = ("fold", "annotate", "corpus", "bucket", "shard", "remat", "inherit", "inherit_values")


def text(form: str, family: Family, algebra: Algebra, order: tuple[int, ...], forward: bool) -> str:
    """The functions of a form, for algebras `ALGS` and trees `TREES`."""
    key = f"KEY = {'jr.key(3)' if algebra.keyed else None}\nEVERY = TREES"
    pack = "FOREST = cdl.pack(FAMILY, TREES)"
    if form in ("annotate", "inherit", "inherit_values"):
        pack += "\nROWS = [r for t in range(len(TREES)) for r in range(10**6)[FOREST.nodes(t)]]"
        pack += "\nKINDS = [SORT[type(n)] for t in TREES for n in every(t)]"
    params = '{"algs": ALGS}'
    options = ", how=cdl.compiled.Levels(forward=True)" if forward else ""
    match form:
        case "annotate":
            body = ANNOTATE.replace("{options}", options)
        case "shard":
            body = SHARD
        case "inherit" | "inherit_values":
            body = descents.steps(family, algebra) + descents.INHERIT.replace("{values}", str(form == "inherit_values"))
            params = '{"algs": ALGS, "steps": STEPS, "tops": TOPS}'
        case _:
            body = FOLD.replace("{options}", ', how=cdl.compiled.Levels(remat="all")' if form == "remat" else options)
    if form == "corpus":
        pack = f"FOREST = cdl.Corpus(FAMILY, TREES)[{list(order)}]\nTREES = [TREES[i] for i in {list(order)}]"
    if form == "bucket":
        pack = "BUCKET = cdl.pack(FAMILY, TREES).bucket\nTREES = TREES[1:] or TREES\n"
        pack += "FOREST = cdl.pack(FAMILY, TREES, bucket=BUCKET)"
    plain = "" if form.startswith(("inherit", "shard")) else PLAIN
    return "\n".join([key, pack, COMMON, plain, body, f"PARAMS = {params}"])
