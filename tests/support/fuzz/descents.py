"""`inherit` beside `inherited`, as text, with the children's values (`inherit_values`) and without.

At each place a step hands something else down, which depends on what its node inherits, the payload and the child.
"""

from typing import Any

from . import cells
from .algebras import Algebra, constant
from .families import Family


INHERIT = """
def compiled(p):
    given = cdl.annotate(one(algs(p)), forest(p)) if {values} else None
    return at_nodes(several(cdl.inherit(one(p["steps"]), forest(p), one(p["tops"]), values=given)))


def of_root(p, t):
    s = SORT[type(TREES[t])]
    return jax.tree.map(lambda x: x[[SORT[type(t)] for t in TREES[:t]].count(s)], p["tops"][s])


def by_cdl(p):
    found = []
    for t in range(len(TREES)):
        s, given = SORT[type(TREES[t])], PACKED[t]
        if {values}:
            if len(ALGS) > 1:
                return plain(p)
            given = cdl.decorate(*algs(p))(given)
        tops = tuple(of_root(p, t) for _ in ALGS)
        found += heads(several(cdl.inherited(one(p["steps"]), one(tops)))[s](given))
    return by_sort(found, KINDS)


def heads(c):
    found = [c.head]
    layer(c.tail, lambda x: found.extend(heads(x)))
    return found


def plain(p):
    above = (lambda child: values(algs(p), child, SORT)[0]) if {values} else lambda child: ()
    found = [v for t in range(len(TREES)) for v in handed(p["steps"], tree(t, p), of_root(p, t), SORT, above)]
    return by_sort(found, KINDS)
"""


def steps(family: Family, algebra: Algebra) -> str:
    """From what a node inherits to what each child does: other weights at each place, and the payload."""
    lines = []
    for s in range(family.sorts):
        lines += [f"class Down{s}(eqx.Module):", "    w: Any", "    cell: Any", "", "    def __call__(self, h, layer):"]
        lines += ["        match layer:"]
        for c in family.of(s):
            payload = ", ".join(n for n, t in c.fields if t[0] == "data")
            lines += [f"            case {c.name}({', '.join(n for n, _ in c.fields)}):"]
            lines += [f"                e = number(({payload}{',' if payload else ''}))"]
            new = ", ".join(_handed(t, n, f"{c.name}.{n}") for n, t in c.fields)
            lines += [f"                return {c.name}({new})"]
    dtype = algebra.dtypes[0]
    names = [f"{c.name}.{n}" for c in family.constructors for n, _ in c.fields] or ["none"]
    made = [
        f'Down{s}(weights({algebra.seed + s}, {names}, "{dtype}"), {cells.text(algebra.one, 2)})'
        for s in range(family.sorts)
    ]
    tops = f"(jnp.arange(D * len(TREES)).reshape(-1, D) % 5 / 4).astype('{dtype}')"
    of = f"tuple({tops}[: sum(SORT[type(t)] == s for t in TREES)] for s in range({family.sorts}))"
    return "\n".join(lines) + f"\n\nSTEPS = ({', '.join(made)},)\nTOPS = {of}\n"


def _handed(term: Any, x: str, place: str, depth: int = 0) -> str:
    """A field of the layer that goes down."""
    again = lambda t, y, more: _handed(t, y, place, depth * 4 + more + 1)
    match term:
        case ("data", _):
            return x
        case ("maybe", of):
            return f"(None if {x} is None else {again(of, x, 0)})"
        case ("pair", parts):
            return f"({''.join(again(t, f'{x}[{i}]', i) + ', ' for i, t in enumerate(parts))})"
        case ("list", of):
            return f"tuple({again(of, f'y{depth}', 0)} for y{depth} in {x})"
        case ("many", sort):
            return f"{x}.map(lambda y: {again(('x', sort), 'y', 0)})"
    w, k = f"self.w['{place}']", constant(place) % 3 + depth
    type_ = f".astype({w}.dtype)"
    return f"self.cell({w}[0] * h + {w}[1] * (e + {k} * number({x})){type_}){type_}"
