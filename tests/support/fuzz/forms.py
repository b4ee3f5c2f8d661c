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
stack = lambda found: jax.tree.map(lambda *xs: jnp.stack(list(map(jnp.asarray, xs))), *found)


def forest(p):
    return FOREST if "s" not in p else eqx.tree_at(lambda f: f.payload, FOREST, moved(FOREST.payload, p["s"]))


def tree(t, p):
    """A tree as plain recursion reads it."""
    return TREES[t] if "s" not in p else moved(TREES[t], p["s"])


def algs(p):
    return p["algs"] if "by" not in p else tuple(over(alg, p["by"]) for alg in p["algs"])


def by_sort(found, sorts):
    """Values of each sort, stacked."""
    return [stack([v for v, k in zip(found, sorts) if k == s]) for s in dict.fromkeys(sorted(sorts))]


def at_nodes(found):
    """The rows of each sort's nodes."""
    of = lambda s: np.array([r for r, k in zip(ROWS, KINDS) if k == s])
    return [jax.tree.map(lambda x, s=s: x[of(s)], found[s]) for s in sorted({*KINDS})]


def at_roots(found):
    return [found[s] for s in sorted({SORT[type(t)] for t in TREES})]
'''
FOLD = """
def compiled(p):
    return at_roots(several(cdl.fold(one(algs(p)), forest(p), key=KEY{options})))


def by_cdl(p):
    read = lambda t: several(cdl.cata(*algs(p), key=key_of(t)))[SORT[type(TREES[t])]](PACKED[t])
    return by_sort([read(t) for t in range(len(TREES))], [SORT[type(t)] for t in TREES])


def plain(p):
    found = [values(algs(p), tree(t, p), SORT, key_of(t))[0] for t in range(len(TREES))]
    return by_sort(found, [SORT[type(t)] for t in TREES])
"""
ANNOTATE = """
def compiled(p):
    return at_nodes(several(cdl.annotate(one(algs(p)), forest(p), key=KEY{options})))


def heads(c):
    found = [c.head]
    layer(c.tail, lambda x: found.extend(heads(x)))
    return found


def by_cdl(p):
    if len(ALGS) == 1:
        found = [v for t in range(len(TREES)) for v in heads(cdl.decorate(*algs(p), key=key_of(t))(PACKED[t]))]
    elif KEY is None:
        found = [cdl.cata(*algs(p))[SORT[type(n)]](n) for t in PACKED for n in every(t)]
    else:
        return plain(p)
    return by_sort(found, KINDS)


def plain(p):
    return by_sort([v for t in range(len(TREES)) for v in values(algs(p), tree(t, p), SORT, key_of(t))], KINDS)
"""
SHARD = """
COUNT = jax.device_count()
CORPUS = cdl.Corpus(FAMILY, TREES)
TURNED = [[*range(i, len(TREES)), *range(min(i, len(TREES)))][: len(TREES)] for i in range(COUNT)]
BUCKET = CORPUS[TURNED[0]].bucket
PARTS = cdl.compiled.shard([CORPUS.pack(some, bucket=BUCKET) for some in TURNED], jax.make_mesh((COUNT,), ("data",)))


def compiled(p):
    def loss(p, part):
        found = several(cdl.fold(one(algs(p)), part, key=KEY))
        total = probe([x for s, x in enumerate(found) if s in {SORT[type(t)] for t in TREES}])
        return total, jnp.ones((), total.dtype)

    return cdl.compiled.shard_mean(loss)(p, PARTS)


def mean(given, read):
    found = []
    for some in TURNED:
        trees = [given[i] for i in some]
        roots = [read(t, key_of(i)) for i, t in enumerate(trees)]
        found.append(probe(by_sort(roots, [SORT[type(t)] for t in trees])))
    return sum(found) / len(found)


def by_cdl(p):
    return mean(PACKED, lambda t, key: several(cdl.cata(*algs(p), key=key))[SORT[type(t)]](t))


def plain(p):
    return mean(TREES, lambda t, key: values(algs(p), t, SORT, key)[0])
"""
FORMS = ("fold", "annotate", "corpus", "bucket", "shard", "remat", "inherit", "inherit_values")


def text(form: str, family: Family, algebra: Algebra, order: tuple[int, ...], forward: bool) -> str:
    """The functions of a form, for algebras `ALGS` and trees `TREES`."""
    key = f"KEY = {'jr.key(3)' if algebra.keyed else None}"
    pack = "FOREST = cdl.pack(FAMILY, TREES)"
    if form in ("annotate", "inherit", "inherit_values"):
        pack += "\nROWS = [r for t in range(len(TREES)) for r in range(10**6)[FOREST.nodes(t)]]"
        pack += "\nKINDS = [SORT[type(n)] for t in TREES for n in every(t)]"
    if form == "corpus":
        pack = f"FOREST = cdl.Corpus(FAMILY, TREES)[{list(order)}]\nTREES = [TREES[i] for i in {list(order)}]"
    if form == "bucket":
        pack = "BUCKET = cdl.pack(FAMILY, TREES).bucket\nTREES = TREES[1:] or TREES\n"
        pack += "FOREST = cdl.pack(FAMILY, TREES, bucket=BUCKET)"
    pack += "\nPACKED = FOREST.trees()\nTREES = list(map(arrays, TREES))"
    params = '"algs": ALGS, "by": jnp.array(0.75)' if algebra.closed else '"algs": ALGS'
    options = ", how=cdl.compiled.Levels(forward=True)" if forward else ""
    match form:
        case "annotate":
            body = ANNOTATE.replace("{options}", options)
        case "shard":
            body = SHARD
        case "inherit" | "inherit_values":
            body = descents.steps(family, algebra) + descents.INHERIT.replace("{values}", str(form == "inherit_values"))
            params += ', "steps": STEPS, "tops": TOPS'
        case _:
            body = FOLD.replace("{options}", ', how=cdl.compiled.Levels(remat="all")' if form == "remat" else options)
    return "\n".join([key, pack, COMMON, body, f"PARAMS = {{{params}}}"])
